-- SET STATEMENT ... FOR, of MariaDB.
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three');
-- only: mariadb
-- skip-prepared
SET STATEMENT max_statement_time = 60 FOR SELECT * FROM t ORDER BY id;
-- only: mariadb
-- skip-prepared
SET STATEMENT group_concat_max_len = 4, sort_buffer_size = 32768 FOR SELECT GROUP_CONCAT(v ORDER BY id) FROM t;
-- only: mariadb
-- skip-prepared
SELECT GROUP_CONCAT(v ORDER BY id), @@group_concat_max_len FROM t;
-- only: mariadb
-- skip-prepared
SET STATEMENT sql_mode = '' FOR INSERT INTO t VALUES (4, 'much too long a value');
-- only: mariadb
-- skip-prepared
INSERT INTO t VALUES (5, 'much too long a value');
-- only: mariadb
-- skip-prepared
SET STATEMENT timestamp = 1000000000, time_zone = '+00:00' FOR SELECT NOW(), id FROM t WHERE id < 3 ORDER BY id;
-- only: mariadb
-- skip-prepared
SELECT NOW() > '2020-01-01';
-- only: mariadb
-- skip-prepared
SET STATEMENT nosuch = 1 FOR SELECT 1;
-- only: mariadb
-- skip-prepared
SET STATEMENT autocommit = 0 FOR SELECT 1;
-- only: mariadb
-- skip-prepared
SET STATEMENT sort_buffer_size = 32768 FOR SELECT nosuch FROM t;
-- only: mariadb
-- skip-prepared
SET STATEMENT group_concat_max_len = 5 FOR SELECT @x := @@group_concat_max_len;
-- only: mariadb
-- skip-prepared
SELECT @x, @@group_concat_max_len;
-- only: mariadb
-- skip-prepared
SET STATEMENT sort_buffer_size = 32768;
BEGIN;
INSERT INTO t VALUES (7, 'seven');
-- only: mariadb
-- skip-prepared
SET STATEMENT group_concat_max_len = 6 FOR UPDATE t SET v = (SELECT GROUP_CONCAT(id) FROM (SELECT id FROM t) AS d WHERE id < 8) WHERE id = 7;
-- only: mariadb
-- skip-prepared
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
-- skip-prepared
SELECT @@sql_mode LIKE '%ANSI_QUOTES%';

-- A program, and blocks, behind SET STATEMENT and in programs.
-- only: mariadb
CREATE PROCEDURE sequel() BEGIN NOT ATOMIC IF 1 THEN SELECT 1; END IF; BEGIN NOT ATOMIC SELECT 2; END; END;
-- only: mariadb
CALL sequel();
-- only: mariadb
-- skip-prepared
SET STATEMENT sql_mode = '' FOR CREATE PROCEDURE made() BEGIN SET @made = 'a'; SET @b = CONCAT(@made, 1); END;
-- only: mariadb
-- skip-prepared
CALL made();
-- only: mariadb
-- skip-prepared
SELECT @made, @b;
-- refused: set the variable for the session instead
SET STATEMENT last_insert_id = 44 FOR SELECT LAST_INSERT_ID();
SELECT LAST_INSERT_ID() IN (44);
