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
CREATE TABLE names (name VARCHAR(10) PRIMARY KEY);
-- only: mysql
-- refused: for a VARCHAR a CHAR counts with its spaces
CREATE TABLE tags (tag CHAR(10), id INT PRIMARY KEY, FOREIGN KEY (tag) REFERENCES names (name));
