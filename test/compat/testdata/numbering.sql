-- An AUTO_INCREMENT column that is added numbers all rows in the order of the key that they have, over all node groups.
CREATE TABLE nw_int (k INT PRIMARY KEY, n VARCHAR(20));
INSERT INTO nw_int VALUES (5, 'a'), (-3, 'b'), (12, 'c'), (7, 'd'), (100, 'e'), (8, 'f');
ALTER TABLE nw_int ADD COLUMN id BIGINT AUTO_INCREMENT UNIQUE;
SHOW COLUMNS FROM nw_int;
SELECT * FROM nw_int ORDER BY k;
INSERT INTO nw_int (k, n) VALUES (1, 'g');
SELECT LAST_INSERT_ID();
INSERT INTO nw_int VALUES (2, 'h', 3);
SELECT k FROM nw_int WHERE id = 4;
-- in the place of the primary key
ALTER TABLE nw_int DROP COLUMN id, DROP PRIMARY KEY, ADD COLUMN num INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST;
SHOW COLUMNS FROM nw_int;
SELECT * FROM nw_int ORDER BY k;
INSERT INTO nw_int (k) VALUES (40);
SELECT num FROM nw_int WHERE k = 40;
DELETE FROM nw_int WHERE num IN (2, 4, 8);
-- numbers without gaps: by the same name, which rows lie by
ALTER TABLE nw_int DROP PRIMARY KEY, DROP COLUMN num, ADD COLUMN num INT NOT NULL AUTO_INCREMENT PRIMARY KEY;
SELECT * FROM nw_int ORDER BY num;
INSERT INTO nw_int (k) VALUES (41);
SELECT num FROM nw_int WHERE k = 41;
-- keys of several columns and of other types
CREATE TABLE nw_text (a VARCHAR(10) COLLATE utf8mb4_general_ci, b DECIMAL(5,2), c DATE, PRIMARY KEY (a, b, c));
INSERT INTO nw_text VALUES ('b', 1, '2024-01-01'), ('A', 10, '2024-01-01'), ('A', -2, '2024-01-01'), ('a', 9.5, '2024-01-02'), ('a', 9.5, '2024-01-01'), ('é', 0, '2024-01-01'), ('Z', 0, '2024-01-01'), ('_', 0, '2024-01-01'), ('e', 1, '2024-01-01');
ALTER TABLE nw_text ADD id INT NOT NULL AUTO_INCREMENT FIRST, ADD KEY (id), AUTO_INCREMENT = 100;
SELECT * FROM nw_text ORDER BY id;
INSERT INTO nw_text (a, b, c) VALUES ('new', 1, '2024-01-01');
SELECT id FROM nw_text WHERE a = 'new';
CREATE TABLE nw_time (t TIME, y YEAR, d DOUBLE, x VARBINARY(5), e ENUM('z', 'y'), v INT, PRIMARY KEY (t, y, x, e));
INSERT INTO nw_time VALUES ('10:00', 2024, 1, 'a', 'z', 1), ('-100:00', 2024, 1, 'a', 'y', 2), ('100:00', 1999, 1, 'B', 'y', 3), ('100:00', 2024, 1, 'B', 'y', 4), ('100:00', 2024, 1, 'B', 'z', 5), ('100:00', 2024, 1, 'Ba', 'z', 6);
ALTER TABLE nw_time ADD id SMALLINT NOT NULL AUTO_INCREMENT, ADD UNIQUE KEY (id);
SELECT v, id FROM nw_time ORDER BY id;
CREATE TABLE nw_latin (k VARCHAR(10) CHARACTER SET latin1 PRIMARY KEY, v INT);
INSERT INTO nw_latin VALUES ('b', 1), ('a', 2);
-- refused: the order is not known
ALTER TABLE nw_latin ADD id INT NOT NULL AUTO_INCREMENT UNIQUE;
ALTER TABLE nw_latin ADD id INT;
UPDATE nw_latin SET id = v;
ALTER TABLE nw_latin MODIFY id INT NOT NULL AUTO_INCREMENT UNIQUE;
INSERT INTO nw_latin (k) VALUES ('c');
SELECT * FROM nw_latin ORDER BY id;
-- reference tables
CREATE TABLE nw_ref (k VARCHAR(10) PRIMARY KEY) COMMENT 'skarv:reference';
INSERT INTO nw_ref VALUES ('b'), ('a'), ('C');
ALTER TABLE nw_ref ADD id INT NOT NULL AUTO_INCREMENT UNIQUE;
INSERT INTO nw_ref (k) VALUES ('d');
SELECT * FROM nw_ref ORDER BY k;
-- with a distribution key of its own, foreign keys and triggers
CREATE TABLE nw_line (cust INT, day DATE, n INT, y INT GENERATED ALWAYS AS (YEAR(day) * 2) STORED, PRIMARY KEY (day, cust), FOREIGN KEY (n) REFERENCES nw_int (num)) COMMENT 'skarv:key=cust';
INSERT INTO nw_line (cust, day, n) VALUES (1, '2024-01-02', 1), (2, '2024-01-01', 2), (1, '2024-01-01', 3), (3, '2024-01-03', 2);
ALTER TABLE nw_line ADD id INT NOT NULL AUTO_INCREMENT FIRST, DROP PRIMARY KEY, ADD PRIMARY KEY (id, cust);
SHOW COLUMNS FROM nw_line;
SELECT * FROM nw_line ORDER BY id;
INSERT INTO nw_line (cust, day, n) VALUES (4, '2024-01-02', 99);
ALTER TABLE nw_line DROP id, ADD id INT NOT NULL AUTO_INCREMENT FIRST, DROP PRIMARY KEY, ADD PRIMARY KEY (cust, id), ADD KEY (id);
SELECT * FROM nw_line ORDER BY id;
INSERT INTO nw_line (cust, day, n) VALUES (4, '2024-01-02', 2);
SELECT id FROM nw_line WHERE cust = 4;
-- refused: its rows lie by it
ALTER TABLE nw_line DROP PRIMARY KEY, DROP cust, DROP id, ADD id INT NOT NULL AUTO_INCREMENT PRIMARY KEY;
-- an empty one, and ones that fail
CREATE TABLE nw_none (k INT PRIMARY KEY);
ALTER TABLE nw_none ADD id INT NOT NULL AUTO_INCREMENT UNIQUE, ADD v INT;
INSERT INTO nw_none (k) VALUES (7);
SELECT * FROM nw_none;
ALTER TABLE nw_none ADD id2 INT NOT NULL AUTO_INCREMENT UNIQUE;
ALTER TABLE nw_ref ADD id INT NOT NULL AUTO_INCREMENT UNIQUE;
ALTER TABLE nw_time DROP id, ADD id INT NOT NULL AUTO_INCREMENT;
SELECT COUNT(*) FROM nw_time;
DROP TABLE nw_line, nw_int, nw_text, nw_time, nw_latin, nw_ref, nw_none;
