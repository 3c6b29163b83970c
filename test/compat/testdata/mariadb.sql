-- story: mariadb
-- What only MariaDB has, where nothing else speaks of it.

-- RENAME TABLE IF EXISTS leaves out what is not there; a name given before in the statement counts.
CREATE TABLE a (id INT PRIMARY KEY, x INT);
INSERT INTO a VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE b (id INT PRIMARY KEY);
CREATE VIEW v AS SELECT id FROM b;
RENAME TABLE IF EXISTS nope TO n, a TO c;
SHOW WARNINGS;
SELECT * FROM c ORDER BY id;
RENAME TABLE IF EXISTS nope TO n;
RENAME TABLE IF EXISTS nope TO b;
RENAME TABLE IF EXISTS nope TO n, nope WAIT 5 TO n;
RENAME TABLE IF EXISTS nope TO n, c TO b;
RENAME TABLE IF EXISTS nope TO n, c TO nope, nope NOWAIT TO d;
RENAME TABLE IF EXISTS v TO w, d TO tmp, b TO d, tmp TO b;
SHOW TABLES;
SELECT * FROM b ORDER BY id;
RENAME TABLE nope TO n;
DROP VIEW w;
DROP TABLE b, d;

-- refused: it would make a table with a period
ALTER TABLE nope ADD PERIOD IF NOT EXISTS FOR p (s, e);

-- sql_mode ORACLE: statements are one server's; programs have a language of their own.
CREATE TABLE t (id INT PRIMARY KEY, a INT, s VARCHAR(20));
CREATE TABLE u (id INT PRIMARY KEY, s VARCHAR(20), UNIQUE (s));
SET sql_mode = ORACLE;
INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, NULL), (5, NULL, ''), (6, 6, 'f');
REPLACE INTO t VALUES (6, 7, 'g'), (7, 7, 'h');
UPDATE t SET a = a + 10;
UPDATE t SET id = id + 100 WHERE id > 5;
DELETE FROM t WHERE a = 17 AND id = 107;
INSERT INTO u VALUES (1, 'a'), (2, 'b');
INSERT INTO u VALUES (3, 'a');
INSERT INTO u SELECT id + 10, s || id FROM t WHERE id < 3;
INSERT INTO u SELECT id + 20, CONCAT(s, id, s) FROM t WHERE id < 3;
SELECT * FROM u ORDER BY id;
SELECT id, a || s, 'x' || NULL || 'y', DECODE(a, 11, 'eleven', 'other') FROM t ORDER BY id;
SELECT s || 'q' AS q, COUNT(*) FROM t GROUP BY q ORDER BY q;
SELECT id FROM t WHERE ROWNUM <= 2 ORDER BY id;
SELECT COUNT(*) FROM t WHERE ROWNUM < 3;
SELECT ROWNUM, id FROM t WHERE id = 3;
SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE rownum < 3) ORDER BY id;
START TRANSACTION;
INSERT INTO t VALUES (20, 1, 'x'), (21, 1, 'y'), (22, 1, 'z');
ROLLBACK;
SELECT COUNT(*) FROM t;
SET autocommit = 0;
UPDATE t SET a = 0;
ROLLBACK;
SET autocommit = 1;
SELECT SUM(a) FROM t;
BEGIN;
SET sql_mode = DEFAULT;
BEGIN;
SET sql_mode = ORACLE;
UPDATE t SET a = 0;
ROLLBACK;
SELECT SUM(a) FROM t;
-- refused: a block
BEGIN SELECT 1; END;
-- refused: a block
DECLARE c CURSOR FOR SELECT 1; BEGIN OPEN c; END;
-- refused: a program
CREATE PROCEDURE p1 (x INT, y OUT INT) AS z INT := 5; BEGIN y := x + z; END;
-- refused: a program
CREATE FUNCTION f1 (x INT) RETURN INT DETERMINISTIC AS BEGIN RETURN x * 2; END;
-- refused: a program
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW DECLARE q INT; BEGIN q := 5; :NEW.a := q; END;
CREATE SEQUENCE sq;
SELECT NEXTVAL(sq);
-- refused: the form
SELECT sq.NEXTVAL;
-- refused: the form
INSERT INTO t (id) VALUES (sq.nextval + 1000), (sq.currval + 2000);
DROP SEQUENCE sq;
SET sql_mode = DEFAULT;
DROP TABLE t, u;

