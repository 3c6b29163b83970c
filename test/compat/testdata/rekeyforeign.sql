-- Foreign keys stay where the rows of a table are placed anew.
CREATE TABLE rf_town (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE rf_cust (id INT PRIMARY KEY, town INT, boss INT, KEY (town), CONSTRAINT rf_boss FOREIGN KEY (boss) REFERENCES rf_cust (id), FOREIGN KEY (town) REFERENCES rf_town (id));
CREATE TABLE rf_ord (id INT, cust INT NOT NULL, total INT, PRIMARY KEY (id), UNIQUE KEY u (id, cust), CONSTRAINT a_key FOREIGN KEY (cust) REFERENCES rf_cust (id) ON DELETE CASCADE, CONSTRAINT `odd name` FOREIGN KEY (total) REFERENCES rf_town (id));
CREATE TABLE rf_item (id INT PRIMARY KEY, ord INT, cust INT, FOREIGN KEY (ord, cust) REFERENCES rf_ord (id, cust) ON DELETE CASCADE);
INSERT INTO rf_town VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO rf_cust VALUES (1, 1, NULL), (2, 2, 1), (3, 3, 1), (4, 1, 2);
INSERT INTO rf_ord VALUES (1, 1, 1), (2, 2, NULL), (3, 2, 2), (4, 3, 3), (5, 4, 1);
INSERT INTO rf_item VALUES (1, 1, 1), (2, 2, 2), (3, 3, 2), (4, NULL, 5);
ALTER TABLE rf_ord DROP PRIMARY KEY, ADD PRIMARY KEY (id, cust), COMMENT 'skarv:key=cust';
SHOW CREATE TABLE rf_ord;
SHOW CREATE TABLE rf_item;
SHOW CREATE TABLE rf_cust;
SELECT * FROM rf_ord ORDER BY id;
INSERT INTO rf_ord (id, cust, total) VALUES (6, 9, 1);
INSERT INTO rf_ord (id, cust, total) VALUES (6, 4, 9);
INSERT INTO rf_ord (id, cust, total) VALUES (6, 4, 3);
INSERT INTO rf_item VALUES (5, 77, 4);
INSERT INTO rf_item VALUES (5, 6, 4);
DELETE FROM rf_cust WHERE id = 4;
SELECT * FROM rf_ord ORDER BY id;
SELECT * FROM rf_item ORDER BY id;
ALTER TABLE rf_town COMMENT 'skarv:reference';
SHOW CREATE TABLE rf_town;
SHOW CREATE TABLE rf_ord;
SHOW CREATE TABLE rf_cust;
-- first of several
DELETE FROM rf_town WHERE id = 2;
-- first of several
UPDATE rf_town SET id = 7 WHERE id = 3;
INSERT INTO rf_cust VALUES (5, 9, NULL);
INSERT INTO rf_cust VALUES (5, 3, NULL);
ALTER TABLE rf_town COMMENT 'skarv:key=id';
DELETE FROM rf_ord WHERE total = 3;
UPDATE rf_town SET id = 7 WHERE name = 'c';
SELECT * FROM rf_cust ORDER BY id;
-- refused: one server has another key for them
ALTER TABLE rf_ord DROP KEY u, DROP PRIMARY KEY, ADD PRIMARY KEY (cust, id), COMMENT 'skarv:key=id';
SELECT constraint_name, table_name, column_name, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL AND table_name LIKE 'rf%' ORDER BY 1, 2, 3;
SELECT constraint_name, table_name, referenced_table_name, update_rule, delete_rule, unique_constraint_name FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE() AND table_name LIKE 'rf%' ORDER BY 1, 2;
DROP TABLE rf_cust;
DROP TABLE rf_item, rf_ord, rf_cust, rf_town;
-- A table without a primary key gets one.
CREATE TABLE rf_par (id INT PRIMARY KEY);
CREATE TABLE rf_chi (a INT, p INT, CONSTRAINT rf_up FOREIGN KEY (p) REFERENCES rf_par (id));
INSERT INTO rf_par VALUES (1), (2);
INSERT INTO rf_chi VALUES (1, 1), (2, 2), (3, NULL);
ALTER TABLE rf_chi ADD PRIMARY KEY (a);
SHOW CREATE TABLE rf_chi;
INSERT INTO rf_chi VALUES (4, 4);
DELETE FROM rf_par WHERE id = 1;
DROP TABLE rf_chi, rf_par;
