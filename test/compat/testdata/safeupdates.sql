-- sql_safe_updates, also where rows are read first and then changed by their keys.
CREATE TABLE su (id INT PRIMARY KEY, a INT, u INT, k INT, s VARCHAR(10), UNIQUE KEY (u), KEY (k), KEY (s, a));
CREATE TABLE su_plain (id INT PRIMARY KEY, a INT);
CREATE TABLE su_child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES su_plain (id));
INSERT INTO su VALUES (1, 1, 1, 1, 'a'), (2, 2, 2, 2, 'b'), (3, 3, 3, 3, 'c'), (4, 4, 4, 4, 'd'), (5, 5, NULL, 5, 'e');
INSERT INTO su_plain VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
INSERT INTO su_child VALUES (1, 1), (2, 2);
CREATE VIEW su_view AS SELECT id, a, u FROM su;
SET sql_safe_updates = 1;
UPDATE su SET u = u + 10;
DELETE FROM su;
UPDATE su_view SET u = u + 10;
DELETE FROM su_plain;
UPDATE su_child SET p = 3;
UPDATE su_plain SET id = id + 10;
UPDATE su_plain SET a = a + 10;
UPDATE su_plain SET a = a + 10 WHERE a = 1;
DELETE FROM su_child;
-- only: mariadb
DELETE FROM su LIMIT 1;
-- refused: with sql_safe_updates
UPDATE su SET u = u + 10 WHERE a = 1;
-- refused: with sql_safe_updates
DELETE FROM su WHERE a > 0;
-- refused: with sql_safe_updates
UPDATE su SET u = u + 10 WHERE id + 0 = 1;
-- refused: with sql_safe_updates
UPDATE su SET u = u + 10 WHERE s = 1;
-- refused: with sql_safe_updates
DELETE FROM su_plain WHERE a = 9 OR id = 9;
UPDATE su SET u = u + 10 WHERE id = 1;
UPDATE su SET u = u + 10 WHERE id > 3 AND a > 0;
-- only: mariadb
-- refused: with sql_safe_updates
UPDATE su SET u = u + 10 WHERE id IN (1, 2, '3');
UPDATE su SET u = u + 10 WHERE su.id IN (1, 2, 3);
UPDATE su SET u = u + 10 WHERE s IN ('a', 'b') AND id > -5;
UPDATE su SET u = u + 10 WHERE k BETWEEN 1 AND 2;
UPDATE su SET u = u + 10 WHERE s = 'c';
UPDATE su SET u = u + 10 WHERE 21 = u;
UPDATE su_plain SET id = id + 10 WHERE id = 5;
UPDATE su_child SET p = 3 WHERE id >= 1;
-- args: [1]
UPDATE su SET u = u + 100 WHERE id = ?;
DELETE FROM su WHERE id = 4;
DELETE FROM su_plain WHERE id IN (4, 15);
SELECT * FROM su ORDER BY id;
SELECT * FROM su_plain ORDER BY id;
SELECT * FROM su_child ORDER BY id;
UPDATE su JOIN su_plain ON su.a = su_plain.a SET su.u = 7;
PREPARE p FROM 'UPDATE su SET u = u + 10';
EXECUTE p;
DEALLOCATE PREPARE p;
SET sql_safe_updates = 0;
UPDATE su SET u = u + 10;
DROP VIEW su_view;
DROP TABLE su_child;
DROP TABLE su_plain;
DROP TABLE su;