-- '' is NULL, also in a UNIQUE key over several node groups.
SET sql_mode = 'STRICT_TRANS_TABLES,EMPTY_STRING_IS_NULL';
CREATE TABLE es (id INT PRIMARY KEY, u VARCHAR(10), UNIQUE (u));
INSERT INTO es VALUES (1, ''), (2, ''), (3, 'a');
INSERT INTO es VALUES (4, 'a');
-- args: [5, ""]
INSERT INTO es VALUES (?, ?);
UPDATE es SET u = '' WHERE id = 3;
INSERT INTO es VALUES (6, 'a');
INSERT INTO es VALUES (6, 'b') ON DUPLICATE KEY UPDATE u = '';
INSERT INTO es VALUES (7, 'a');
SELECT * FROM es ORDER BY id;
SELECT id FROM es WHERE u = '';
CREATE TABLE ep (u VARCHAR(10) PRIMARY KEY, x INT);
INSERT INTO ep VALUES ('', 1);
SET sql_mode = DEFAULT;
INSERT INTO es VALUES (8, ''), (9, 'b');
SELECT * FROM es ORDER BY id;
DROP TABLE es, ep;

-- Columns of RETURNING have the names that they were written with.
CREATE TABLE ai (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10));
INSERT INTO ai (s) VALUES ('a') RETURNING id, LAST_INSERT_ID() > 0 OR 1, s;
DELETE FROM ai WHERE LAST_INSERT_ID() > 0 RETURNING id, DATABASE(), LAST_INSERT_ID() * 0 + 1, USER() IS NULL AS nobody;
DROP TABLE ai;
-- ROWNUM() numbers the rows of one server.
CREATE TABLE rownumbers (id INT PRIMARY KEY, n INT);
INSERT INTO rownumbers VALUES (1, 1), (2, 2), (3, 3);
-- refused: ROWNUM(); use ROW_NUMBER()
SELECT ROWNUM(), id FROM rownumbers;
-- refused: ROWNUM(); use ROW_NUMBER()
UPDATE rownumbers SET n = 5 WHERE ROWNUM() = 1;
-- refused: ROWNUM(); use ROW_NUMBER()
DELETE FROM rownumbers WHERE ROWNUM() = 1;
-- refused: ROWNUM(); use ROW_NUMBER()
INSERT INTO rownumbers VALUES (10, ROWNUM()), (11, ROWNUM());
-- refused: ROWNUM(); use ROW_NUMBER()
INSERT INTO rownumbers SELECT id + 20, ROWNUM() FROM rownumbers;
-- refused: ROWNUM(); use ROW_NUMBER()
INSERT INTO rownumbers VALUES (1, 0) ON DUPLICATE KEY UPDATE n = ROWNUM() + 100;
SELECT * FROM rownumbers ORDER BY id;
-- Rows by the words of standard SQL.
-- only: mariadb
CREATE TABLE fetched (id INT PRIMARY KEY, n INT);
-- only: mariadb
INSERT INTO fetched VALUES (1, 5), (2, 4), (3, 4), (4, 3), (5, 3), (6, 1), (7, NULL);
-- only: mariadb
SELECT id FROM fetched ORDER BY id OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY;
-- only: mariadb
SELECT id, n FROM fetched ORDER BY n DESC, id OFFSET 1 ROW FETCH NEXT 1 ROW ONLY;
-- only: mariadb
SELECT n, COUNT(*) FROM fetched GROUP BY n ORDER BY n FETCH NEXT 2 ROWS ONLY;
-- only: mariadb
SELECT n FROM fetched ORDER BY n DESC FETCH FIRST 2 ROWS WITH TIES;
-- only: mariadb
SELECT id FROM fetched ORDER BY id OFFSET 5 ROWS;

-- ALTER TABLE IF EXISTS of what is not there warns of an error.
ALTER TABLE IF EXISTS nothing_ ADD COLUMN x INT;
SHOW WARNINGS;
ALTER TABLE IF EXISTS nothing_ DROP FOREIGN KEY IF EXISTS f, RENAME TO nothing_2;
SHOW WARNINGS;
