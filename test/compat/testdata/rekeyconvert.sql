-- A change of columns by which rows lie places them anew, as their values are behind it.
CREATE TABLE rc_names (k VARCHAR(10) CHARACTER SET latin1 PRIMARY KEY, v INT, n VARCHAR(10) CHARACTER SET latin1 UNIQUE) DEFAULT CHARSET latin1;
INSERT INTO rc_names VALUES ('a', 1, 'é'), ('B', 2, 'x'), ('é', 3, 'y'), ('ñ', 4, NULL), ('c', 5, 'z'), ('dd', 6, 'q'), ('ee', 7, 'w');
ALTER TABLE rc_names CONVERT TO CHARACTER SET utf8mb4;
SHOW CREATE TABLE rc_names;
SELECT * FROM rc_names ORDER BY v;
SELECT v FROM rc_names WHERE k = 'é';
SELECT v FROM rc_names WHERE k = 'É' OR n = 'É' ORDER BY v;
INSERT INTO rc_names VALUES ('É', 8, 'new');
INSERT INTO rc_names VALUES ('new', 8, 'É');
ALTER TABLE rc_names MODIFY k VARCHAR(10) COLLATE utf8mb4_bin;
SELECT v FROM rc_names WHERE k = 'b';
INSERT INTO rc_names VALUES ('A', 9, 'A');
SELECT v FROM rc_names WHERE k = 'A';
-- what does not fit, and what becomes alike
-- first of several
ALTER TABLE rc_names MODIFY k VARCHAR(10) COLLATE utf8mb4_general_ci;
-- sent: message, the row is one of those of a node group
-- sent: warnings, the row is one of those of a node group
ALTER TABLE rc_names MODIFY k VARCHAR(1) COLLATE utf8mb4_bin;
-- first of several
ALTER TABLE rc_names MODIFY k INT;
SELECT COUNT(*) FROM rc_names;
DELETE FROM rc_names WHERE k = 'A';
ALTER TABLE rc_names MODIFY k CHAR(12) COLLATE utf8mb4_unicode_ci, ADD COLUMN at INT NOT NULL DEFAULT 3 FIRST;
SELECT * FROM rc_names ORDER BY v;
SELECT v FROM rc_names WHERE k = 'b';
-- numbers
CREATE TABLE rc_nums (k INT PRIMARY KEY, v VARCHAR(10), twice INT AS (k * 2) STORED, CHECK (v <> 'bad')) COMMENT 'of numbers';
INSERT INTO rc_nums (k, v) VALUES (1, 'a'), (-2, 'b'), (30, 'c'), (4, 'd'), (50, 'e'), (600, 'f');
ALTER TABLE rc_nums MODIFY k VARCHAR(10);
SELECT * FROM rc_nums ORDER BY v;
SELECT v FROM rc_nums WHERE k = '30';
INSERT INTO rc_nums (k, v) VALUES ('7', 'bad');
ALTER TABLE rc_nums MODIFY k DECIMAL(8,2);
SELECT v, k, twice FROM rc_nums WHERE k = 30;
INSERT INTO rc_nums (k, v) VALUES (1.50, 'g');
ALTER TABLE rc_nums MODIFY k BIGINT NOT NULL;
SELECT v, k FROM rc_nums ORDER BY v;
-- first of several
ALTER TABLE rc_nums CHANGE k day DATE;
SELECT COUNT(*) FROM rc_nums WHERE k = 4;
-- without strict mode values that do not fit are changed, and lie where those do
SET sql_mode = '';
-- sent: warnings, each node group counts its rows
ALTER TABLE rc_nums MODIFY k TINYINT UNSIGNED;
DELETE FROM rc_nums WHERE v = 'f';
ALTER TABLE rc_nums MODIFY k TINYINT UNSIGNED;
SELECT v, k FROM rc_nums ORDER BY v;
SELECT v FROM rc_nums WHERE k = 0;
SET sql_mode = DEFAULT;
-- beside a new primary key, of a table that had none, too
ALTER TABLE rc_nums DROP PRIMARY KEY, MODIFY v VARCHAR(30) NOT NULL, ADD PRIMARY KEY (v), ADD COLUMN c INT DEFAULT (1 + 1);
SELECT * FROM rc_nums ORDER BY v;
SELECT k FROM rc_nums WHERE v = 'd';
CREATE TABLE rc_none (id INT NOT NULL, n VARCHAR(10));
INSERT INTO rc_none VALUES (1, 'a'), (2, 'b'), (5, 'c'), (9, 'd');
ALTER TABLE rc_none CHANGE id id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, ADD PRIMARY KEY (id), ADD COLUMN m INT NOT NULL DEFAULT 1;
SELECT * FROM rc_none ORDER BY id;
INSERT INTO rc_none (n) VALUES ('e');
SELECT n FROM rc_none WHERE id = 10;
CREATE TABLE rc_new (n VARCHAR(10));
INSERT INTO rc_new VALUES ('a'), ('b');
ALTER TABLE rc_new ADD COLUMN k CHAR(5) PRIMARY KEY;
ALTER TABLE rc_new ADD COLUMN k CHAR(5) NOT NULL DEFAULT 'x', MODIFY n VARCHAR(20) NOT NULL, ADD PRIMARY KEY (k, n);
SELECT * FROM rc_new ORDER BY n;
SELECT n FROM rc_new WHERE k = 'x' AND n = 'b';
-- refused: numbers in the order of a key that changes
ALTER TABLE rc_names DROP PRIMARY KEY, MODIFY k VARCHAR(30), ADD id INT NOT NULL AUTO_INCREMENT PRIMARY KEY;
-- from and to other kinds of tables
CREATE TABLE rc_kind (k VARCHAR(10) PRIMARY KEY, v INT) COMMENT 'skarv:single';
INSERT INTO rc_kind VALUES ('1', 1), ('02', 2), ('3', 3), ('4', 4);
ALTER TABLE rc_kind COMMENT 'skarv:reference', MODIFY k INT;
SELECT * FROM rc_kind ORDER BY v;
ALTER TABLE rc_kind COMMENT 'skarv:key=k', MODIFY k CHAR(5), ADD w INT DEFAULT (v + 1);
SELECT * FROM rc_kind ORDER BY v;
SELECT v FROM rc_kind WHERE k = '2';
DROP TABLE rc_kind;
CREATE TABLE rc_parent (k VARCHAR(10) COLLATE utf8mb4_bin PRIMARY KEY);
CREATE TABLE rc_child (id INT PRIMARY KEY, k VARCHAR(10) COLLATE utf8mb4_bin, FOREIGN KEY (k) REFERENCES rc_parent (k));
-- refused: of a foreign key
ALTER TABLE rc_parent MODIFY k VARCHAR(10) COLLATE utf8mb4_general_ci;
DROP TABLE rc_child, rc_parent, rc_names, rc_nums, rc_none, rc_new;
