-- A foreign key over node groups whose column is narrower than the one it refers to: a cascade cuts nothing off, whatever sql_mode says.
CREATE TABLE narrow_p (id VARCHAR(20) PRIMARY KEY, b VARBINARY(10) UNIQUE, n INT UNIQUE);
CREATE TABLE narrow_c (id INT PRIMARY KEY, pid VARCHAR(5), FOREIGN KEY (pid) REFERENCES narrow_p (id) ON UPDATE CASCADE ON DELETE SET NULL);
CREATE TABLE narrow_b (id INT PRIMARY KEY, b VARBINARY(3), FOREIGN KEY (b) REFERENCES narrow_p (b) ON UPDATE CASCADE);
INSERT INTO narrow_p VALUES ('a', 'a', 1), ('b', 'b', 2), ('c', 'c', 3), ('d', 'd', 4);
INSERT INTO narrow_c VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'a');
INSERT INTO narrow_b VALUES (1, 'a'), (2, 'b');
UPDATE narrow_p SET id = 'abcdefgh' WHERE id = 'a';
UPDATE narrow_p SET b = 'abcd' WHERE id = 'a';
UPDATE narrow_p SET b = _utf8mb4 x'C3A4C3A4' WHERE id = 'a';
UPDATE narrow_p SET b = 'abc' WHERE id = 'a';
UPDATE narrow_p SET id = _utf8mb4 x'C3A4C3A4C3A4C3A4C3A4' WHERE id = 'c';
SET sql_mode = '';
UPDATE narrow_p SET id = 'abcdefgh' WHERE id = 'a';
UPDATE narrow_p SET id = 'a     ' WHERE id = 'a';
UPDATE narrow_p SET id = 'bcdef ', n = 22 WHERE id = 'b';
UPDATE narrow_p SET id = 'bcdef', b = NULL WHERE id = 'b';
INSERT INTO narrow_p (id) VALUES ('a') ON DUPLICATE KEY UPDATE b = 'abcd';
UPDATE narrow_p JOIN narrow_c ON narrow_c.pid = narrow_p.id SET narrow_p.id = CONCAT(narrow_p.id, 'wxyz!') WHERE narrow_c.id = 4;
UPDATE narrow_p SET id = 'dddddddd' WHERE id = 'd';
SET sql_mode = DEFAULT;
SELECT id, HEX(id), HEX(b), n FROM narrow_p ORDER BY n;
SELECT id, HEX(pid) FROM narrow_c ORDER BY id;
SELECT id, HEX(b) FROM narrow_b ORDER BY id;
-- NULL does not go where it may not be.
-- only: mysql
CREATE TABLE narrow_n (id INT PRIMARY KEY, n INT NOT NULL, FOREIGN KEY (n) REFERENCES narrow_p (n) ON UPDATE CASCADE);
-- only: mysql
INSERT INTO narrow_n VALUES (1, 1);
-- only: mysql
UPDATE narrow_p SET n = NULL WHERE n = 1;
SET sql_mode = '';
-- only: mysql
UPDATE narrow_p SET n = NULL WHERE n = 1;
-- only: mysql
SELECT * FROM narrow_n;
SET sql_mode = DEFAULT;
-- Columns whose bytes differ by the type: one server finds no row that it refers to, or writes what fills a CHAR up.
CREATE TABLE narrow_d (d DECIMAL(10, 2) PRIMARY KEY);
-- refused: between columns of types decimal(5,1) and decimal(10,2)
CREATE TABLE narrow_d1 (id INT PRIMARY KEY, d DECIMAL(5, 1), FOREIGN KEY (d) REFERENCES narrow_d (d));
CREATE TABLE narrow_d2 (id INT PRIMARY KEY, d DECIMAL(10, 2), FOREIGN KEY (d) REFERENCES narrow_d (d));
CREATE TABLE narrow_t (t DATETIME(6) PRIMARY KEY);
-- refused: between columns of types datetime(2) and datetime(6)
CREATE TABLE narrow_t1 (id INT PRIMARY KEY, t DATETIME(2), FOREIGN KEY (t) REFERENCES narrow_t (t));
CREATE TABLE narrow_e (e ENUM('a', 'b', 'c') PRIMARY KEY);
-- refused: between columns of types enum('x','y') and enum('a','b','c')
CREATE TABLE narrow_e1 (id INT PRIMARY KEY, e ENUM('x', 'y'), FOREIGN KEY (e) REFERENCES narrow_e (e) ON UPDATE CASCADE);
-- refused: between columns of types year
CREATE TABLE narrow_e2 (id INT PRIMARY KEY, e YEAR, FOREIGN KEY (e) REFERENCES narrow_e (e));
CREATE TABLE narrow_e3 (id INT PRIMARY KEY, e ENUM('a', 'b', 'c'), FOREIGN KEY (e) REFERENCES narrow_e (e) ON UPDATE CASCADE);
INSERT INTO narrow_e VALUES ('a');
INSERT INTO narrow_e3 VALUES (1, 'a');
UPDATE narrow_e SET e = 'c';
SELECT * FROM narrow_e3;
CREATE TABLE narrow_i (i INT PRIMARY KEY);
CREATE TABLE narrow_i1 (id INT PRIMARY KEY, i BIGINT, FOREIGN KEY (i) REFERENCES narrow_i (i));
CREATE TABLE narrow_i2 (id INT PRIMARY KEY, i INT(5), FOREIGN KEY (i) REFERENCES narrow_i (i));
CREATE TABLE narrow_s (s CHAR(4) PRIMARY KEY);
-- refused: between columns of types varchar(9) and char(4)
CREATE TABLE narrow_s1 (id INT PRIMARY KEY, s VARCHAR(9), FOREIGN KEY (s) REFERENCES narrow_s (s) ON UPDATE CASCADE);
-- refused: between columns of types char(3) and char(4)
CREATE TABLE narrow_s2 (id INT PRIMARY KEY, s CHAR(3), FOREIGN KEY (s) REFERENCES narrow_s (s) ON UPDATE CASCADE);
CREATE TABLE narrow_s3 (id INT PRIMARY KEY, s CHAR(4), FOREIGN KEY (s) REFERENCES narrow_s (s) ON UPDATE CASCADE);
INSERT INTO narrow_s VALUES ('a');
INSERT INTO narrow_s3 VALUES (1, 'a');
UPDATE narrow_s SET s = 'bcde';
SELECT * FROM narrow_s3;
