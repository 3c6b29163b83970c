-- UPDATE and DELETE that no single node group can answer.
CREATE TABLE m (id INT PRIMARY KEY, a INT, b VARCHAR(20), c DECIMAL(10,2) DEFAULT 1.5);
CREATE TABLE n (id INT PRIMARY KEY, mid INT, v VARCHAR(20));
INSERT INTO m (id, a, b) VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, 40, 'four'), (5, 50, 'five'), (6, 60, NULL), (7, NULL, 'seven'), (8, 80, 'eight');
INSERT INTO n VALUES (1, 2, 'x'), (2, 3, 'y'), (3, 3, 'z'), (4, 9, 'w'), (5, NULL, 'u');
-- ORDER BY and LIMIT
UPDATE m SET b = CONCAT(b, '!') ORDER BY a DESC, id LIMIT 3;
SELECT * FROM m ORDER BY id;
UPDATE m SET a = a + 1 WHERE id > 2 ORDER BY id LIMIT 2;
UPDATE m SET a = a WHERE id > 2 ORDER BY id LIMIT 2;
UPDATE m SET a = a + 1 LIMIT 0;
UPDATE m SET a = a + 1 WHERE id > 100 ORDER BY id LIMIT 5;
DELETE FROM m WHERE a > 10 ORDER BY a LIMIT 1;
DELETE FROM m ORDER BY id DESC LIMIT 2;
SELECT * FROM m ORDER BY id;
-- left to right
UPDATE m SET a = a + 1, c = a * 2 ORDER BY id LIMIT 2;
SELECT * FROM m ORDER BY id;
-- only: mysql
-- refused: MySQL may join the table with the subquery, and then reads the old value
UPDATE m SET a = 7, c = a WHERE EXISTS (SELECT 1 FROM n WHERE n.mid = m.id);
UPDATE m SET c = a, a = a - 1 WHERE EXISTS (SELECT 1 FROM n WHERE n.mid = m.id);
SELECT * FROM m ORDER BY id;
-- only: mariadb
UPDATE m SET a = a + 1, c = a WHERE EXISTS (SELECT 1 FROM n WHERE n.mid = m.id);
SELECT * FROM m ORDER BY id;
-- only: mariadb
-- refused: MariaDB runs it as an UPDATE of several tables, and then reads the old value
UPDATE m SET a = 7, c = a WHERE a NOT IN (SELECT x.id FROM m x);
-- only: mariadb
UPDATE m SET c = a, a = a - 1 WHERE a NOT IN (SELECT x.id FROM m x);
SELECT * FROM m ORDER BY id;
-- subqueries
UPDATE m SET b = (SELECT MAX(v) FROM n WHERE n.mid = m.id) WHERE id IN (SELECT mid FROM n);
SELECT * FROM m ORDER BY id;
UPDATE m SET a = (SELECT COUNT(*) FROM n) WHERE a > (SELECT AVG(mid) FROM n);
DELETE FROM n WHERE mid NOT IN (SELECT id FROM m);
SELECT * FROM n ORDER BY id;
UPDATE m SET a = (SELECT id FROM n) WHERE id = 3;
UPDATE m SET a = (SELECT MAX(a) FROM m);
-- joins
UPDATE m JOIN n ON n.mid = m.id SET m.b = n.v, n.v = m.b WHERE n.id = 2;
SELECT * FROM m ORDER BY id;
SELECT * FROM n ORDER BY id;
UPDATE m LEFT JOIN n ON n.mid = m.id SET m.a = -1 WHERE n.id IS NULL;
SELECT * FROM m ORDER BY id;
UPDATE m, (SELECT mid, COUNT(*) AS k FROM n GROUP BY mid) d SET m.a = d.k WHERE d.mid = m.id;
SELECT * FROM m ORDER BY id;
INSERT INTO n VALUES (10, 4, 'p'), (11, 4, 'q'), (12, 5, 'r');
DELETE n FROM m JOIN n ON n.mid = m.id WHERE m.id = 4;
DELETE m, n FROM m JOIN n ON n.mid = m.id WHERE m.id = 5;
DELETE FROM n USING m JOIN n ON n.mid = m.id WHERE m.id = 3;
SELECT * FROM m ORDER BY id;
SELECT * FROM n ORDER BY id;
-- only: mysql
WITH big AS (SELECT id FROM m WHERE a < 100) UPDATE m SET c = 9.99 WHERE id IN (SELECT id FROM big);
-- only: mysql
WITH big AS (SELECT MAX(id) AS k FROM m) DELETE FROM n WHERE id > (SELECT k FROM big);
SELECT * FROM m ORDER BY id;
-- the distribution key
UPDATE m SET id = id + 100 WHERE id = 1;
UPDATE m SET id = id + 1;
UPDATE m SET id = id + 1 ORDER BY id DESC;
SELECT * FROM m ORDER BY id;
UPDATE m SET id = 102 WHERE id < 102 ORDER BY id LIMIT 1;
UPDATE m SET id = 5;
SELECT * FROM m ORDER BY id;
TRUNCATE TABLE m;
INSERT INTO m (id, a) VALUES (1, 1), (2, 2), (3, 3), (4, 4);
UPDATE IGNORE m SET id = 3 WHERE id IN (1, 4) ORDER BY id LIMIT 5;
SELECT * FROM m ORDER BY id;
UPDATE IGNORE m SET id = id + 1 ORDER BY id;
SELECT * FROM m ORDER BY id;
-- errors undo the statement, not the transaction
BEGIN;
UPDATE m SET a = 77 WHERE id = 2;
UPDATE m SET a = 'x' ORDER BY id LIMIT 3;
UPDATE m SET b = REPEAT('x', id * 8) ORDER BY id LIMIT 4;
UPDATE m SET id = 4 WHERE id = 2;
SELECT * FROM m ORDER BY id;
COMMIT;
SELECT * FROM m ORDER BY id;
BEGIN;
UPDATE m SET a = a + 100 ORDER BY id LIMIT 3;
DELETE FROM m ORDER BY id LIMIT 1;
SELECT * FROM m ORDER BY id;
ROLLBACK;
SELECT * FROM m ORDER BY id;
START TRANSACTION READ ONLY;
UPDATE m SET a = 1 ORDER BY id LIMIT 1;
ROLLBACK;
-- IGNORE and foreign keys that servers enforce: the copies have none
CREATE TABLE par (id INT PRIMARY KEY);
CREATE TABLE chil (p INT, id INT, d INT, PRIMARY KEY (p, id), FOREIGN KEY (p) REFERENCES par (id)) COMMENT 'skarv:key=p';
CREATE TABLE far (id INT PRIMARY KEY, x INT);
INSERT INTO par VALUES (1), (2), (3), (4);
INSERT INTO chil VALUES (1, 1, 1), (2, 1, 1), (2, 2, 1), (4, 1, 1);
INSERT INTO far VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 99);
-- refused: IGNORE
UPDATE IGNORE chil SET d = 7, p = (SELECT MAX(x) FROM far) ORDER BY p, id LIMIT 3;
UPDATE IGNORE chil SET d = (SELECT MAX(x) FROM far) ORDER BY p, id LIMIT 3;
-- refused: IGNORE
DELETE IGNORE FROM par ORDER BY id LIMIT 2;
UPDATE chil SET d = 7, p = (SELECT MAX(x) FROM far) ORDER BY p, id LIMIT 1;
SELECT * FROM chil ORDER BY p, id;

-- The reference system of a column that has points of another one, on some node group.
-- only: mysql
CREATE TABLE srids (id INT PRIMARY KEY, p POINT, q POINT SRID 4326);
-- only: mysql
INSERT INTO srids VALUES (1, ST_GeomFromText('POINT(0 0)', 0), NULL), (2, NULL, NULL), (3, ST_GeomFromText('POINT(1 1)', 4326), ST_GeomFromText('POINT(1 1)', 4326)), (4, NULL, NULL);
-- only: mysql
ALTER TABLE srids CHANGE COLUMN p p POINT SRID 0 DEFAULT NULL;
-- only: mysql
ALTER TABLE srids MODIFY q POINT SRID 0;
-- only: mysql
UPDATE srids SET p = NULL WHERE id = 3;
-- only: mysql
ALTER TABLE srids CHANGE COLUMN p p POINT SRID 0 DEFAULT NULL;
-- only: mysql
SELECT id, ST_AsText(p), ST_SRID(q) FROM srids ORDER BY id;
-- only: mysql
DROP TABLE srids;
