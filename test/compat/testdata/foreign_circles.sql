-- A table that refers to itself, and tables that refer to each other: rows that are on their way out are met again by a cascade, and no table is
-- changed by a cascade of its own changes.
CREATE TABLE self (pk INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES self (pk) ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO self VALUES (1, NULL), (2, 1), (3, 2), (7, NULL), (8, 7);
UPDATE self SET pk = 4 WHERE pk = 3;
UPDATE self SET pk = 5 WHERE pk = 1;
UPDATE self SET pk = pk + 100 ORDER BY pk DESC;
SELECT * FROM self ORDER BY pk;
DELETE FROM self WHERE pk = 7;
SELECT * FROM self ORDER BY pk;
CREATE TABLE nulled (pk INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES nulled (pk) ON UPDATE SET NULL ON DELETE SET NULL);
INSERT INTO nulled VALUES (1, NULL), (2, 1), (3, 2);
UPDATE nulled SET pk = 5 WHERE pk = 1;
DELETE FROM nulled WHERE pk = 1;
SELECT * FROM nulled ORDER BY pk;
SET foreign_key_checks = 0;
CREATE TABLE employees (eid INT PRIMARY KEY, name VARCHAR(64), dept_id INT, FOREIGN KEY (dept_id) REFERENCES dept (dept_id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE dept (dept_id INT PRIMARY KEY, name VARCHAR(64), mgr_id INT, FOREIGN KEY (mgr_id) REFERENCES employees (eid) ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO employees VALUES (1, 'name1', 10), (11, 'name11', 10), (2, 'name2', 20), (3, 'name3', 30);
INSERT INTO dept VALUES (10, 'dept10', 1), (20, 'dept20', 2), (30, 'dept30', 3);
SET foreign_key_checks = 1;
DELETE FROM dept WHERE dept_id = 10;
UPDATE employees SET eid = 6 WHERE eid = 2;
SELECT * FROM dept ORDER BY dept_id;
SELECT * FROM employees ORDER BY eid;
-- A row that refers to itself stays, unless its key cascades; so does one that a row refers to which is on its way out.
CREATE TABLE own_key (id INT PRIMARY KEY, c INT NOT NULL UNIQUE, up INT, FOREIGN KEY (up) REFERENCES own_key (c));
CREATE TABLE own_null (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES own_null (id) ON DELETE SET NULL);
CREATE TABLE there_and_back (id INT PRIMARY KEY, a INT UNIQUE, b INT, c INT, FOREIGN KEY (b) REFERENCES there_and_back (a) ON DELETE CASCADE, FOREIGN KEY (c) REFERENCES there_and_back (id));
INSERT INTO own_key VALUES (1, 10, 10), (2, 20, NULL), (3, 30, 20), (4, 40, NULL);
INSERT INTO own_null VALUES (1, 1), (2, 1), (3, 3);
INSERT INTO there_and_back VALUES (1, 10, NULL, NULL), (2, 20, 10, NULL), (3, 30, NULL, NULL);
UPDATE there_and_back SET c = 2 WHERE id = 1;
DELETE FROM own_key WHERE id = 1;
DELETE FROM own_key WHERE c = 10;
DELETE FROM own_key WHERE id IN (1, 4);
DELETE FROM own_key ORDER BY id DESC LIMIT 4;
UPDATE own_key SET c = 11 WHERE id = 1;
UPDATE own_key SET c = 11, up = 11 WHERE id = 1;
-- only: mariadb
REPLACE INTO own_key VALUES (1, 12, 12);
UPDATE own_key SET up = NULL WHERE id = 1;
DELETE FROM own_key WHERE id = 1;
DELETE FROM own_null WHERE id = 1;
DELETE FROM there_and_back WHERE id = 1;
UPDATE there_and_back SET c = NULL WHERE id = 1;
DELETE FROM there_and_back WHERE id = 1;
SELECT * FROM own_key ORDER BY id;
SELECT * FROM own_null ORDER BY id;
SELECT * FROM there_and_back ORDER BY id;
-- Rows that a query names are deleted, unless one of them refers to another one.
CREATE TABLE tree (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES tree (id));
CREATE TABLE branch (name VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY, up VARCHAR(10) COLLATE utf8mb4_general_ci, FOREIGN KEY (up) REFERENCES branch (name));
CREATE TABLE picked (id INT PRIMARY KEY);
CREATE TEMPORARY TABLE chosen (id INT PRIMARY KEY);
INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, 2), (5, NULL), (6, 6), (7, NULL), (8, 7);
INSERT INTO branch VALUES ('a', NULL), ('b', 'A'), ('c', NULL), ('d', 'D');
INSERT INTO picked VALUES (4), (5), (6);
INSERT INTO chosen VALUES (3);
DELETE FROM tree WHERE (id) IN (SELECT id FROM picked);
DELETE FROM tree WHERE id IN (SELECT id FROM picked) AND id < 6;
DELETE t FROM tree t WHERE t.id IN (SELECT id FROM chosen);
SELECT * FROM tree ORDER BY id;
TRUNCATE picked;
INSERT INTO picked VALUES (1);
DELETE FROM tree WHERE id IN (SELECT id FROM picked);
DELETE t FROM tree t JOIN picked p ON p.id = t.id;
INSERT INTO picked VALUES (2);
-- refused: rows of table 'tree' that refer to each other
DELETE FROM tree WHERE id IN (SELECT id FROM picked);
UPDATE tree SET up = NULL WHERE id IN (SELECT id FROM picked);
DELETE FROM tree WHERE id IN (SELECT id FROM picked);
SELECT * FROM tree ORDER BY id;
-- refused: rows of table 'branch' that refer to each other
DELETE FROM branch WHERE name < (SELECT MAX(name) FROM (SELECT 'c' AS name UNION SELECT 'b') x) AND (SELECT COUNT(*) FROM picked) = 2;
DELETE FROM branch WHERE name > 'b' AND (SELECT COUNT(*) FROM picked) = 2;
SELECT * FROM branch ORDER BY name;
-- refused: whose rows refer to each other
DELETE FROM self WHERE pk IN (SELECT id FROM picked);
-- refused: whose rows refer to each other
DELETE FROM nulled WHERE pk IN (SELECT id FROM picked);
CREATE TABLE names (name VARCHAR(10) PRIMARY KEY);
-- only: mysql
-- refused: for a VARCHAR a CHAR counts with its spaces
CREATE TABLE tags (tag CHAR(10), id INT PRIMARY KEY, FOREIGN KEY (tag) REFERENCES names (name));
