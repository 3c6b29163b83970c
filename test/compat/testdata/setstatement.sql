-- SET STATEMENT ... FOR, of MariaDB.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three');
-- only: mariadb
SET STATEMENT max_statement_time = 60 FOR SELECT * FROM t ORDER BY id;
-- only: mariadb
SET STATEMENT group_concat_max_len = 4, sort_buffer_size = 32768 FOR SELECT GROUP_CONCAT(v ORDER BY id) FROM t;
-- only: mariadb
SELECT GROUP_CONCAT(v ORDER BY id), @@group_concat_max_len FROM t;
-- only: mariadb
SET STATEMENT sql_mode = '' FOR INSERT INTO t VALUES (4, 'much too long a value');
-- only: mariadb
INSERT INTO t VALUES (5, 'much too long a value');
-- only: mariadb
SET STATEMENT timestamp = 1000000000, time_zone = '+00:00' FOR SELECT NOW(), id FROM t WHERE id < 3 ORDER BY id;
-- only: mariadb
SELECT NOW() > '2020-01-01';
-- only: mariadb
SET STATEMENT nosuch = 1 FOR SELECT 1;
-- only: mariadb
SET STATEMENT autocommit = 0 FOR SELECT 1;
-- only: mariadb
SET STATEMENT sort_buffer_size = 32768 FOR SELECT nosuch FROM t;
-- only: mariadb
SET STATEMENT group_concat_max_len = 5 FOR SELECT @x := @@group_concat_max_len;
-- only: mariadb
SELECT @x, @@group_concat_max_len;
-- only: mariadb
SET STATEMENT sort_buffer_size = 32768;
-- In prepared statements.
-- only: mariadb
-- args: [1]
SET STATEMENT sql_select_limit = 1 FOR SELECT * FROM t WHERE id > ? ORDER BY id;
-- only: mariadb
-- args: [2, "two"]
SET STATEMENT max_statement_time = 60, sql_select_limit = 7 FOR SELECT id + 0.5, v, ? FROM t WHERE v <> ? ORDER BY id;
-- only: mariadb
-- args: [6, "much too long a value"]
SET STATEMENT sql_mode = '' FOR INSERT INTO t VALUES (?, ?);
-- only: mariadb
-- args: [6]
SET STATEMENT sql_mode = '' FOR DELETE FROM t WHERE id = ?;
-- only: mariadb
PREPARE limited FROM 'SET STATEMENT sql_select_limit = 2 FOR SELECT * FROM t WHERE id > ? ORDER BY id';
SET @from = 1;
-- only: mariadb
EXECUTE limited USING @from;
-- only: mariadb
EXECUTE limited USING 0;
-- only: mariadb
SELECT @@sql_select_limit > 2;
-- only: mariadb
DEALLOCATE PREPARE limited;
-- only: mariadb
EXECUTE IMMEDIATE 'SET STATEMENT sql_select_limit = 1 FOR SELECT v FROM t ORDER BY id';
-- only: mariadb
EXECUTE IMMEDIATE 'SET STATEMENT sql_select_limit = ? FOR SELECT v FROM t ORDER BY id' USING 1;
-- only: mariadb
PREPARE wrong FROM 'SET STATEMENT sql_select_limit = 1 FOR SELECT nosuch FROM t';
-- only: mariadb
PREPARE wrong FROM 'SET STATEMENT nosuch = 1 FOR SELECT 1';
-- only: mariadb
PREPARE wrong FROM 'SET STATEMENT sql_select_limit = 1';
-- only: mariadb
PREPARE wrong FROM 'SET STATEMENT sql_select_limit = 1 FOR EXECUTE limited';
BEGIN;
INSERT INTO t VALUES (7, 'seven');
-- only: mariadb
SET STATEMENT group_concat_max_len = 6 FOR UPDATE t SET v = (SELECT GROUP_CONCAT(id) FROM (SELECT id FROM t) AS d WHERE id < 8) WHERE id = 7;
-- only: mariadb
SELECT v FROM t WHERE id = 7;
ROLLBACK;
SELECT * FROM t ORDER BY id;
-- only: mariadb
-- refused: another way of reading the text
-- skip-prepared
SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT "id" FROM t;
-- only: mariadb
-- refused: what changes the session itself
-- skip-prepared
SET STATEMENT sort_buffer_size = 32768 FOR SET @y = 1;
-- only: mariadb
SELECT @@sql_mode LIKE '%ANSI_QUOTES%';

-- A program, and blocks, behind SET STATEMENT and in programs.
-- only: mariadb
CREATE PROCEDURE sequel() BEGIN NOT ATOMIC IF 1 THEN SELECT 1; END IF; BEGIN NOT ATOMIC SELECT 2; END; END;
-- only: mariadb
CALL sequel();
-- only: mariadb
SET STATEMENT sql_mode = '' FOR CREATE PROCEDURE made() BEGIN SET @made = 'a'; SET @b = CONCAT(@made, 1); END;
-- only: mariadb
CALL made();
-- only: mariadb
SELECT @made, @b;
-- refused: set the variable for the session instead
SET STATEMENT last_insert_id = 44 FOR SELECT LAST_INSERT_ID();
SELECT LAST_INSERT_ID() IN (44);
