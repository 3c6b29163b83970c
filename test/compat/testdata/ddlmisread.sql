-- A statement that changes the schema is read to its end before it does anything: no commit, nothing dropped.
CREATE TABLE mr1 (id INT PRIMARY KEY, v INT);
CREATE TABLE mr2 (id INT PRIMARY KEY, v INT);
CREATE VIEW mrv AS SELECT id FROM mr1;
INSERT INTO mr1 VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
DROP TABLE mr1 WHERE id = 1;
DROP TABLE mr1 mr2;
DROP TABLE IF EXISTS mr1 x y;
DROP VIEW mrv garbage;
TRUNCATE mr1 mr2;
TRUNCATE TABLE mr1 WHERE id = 1;
SELECT COUNT(*) FROM mr1;
SELECT COUNT(*) FROM mrv;
START TRANSACTION;
INSERT INTO mr1 VALUES (10, 1), (11, 1), (12, 1), (13, 1);
SAVEPOINT mrs;
selec;
isnert INTO mr1 VALUES (99, 1);
`mr1`;
5;
RETURN 5;
OPEN c;
ROLLBACK TO mrs;
ALTER TABLE mr1 ADD COLUM x;
CREATE TABEL mr3 (id INT);
CREATE TABLE mr3 (;
DROP TABEL mr1;
DROP TABLE nosuch x y;
RENAME TABLE mr1 mr3;
TRUNCATE mr1 mr2;
-- skip-prepared
LOCK TABLES mr1;
-- skip-prepared
LOCK TABLES nosuch READ garbage;
FLUSH NOSUCH;
ANALYZE TABLE mr1 garbage;
-- skip-prepared
CHECK TABLE nosuch garbage;
CREATE INDEX ON mr1 (v);
ALTER TABLE nosuch ADD COLUM x;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
-- What is well formed commits before it is found that it cannot be done.
START TRANSACTION;
INSERT INTO mr1 VALUES (20, 1), (21, 1), (22, 1), (23, 1);
CREATE TABLE nosuchdb.x (id INT);
ROLLBACK;
SELECT COUNT(*) FROM mr1;
START TRANSACTION;
INSERT INTO mr1 VALUES (30, 1), (31, 1), (32, 1), (33, 1);
DROP TABLE nosuch;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
START TRANSACTION;
INSERT INTO mr1 VALUES (40, 1), (41, 1), (42, 1), (43, 1);
LOCK TABLES nosuch READ;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
START TRANSACTION;
INSERT INTO mr1 VALUES (50, 1), (51, 1), (52, 1), (53, 1);
ALTER TABLE nosuch ADD COLUMN x INT;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
START TRANSACTION;
INSERT INTO mr1 VALUES (60, 1), (61, 1), (62, 1), (63, 1);
DROP TEMPORARY TABLE nosuch;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
START TRANSACTION;
INSERT INTO mr1 VALUES (70, 1), (71, 1), (72, 1), (73, 1);
-- skip-prepared
CREATE VIEW mrw AS SELECT * FROM nosuch;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
-- LOCK TABLES gives back what is locked before it looks for tables.
LOCK TABLES mr1 WRITE;
LOCK TABLES nosuch READ;
SELECT COUNT(*) FROM mr2;
LOCK TABLES mr1 WRITE;
-- skip-prepared
LOCK TABLES mr2;
SELECT COUNT(*) FROM mr2;
-- skip-prepared
UNLOCK;
-- skip-prepared
UNLOCK TABLES garbage;
SELECT COUNT(*) FROM mr2;
UNLOCK TABLES;
CREATE DATABASE mrd;
DROP DATABASE mrd garbage;
CREATE DATABASE mrd;
DROP DATABASE mrd;
-- skip-prepared
CREATE PROCEDURE mrp() SELECT 1;
-- skip-prepared
DROP PROCEDURE mrp garbage;
CALL mrp();
-- skip-prepared
DROP PROCEDURE mrp;
-- Nothing that a trigger calls commits, even if it could not be done.
SET sql_notes = 0;
-- skip-prepared
CREATE PROCEDURE mrq(n INT) BEGIN IF n = 3 THEN TRUNCATE nosuch; END IF; END;
-- skip-prepared
CREATE TRIGGER mrt AFTER INSERT ON mr2 FOR EACH ROW CALL mrq(NEW.id);
-- skip-prepared
INSERT INTO mr2 VALUES (1, 1), (2, 1), (3, 1);
SELECT COUNT(*) FROM mr2;
START TRANSACTION;
INSERT INTO mr1 VALUES (80, 1), (81, 1);
-- skip-prepared
INSERT INTO mr2 VALUES (1, 1), (2, 1), (3, 1);
ROLLBACK;
SELECT COUNT(*) FROM mr1;
SELECT COUNT(*) FROM mr2;
-- skip-prepared
DROP TRIGGER IF EXISTS mrt;
-- skip-prepared
DROP PROCEDURE IF EXISTS mrq;
SET sql_notes = 1;
-- CHECKSUM commits nothing.
START TRANSACTION;
INSERT INTO mr1 VALUES (90, 1), (91, 1);
CHECKSUM TABLE nosuch;
ROLLBACK;
SELECT COUNT(*) FROM mr1;
DROP VIEW mrv;
DROP TABLE mr1, mr2;
