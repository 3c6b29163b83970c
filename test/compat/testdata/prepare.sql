CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n DECIMAL(10,2), f DOUBLE);
PREPARE ins FROM 'INSERT INTO t VALUES (?, ?, ?, ?)';
SET @id = 1, @v = 'one', @n = 1.50, @f = 1e0;
EXECUTE ins USING @id, @v, @n, @f;
SET @id = 2, @v = NULL, @n = CAST(7 AS UNSIGNED), @f = -2.25e10;
EXECUTE ins USING @id, @v, @n, @f;
SET @id = 3, @v = _latin1'caf\xe9', @n = '12.345', @f = @n;
EXECUTE ins USING @id, @v, @n, @f;
SET @id = 2;
EXECUTE ins USING @id, @v, @n, @f;
EXECUTE ins USING @id, @v;
EXECUTE ins;
SELECT * FROM t ORDER BY id;
PREPARE one FROM 'SELECT v, n, ? AS p, ? + 1, ? FROM t WHERE id = ?';
SELECT * FROM t;
SET @txt = 'SELECT id, v FROM t WHERE id > ? ORDER BY id LIMIT ?', @lim = 1, @from = 1;
PREPARE many FROM @txt;
EXECUTE many USING @from, @lim;
SET @lim = 10;
EXECUTE many USING @from, @lim;
EXECUTE MANY USING @from, @lim;
PREPARE agg FROM 'SELECT COUNT(*), SUM(n), MAX(v), ? AS x FROM t WHERE id >= ?';
EXECUTE agg USING @from, @from;
PREPARE agg FROM 'SELECT COUNT(*), SUM(n), MAX(v), ? AS x FROM t WHERE id >= ?';
-- only: mysql
EXECUTE agg USING @txt, @nothing;
PREPARE agg FROM 'SELECT COUNT(*), SUM(n), MAX(v), ? AS x FROM t WHERE id >= ?';
PREPARE cnt FROM 'SELECT COUNT(*) FROM t';
EXECUTE cnt;
PREPARE upd FROM 'UPDATE t SET n = n + ? WHERE id IN (?, ?)';
SET @a = 1, @b = 3;
EXECUTE upd USING @a, @a, @b;
SELECT ROW_COUNT();
EXECUTE agg USING @from, @from;
PREPARE bad FROM 'SELEC 1';
PREPARE bad FROM 'SELECT * FROM nothing';
EXECUTE bad;
PREPARE many FROM 'SELECT nothing FROM t';
EXECUTE many USING @a;
DEALLOCATE PREPARE many;
PREPARE nul FROM @nothing;
PREPARE two FROM 'SELECT 1; SELECT 2';
PREPARE pre FROM 'PREPARE x FROM "SELECT 1"';
PREPARE pre FROM 'EXECUTE cnt';
DEALLOCATE PREPARE cnt;
EXECUTE cnt;
DROP PREPARE upd;
DROP PREPARE upd;
PREPARE s FROM 'SET @x = ?, @y = @x + 1';
EXECUTE s USING @b;
SELECT @x, @y;
PREPARE s FROM 'SELECT @z := ? + id FROM t WHERE id = 1';
EXECUTE s USING @b;
SELECT @z;
PREPARE s FROM 'CREATE TABLE p (id INT PRIMARY KEY, d DATE)';
EXECUTE s;
PREPARE s FROM 'INSERT INTO p VALUES (?, ?)';
SET @d = DATE'2026-01-31';
EXECUTE s USING @a, @d;
PREPARE s FROM 'SELECT id, d, d = ? FROM p WHERE id = ?';
EXECUTE s USING @d, @a;
PREPARE s FROM 'DELETE FROM p WHERE id = ?';
BEGIN;
EXECUTE s USING @a;
SELECT COUNT(*) FROM p;
ROLLBACK;
SELECT COUNT(*) FROM p;
PREPARE s FROM 'COMMIT';
EXECUTE s;
PREPARE `my name` FROM 'SELECT \'it''s\', "q" AS q';
PREPARE p1 FROM 'SELECT CONNECTION_ID() = ?, LAST_INSERT_ID(), ROW_COUNT()';
PREPARE p2 FROM 'SELECT t.v, p.d FROM t JOIN p ON t.id = p.id WHERE t.id <> ?';
EXECUTE p2 USING @b;
-- only: mariadb
EXECUTE IMMEDIATE 'SELECT * FROM t ORDER BY id';
-- only: mariadb
EXECUTE IMMEDIATE CONCAT('SELECT COUNT(*) FROM t', ' WHERE id > ?') USING @a;
-- only: mariadb
EXECUTE IMMEDIATE 'SELECT v, ? FROM t WHERE id = ?' USING 'x', 1;
-- only: mariadb
EXECUTE ins USING 10, 'ten', 10.5, NULL;
-- only: mariadb
PREPARE e FROM CONCAT('SELECT ', 1 + 1);
-- only: mariadb
SELECT * FROM t WHERE id = 10;
-- only: mysql
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT 1';
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
PREPARE s FROM 'SELECT ''a\b'', ? AS x';
EXECUTE s USING @v;
SET sql_mode = DEFAULT;
-- sent: status, the sql_mode of the session, not of what runs
EXECUTE s USING @v;
CREATE DATABASE IF NOT EXISTS compat_other;
PREPARE s FROM 'SELECT DATABASE(), COUNT(*) FROM t WHERE id < ?';
USE compat_other;
EXECUTE s USING @lim;
SELECT DATABASE();
USE compat;
DROP DATABASE compat_other;
PREPARE s FROM 'SELECT NOW() - INTERVAL ? DAY > 0, UPPER(?)';
EXECUTE s USING @a, @v;
PREPARE s FROM 'SHOW TABLES LIKE "t"';
PREPARE w FROM 'SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) r, ? AS p FROM t ORDER BY id';
PREPARE kept FROM 'SELECT 1';
-- skip-prepared
PREPARE kept FROM 1+;
EXECUTE kept;
-- skip-prepared
PREPARE kept FROM 'SELECT 2' x;
EXECUTE kept;
-- skip-prepared
PREPARE kept FROM 'SELECT 2', 'SELECT 3';
EXECUTE kept;
-- skip-prepared
PREPARE kept FROM;
-- skip-prepared
PREPARE kept;
EXECUTE kept;
-- skip-prepared
PREPARE kept FROM _latin1'SELECT 3';
EXECUTE kept;
-- skip-prepared
PREPARE kept FROM 'SELECT' ' 4';
EXECUTE kept;
-- skip-prepared
PREPARE kept FROM CONCAT('SELECT ', 5);
EXECUTE kept;
PREPARE kept FROM @nosuch;
EXECUTE kept;
PREPARE kept FROM 'SELECT 6';
SET @number = 7;
PREPARE kept FROM @number;
EXECUTE kept;
-- A statement that is being run can neither run itself, nor be prepared or taken away by what it runs.
-- skip-prepared
CREATE PROCEDURE again(what INT) BEGIN IF what = 1 THEN EXECUTE self; ELSEIF what = 2 THEN PREPARE self FROM 'SELECT 2'; ELSEIF what = 3 THEN DEALLOCATE PREPARE self; ELSEIF what = 4 THEN PREPARE self FROM 'nonsense'; ELSE SELECT what; END IF; END;
-- skip-prepared
CREATE PROCEDURE handled() BEGIN DECLARE n INT; DECLARE CONTINUE HANDLER FOR 1444 SET n = 1444; EXECUTE self; SELECT n; END;
PREPARE self FROM 'CALL again(?)';
SET @self = 1;
EXECUTE self USING @self;
SET @self = 2;
EXECUTE self USING @self;
SET @self = 3;
EXECUTE self USING @self;
SET @self = 4;
EXECUTE self USING @self;
SET @self = 5;
EXECUTE self USING @self;
CALL again(5);
CALL again(2);
EXECUTE self;
PREPARE self FROM 'CALL handled()';
EXECUTE self;
CALL handled();
PREPARE other FROM 'EXECUTE self';
-- skip-prepared
DROP PROCEDURE again;
-- skip-prepared
DROP PROCEDURE handled;
-- Strings of a statement are what they were when it was prepared; how strict it is, is said where it runs.
CREATE TABLE read_once (id INT PRIMARY KEY, s VARCHAR(3));
SET sql_mode = '';
-- skip-prepared
PREPARE once FROM 'INSERT INTO read_once VALUES (1, ''toolong'')';
SET sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES';
-- skip-prepared
EXECUTE once;
SELECT * FROM read_once;
-- skip-prepared
PREPARE once FROM 'INSERT INTO "read_once" VALUES (2, ''toolong'')';
SET sql_mode = '';
-- skip-prepared
EXECUTE once;
SELECT * FROM read_once;
SET sql_mode = DEFAULT;
-- skip-prepared
PREPARE once FROM 'SELECT ''a'' = ''A'' AS same';
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
-- skip-prepared
-- refused: executing a statement with strings that was prepared with another character set
EXECUTE once;
SET NAMES utf8mb4;
-- The clock, and LAST_INSERT_ID() beside LAST_INSERT_ID(expr).
SET timestamp = 1000000000, @clock = 0;
SELECT UNIX_TIMESTAMP(NOW()), @clock;
SET timestamp = 0 + 1000000001;
SELECT UNIX_TIMESTAMP(NOW());
SET @clock = 0;
SET timestamp = @clock;
SELECT UNIX_TIMESTAMP(NOW()) > 1700000000;
SET timestamp = 1000000000;
SET timestamp = DEFAULT, @clock = 1000000000;
SELECT UNIX_TIMESTAMP(NOW()) > 1700000000;
-- refused: LAST_INSERT_ID() beside LAST_INSERT_ID(expression)
SELECT LAST_INSERT_ID(7), LAST_INSERT_ID();
-- refused: SET rand_seed1
SET rand_seed1 = 5, rand_seed2 = 6;
