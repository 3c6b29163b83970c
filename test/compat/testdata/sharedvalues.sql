-- What SET, DO and programs compute from tables within a transaction is read with locks.
CREATE TABLE sv_rows (id INT PRIMARY KEY, v INT, s VARCHAR(10));
INSERT INTO sv_rows VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, NULL), (5, 50, 'e'), (6, 60, 'union');
CREATE TABLE sv_copy (id INT PRIMARY KEY, v INT) COMMENT 'skarv:reference';
INSERT INTO sv_copy VALUES (1, 1), (2, 2);
CREATE TABLE sv_one (id INT PRIMARY KEY, v INT) COMMENT 'skarv:single';
INSERT INTO sv_one VALUES (1, 1), (2, 2);
CREATE VIEW sv_view AS SELECT id, v * 2 AS w FROM sv_rows WHERE id < 5;
CREATE TEMPORARY TABLE sv_temp (id INT PRIMARY KEY, v INT);
INSERT INTO sv_temp VALUES (1, 1), (7, 7);
START TRANSACTION READ ONLY;
SET @x = (SELECT MAX(v) FROM sv_temp);
SET @y = (SELECT COUNT(*) FROM sv_temp t JOIN sv_rows r ON r.id = t.id);
SELECT @x, @y;
SET @x = (SELECT SUM(v) FROM sv_copy), @y = (SELECT SUM(v) FROM sv_one), @z = (SELECT SUM(r.v) FROM sv_rows r JOIN sv_copy c ON c.id = r.id JOIN sv_one o ON o.id = r.id);
SELECT @x, @y, @z;
COMMIT;
SET autocommit = 0;
SET @x = (WITH q AS (SELECT MAX(v) AS m FROM sv_rows) SELECT m + 1 FROM q), @y = (SELECT s FROM sv_rows WHERE id = 6 LIMIT 1), @z = (SELECT v FROM sv_rows WHERE id = 77);
SELECT @x, @y, @z IS NULL;
SET @x = (SELECT MAX(w) FROM sv_view), @y = 1 + (SELECT COUNT(*) FROM sv_view v JOIN sv_rows r ON v.w = r.v), @z = (SELECT w FROM sv_view WHERE id = 3);
SELECT @x, @y, @z;
SET @x = (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'sv_rows');
SELECT @x;
SET @x = (SELECT GROUP_CONCAT(s ORDER BY id DESC SEPARATOR '(') FROM sv_rows WHERE (id, v) IN (SELECT id, v FROM sv_rows WHERE EXISTS (SELECT 1 FROM sv_copy WHERE sv_copy.id < 2)));
SELECT @x;
SET @x = EXISTS (SELECT `from` FROM (SELECT v AS `from` FROM sv_rows WHERE id > 5) `select`), @y = (SELECT EXTRACT(YEAR FROM '2020-01-01') + TRIM(LEADING '0' FROM '010') + COUNT(*) FROM sv_rows FOR UPDATE);
SELECT @x, @y;
SET @x = (SELECT v FROM sv_rows);
SET @x = (SELECT nothing FROM sv_rows);
-- refused: within a transaction
SET @x = (SELECT MAX(v) FROM sv_rows UNION SELECT MAX(v) FROM sv_rows);
SET @x = (SELECT 1 UNION SELECT 1);
SELECT @x;
DO (SELECT MAX(v) FROM sv_rows), (SELECT v FROM sv_rows WHERE id = 1);
ROLLBACK;
SET autocommit = 1;
SET @x = (SELECT MAX(v) FROM sv_rows UNION SELECT MAX(v) FROM sv_rows);
SELECT @x;
-- skip-prepared
CREATE PROCEDURE sv_program(n INT, OUT r TEXT) BEGIN DECLARE x INT DEFAULT (SELECT MAX(v) FROM sv_rows); DECLARE s TEXT DEFAULT ''; START TRANSACTION; IF n IN (SELECT id FROM sv_rows) AND (SELECT COUNT(*) FROM sv_view) > 3 THEN SET s = CONCAT(s, 'if '); END IF; WHILE x > (SELECT MIN(v) + 30 FROM sv_rows) DO SET x = x - 10, s = CONCAT(s, x, ' '); END WHILE; CASE (SELECT v FROM sv_rows WHERE id = n) WHEN 30 THEN SET s = CONCAT(s, 'thirty'); ELSE SET s = CONCAT(s, 'other'); END CASE; REPEAT SET x = x + 1; UNTIL NOT EXISTS (SELECT * FROM sv_rows r JOIN sv_temp t ON t.id = r.id WHERE r.v > x) END REPEAT; SET r = CONCAT(s, ' ', x, ' ', COALESCE((SELECT MAX(w) FROM sv_view WHERE id < n), 'none')); COMMIT; END;
CALL sv_program(3, @r);
SELECT @r;
CALL sv_program((SELECT COUNT(*) - 4 FROM sv_rows), @r);
SELECT @r;
CALL sv_program(9, @r);
SELECT @r;
-- skip-prepared
DROP PROCEDURE sv_program;
DROP TEMPORARY TABLE sv_temp;
DROP VIEW sv_view;
DROP TABLE sv_rows, sv_copy, sv_one;
-- What needs no lock, and what cannot be locked.
CREATE TABLE shmin (id INT PRIMARY KEY, minus INT, j JSON);
INSERT INTO shmin VALUES (1, 10, '[1, 2]'), (2, 20, '[3]'), (3, 30, '[]'), (4, 40, '[4]');
SET autocommit = 0;
SET @x = (SELECT minus FROM shmin WHERE id = 3), @y = (WITH RECURSIVE c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT SUM(n) FROM c);
SELECT @x, @y;
-- only: mysql
-- refused: such a query in the value of a SET
SET @z = (SELECT SUM(j.x) FROM shmin, JSON_TABLE(shmin.j, '$[*]' COLUMNS (x INT PATH '$')) j);
SET @z = (SELECT SUM(j.x) FROM JSON_TABLE('[1, 2, 3]', '$[*]' COLUMNS (x INT PATH '$')) j);
SELECT @z;
-- refused: CREATE TEMPORARY TABLE ... SELECT with invisible columns, or generated
CREATE TEMPORARY TABLE shmin (k INT, g INT AS (minus * 2) VIRTUAL) SELECT id, minus FROM shmin;
SET autocommit = 1;
DROP TABLE shmin;
