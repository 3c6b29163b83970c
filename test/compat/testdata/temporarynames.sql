-- What DDL means by a name that a temporary table hides.
CREATE TABLE tnames (id INT PRIMARY KEY, x INT);
INSERT INTO tnames VALUES (1, 1), (2, 2), (3, 3), (4, 4);
CREATE TABLE tnother (id INT PRIMARY KEY, x INT);
INSERT INTO tnother VALUES (7, 7);
CREATE TEMPORARY TABLE tnames (id INT);
INSERT INTO tnames VALUES (100);
-- a trigger is one of a table that is no temporary one, which it may hide
-- skip-prepared
CREATE TRIGGER tntr BEFORE INSERT ON tnames FOR EACH ROW SET NEW.id = NEW.id + 100;
CREATE TEMPORARY TABLE tnonly (id INT, x INT);
-- skip-prepared
CREATE TRIGGER tntr BEFORE INSERT ON tnonly FOR EACH ROW SET NEW.x = 1;
-- skip-prepared
CREATE TRIGGER tntr BEFORE INSERT ON tnother FOR EACH ROW SET NEW.x = NEW.x + (SELECT 100);
INSERT INTO tnother VALUES (8, 8);
SELECT * FROM tnother ORDER BY id;
-- skip-prepared
DROP TRIGGER tntr;
-- MySQL's RENAME TABLE renames no temporary tables
-- only: mysql
RENAME TABLE tnames TO tnrenamed;
-- only: mysql
SELECT * FROM tnames;
-- only: mysql
SELECT * FROM tnrenamed ORDER BY id;
-- only: mysql
RENAME TABLE tnonly TO tnonly2;
-- only: mysql
RENAME TABLE tnother TO tnonly, tnrenamed TO tnames;
-- only: mysql
SELECT COUNT(*) FROM tnonly;
-- only: mysql
SHOW TABLES LIKE 'tn%';
-- only: mysql
ALTER TABLE tnonly RENAME TO tnother;
-- only: mysql
SELECT * FROM tnonly ORDER BY id;
-- only: mysql
INSERT INTO tnonly VALUES (9, 9), (10, 10);
-- only: mysql
SELECT * FROM tnonly ORDER BY id;
-- only: mariadb
RENAME TABLE tnames TO tnrenamed;
-- only: mariadb
SELECT * FROM tnames ORDER BY id;
-- only: mariadb
SELECT * FROM tnrenamed;
DROP TEMPORARY TABLE IF EXISTS tnames, tnrenamed, tnonly, tnother;
SHOW TABLES LIKE 'tn%';
SELECT * FROM tnames ORDER BY id;
INSERT INTO tnames VALUES (5, 5), (6, 6), (7, 7);
SELECT COUNT(*), SUM(x) FROM tnames;
