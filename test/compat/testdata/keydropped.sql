-- A table loses the key by which its rows lie: nothing tells them apart then, until it gets another one.
CREATE TABLE kd (id INT PRIMARY KEY, v VARCHAR(10), u INT UNIQUE);
INSERT INTO kd VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', 4), (5, 'e', NULL), (6, 'f', NULL);
ALTER TABLE kd DROP PRIMARY KEY;
SHOW CREATE TABLE kd;
SELECT * FROM kd ORDER BY id;
INSERT INTO kd VALUES (1, 'a', 7);
INSERT INTO kd VALUES (9, 'a', 2);
SELECT * FROM kd WHERE u = 3;
SELECT * FROM kd WHERE id = 1 ORDER BY u;
ALTER TABLE kd DROP PRIMARY KEY;
ALTER TABLE kd ADD PRIMARY KEY (id);
UPDATE kd SET id = 10 WHERE u = 7;
DELETE FROM kd WHERE id = 2;
ALTER TABLE kd ADD PRIMARY KEY (id);
SELECT * FROM kd ORDER BY id;
SELECT v FROM kd WHERE id = 10;
-- beside other changes
ALTER TABLE kd DROP PRIMARY KEY, MODIFY id BIGINT NULL, MODIFY v VARCHAR(20) NOT NULL, ADD w VARCHAR(20) DEFAULT (CONCAT('x', 'y'));
INSERT INTO kd (v) VALUES ('x');
SELECT * FROM kd ORDER BY id;
SHOW CREATE TABLE kd;
-- first of several
ALTER TABLE kd MODIFY v INT;
-- its numbers end with it
CREATE TABLE kd_counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO kd_counted (v) VALUES (1), (2), (3);
ALTER TABLE kd_counted DROP PRIMARY KEY;
ALTER TABLE kd_counted MODIFY id INT, DROP PRIMARY KEY;
INSERT INTO kd_counted VALUES (3, 3), (NULL, 4);
SELECT * FROM kd_counted ORDER BY id, v;
SELECT LAST_INSERT_ID();
DELETE FROM kd_counted WHERE v > 2;
ALTER TABLE kd_counted MODIFY id INT AUTO_INCREMENT PRIMARY KEY;
INSERT INTO kd_counted (v) VALUES (9);
SELECT * FROM kd_counted ORDER BY id, v;
-- its column goes
CREATE TABLE kd_column (id INT AUTO_INCREMENT PRIMARY KEY, v INT, n VARCHAR(10) DEFAULT 'n', UNIQUE KEY (n, v));
INSERT INTO kd_column (v) VALUES (1), (2), (3);
ALTER TABLE kd_column DROP COLUMN id;
INSERT INTO kd_column VALUES (3, 'm');
INSERT INTO kd_column VALUES (3, 'n');
SELECT * FROM kd_column ORDER BY v, n;
DROP INDEX `PRIMARY` ON kd_column;
ALTER TABLE kd_column ADD COLUMN id INT AUTO_INCREMENT PRIMARY KEY FIRST;
SELECT id, v FROM kd_column WHERE id = 2;
-- one of its columns goes
CREATE TABLE kd_pair (a INT, b INT, v INT, PRIMARY KEY (a, b));
INSERT INTO kd_pair VALUES (1, 10, 1), (1, 20, 2), (2, 30, 3), (2, 10, 4);
ALTER TABLE kd_pair DROP COLUMN a;
ALTER TABLE kd_pair DROP COLUMN a, DROP PRIMARY KEY;
SELECT * FROM kd_pair ORDER BY v;
-- a column of its name comes
CREATE TABLE kd_again (id INT PRIMARY KEY, v INT);
INSERT INTO kd_again VALUES (5, 1), (6, 2), (7, 3);
ALTER TABLE kd_again DROP COLUMN id, ADD COLUMN id INT;
SELECT * FROM kd_again ORDER BY v;
ALTER TABLE kd_again DROP COLUMN id, ADD COLUMN id BIGINT AUTO_INCREMENT PRIMARY KEY;
SELECT COUNT(*), MIN(id), MAX(id) FROM kd_again;
-- another key takes its place
CREATE TABLE kd_other (id INT PRIMARY KEY, v INT NOT NULL UNIQUE);
INSERT INTO kd_other VALUES (1, 2), (3, 4);
DROP INDEX `PRIMARY` ON kd_other;
SHOW CREATE TABLE kd_other;
SHOW COLUMNS FROM kd_other;
ALTER TABLE kd_other DROP COLUMN id;
INSERT INTO kd_other VALUES (4);
SELECT * FROM kd_other ORDER BY v;
-- what was said of where rows live stays
CREATE TABLE kd_said (id INT, c INT, v INT, PRIMARY KEY (id, c)) COMMENT 'skarv:key=c';
INSERT INTO kd_said VALUES (1, 2, 3), (2, 3, 4), (3, 4, 5), (4, 5, 6);
ALTER TABLE kd_said DROP PRIMARY KEY;
INSERT INTO kd_said VALUES (2, 3, 4);
SELECT * FROM kd_said WHERE c = 3;
-- refused: name another distribution key first
ALTER TABLE kd_said DROP COLUMN c;
ALTER TABLE kd_said ADD PRIMARY KEY (v, c, id);
DELETE FROM kd_said WHERE id = 2 LIMIT 1;
ALTER TABLE kd_said ADD PRIMARY KEY (v, c, id);
SELECT * FROM kd_said WHERE c = 3;
CREATE TABLE kd_all (id INT PRIMARY KEY, v INT UNIQUE) COMMENT 'skarv:reference';
INSERT INTO kd_all VALUES (1, 2), (2, 3), (3, 4);
ALTER TABLE kd_all DROP PRIMARY KEY;
INSERT INTO kd_all VALUES (3, 9);
INSERT INTO kd_all VALUES (4, 9);
SELECT * FROM kd_all ORDER BY id, v;
ALTER TABLE kd_all DROP COLUMN id;
ALTER TABLE kd_all ADD PRIMARY KEY (v);
SELECT * FROM kd_all ORDER BY v;
ALTER TABLE kd_all DROP PRIMARY KEY, ADD COLUMN id INT AUTO_INCREMENT PRIMARY KEY FIRST;
SELECT * FROM kd_all ORDER BY v;
-- foreign keys, CHECK constraints and triggers stay
CREATE TABLE kd_parent (id INT PRIMARY KEY, v INT);
CREATE TABLE kd_child (id INT PRIMARY KEY, p INT, v INT, w INT AS (p + 1) STORED, CHECK (p < 100), FOREIGN KEY (p) REFERENCES kd_parent (id)) COMMENT 'of a parent';
INSERT INTO kd_parent VALUES (1, 1), (2, 2), (3, 3), (11, 3);
INSERT INTO kd_child (id, p) VALUES (1, 1), (2, 2), (3, 3);
CREATE TRIGGER kd_tr BEFORE INSERT ON kd_child FOR EACH ROW SET NEW.v = NEW.id + 1;
ALTER TABLE kd_child DROP PRIMARY KEY;
INSERT INTO kd_child (id, p) VALUES (1, 9);
INSERT INTO kd_child (id, p) VALUES (1, 100);
INSERT INTO kd_child (id, p) VALUES (1, 11), (2, 1);
DELETE FROM kd_parent WHERE id = 1;
SELECT * FROM kd_child ORDER BY id, p;
SELECT trigger_name, action_statement FROM information_schema.triggers WHERE event_object_table = 'kd_child' AND trigger_schema = DATABASE();
-- refused: one server says that the foreign key needs it
ALTER TABLE kd_parent DROP PRIMARY KEY;
