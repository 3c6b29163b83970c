-- A write that reads what its own cascades change: servers read it before or behind, by their plans.
CREATE TABLE cr_parent (id INT PRIMARY KEY, x INT);
CREATE TABLE cr_gone (id INT PRIMARY KEY, p INT, x INT, FOREIGN KEY (p) REFERENCES cr_parent (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE cr_null (id INT PRIMARY KEY, p INT, x INT, FOREIGN KEY (p) REFERENCES cr_parent (id) ON DELETE SET NULL);
CREATE TABLE cr_other (id INT PRIMARY KEY, p INT, x INT, FOREIGN KEY (p) REFERENCES cr_gone (id) ON DELETE CASCADE);
CREATE TABLE cr_restrict (id INT PRIMARY KEY, p INT, x INT, FOREIGN KEY (p) REFERENCES cr_parent (id));
INSERT INTO cr_parent VALUES (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 4), (8, 5), (9, 6), (10, 7);
INSERT INTO cr_gone VALUES (1, 1, 1), (2, 4, 2), (3, 6, 9);
INSERT INTO cr_null VALUES (1, 1, 1), (2, 4, 2), (3, 7, 7);
INSERT INTO cr_other VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO cr_restrict VALUES (1, 10, 5);
-- refused: reads table 'cr_gone'
DELETE FROM cr_parent WHERE x IN (SELECT x FROM cr_gone);
-- refused: reads table 'cr_null'
DELETE FROM cr_parent WHERE x IN (SELECT x FROM cr_null WHERE p IS NOT NULL);
-- refused: reads table 'cr_gone'
DELETE FROM cr_parent WHERE EXISTS (SELECT 1 FROM cr_gone WHERE cr_gone.x = cr_parent.x);
-- refused: reads table 'cr_other'
DELETE FROM cr_parent WHERE x IN (SELECT x FROM cr_other);
-- refused: reads table 'cr_gone'
DELETE cr_parent FROM cr_parent JOIN cr_gone ON cr_gone.x = cr_parent.x;
-- refused: reads table 'cr_gone'
UPDATE cr_parent SET id = id + 100 WHERE x IN (SELECT p FROM cr_gone);
DELETE FROM cr_parent WHERE x IN (SELECT x FROM cr_restrict);
DELETE FROM cr_parent WHERE id IN (SELECT p FROM cr_gone WHERE x = 9);
DELETE FROM cr_parent WHERE EXISTS (SELECT 1 FROM cr_null WHERE cr_null.p = cr_parent.id AND cr_null.x = 7);
SELECT * FROM cr_parent ORDER BY id;
DELETE FROM cr_parent WHERE NOT EXISTS (SELECT 1 FROM cr_null WHERE cr_null.p = cr_parent.id) AND id = 2;
DELETE cr_parent FROM cr_parent LEFT JOIN cr_gone ON cr_gone.p = cr_parent.id WHERE cr_gone.id IS NULL AND cr_parent.id = 9;
DELETE FROM cr_parent WHERE id NOT IN (SELECT p FROM cr_gone) AND id <> 10;
SELECT * FROM cr_parent ORDER BY id;
SELECT * FROM cr_gone ORDER BY id;
SELECT * FROM cr_null ORDER BY id;
UPDATE cr_parent SET x = x + 100 WHERE x IN (SELECT x FROM cr_gone);
SELECT * FROM cr_parent ORDER BY id;
DROP TABLE cr_other;
DROP TABLE cr_restrict;
DROP TABLE cr_null;
DROP TABLE cr_gone;
DROP TABLE cr_parent;
