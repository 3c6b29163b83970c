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
-- Triggers and CHECK constraints stay, too.
CREATE TABLE rf_log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40));
CREATE TABLE rf_trig (a INT NOT NULL, b INT NOT NULL CHECK (b > 0), v INT DEFAULT 0, w INT, z INT, CONSTRAINT rf_less CHECK (v < 100 OR w = 'it''s, "(`x"'), PRIMARY KEY (a, b)) COMMENT 'skarv:key=a';
-- skip-prepared
CREATE TRIGGER rf_one BEFORE INSERT ON rf_trig FOR EACH ROW SET NEW.v = NEW.v + 1;
-- skip-prepared
CREATE TRIGGER rf_two BEFORE INSERT ON rf_trig FOR EACH ROW SET NEW.v = NEW.v * 2;
SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_ALL_TABLES';
-- skip-prepared
CREATE TRIGGER "rf three" AFTER UPDATE ON rf_trig FOR EACH ROW INSERT INTO rf_log (what) VALUES ('was ' || OLD.v || ' é');
SET sql_mode = DEFAULT;
INSERT INTO rf_trig (a, b, v, w) VALUES (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 3, 3), (4, 2, 4, 4);
ALTER TABLE rf_trig COMMENT 'skarv:key=b';
SHOW CREATE TABLE rf_trig;
SELECT trigger_name, event_manipulation, action_timing, action_order, CAST(action_statement AS CHAR(300)) AS s, CAST(sql_mode AS CHAR(300)) AS m, character_set_client, collation_connection FROM information_schema.triggers WHERE event_object_table = 'rf_trig' ORDER BY event_manipulation, action_order;
INSERT INTO rf_trig (a, b, v, w) VALUES (5, 3, 5, 5);
INSERT INTO rf_trig (a, b, v, w) VALUES (5, 0, 5, 5);
INSERT INTO rf_trig (a, b, v, w) VALUES (6, 3, 50, 5);
UPDATE rf_trig SET w = 9 WHERE b = 2 ORDER BY a;
UPDATE rf_trig SET v = 100 WHERE b = 1;
SELECT a, b, v, w FROM rf_trig ORDER BY a;
SELECT what FROM rf_log ORDER BY id;
ALTER TABLE rf_trig COMMENT 'skarv:reference';
INSERT INTO rf_trig (a, b, v, w) VALUES (7, 4, 7, 7);
SELECT a, b, v, w FROM rf_trig WHERE a = 7;
ALTER TABLE rf_trig COMMENT 'skarv:key=a,b';
SHOW CREATE TABLE rf_trig;
-- refused: what a row is placed by it must bring
ALTER TABLE rf_trig DROP PRIMARY KEY, ADD PRIMARY KEY (a, b, v), COMMENT 'skarv:key=v';
-- refused: another ALTER TABLE can do it
ALTER TABLE rf_trig DROP COLUMN z, COMMENT 'skarv:key=a';
-- refused: a single table's triggers are where its rows are
ALTER TABLE rf_trig COMMENT 'skarv:single';
INSERT INTO rf_trig (a, b, v, w) VALUES (8, 4, 8, 8);
SELECT a, b, v, w FROM rf_trig ORDER BY a;
DROP TABLE rf_trig, rf_log;
