-- Rules of foreign keys that write what rows are placed by. A reference table's rows are on every node group, those that refer to them on one.
CREATE TABLE act_ref (id INT PRIMARY KEY, n INT) COMMENT 'skarv:reference';
CREATE TABLE act_pair (r INT, n INT, v INT, PRIMARY KEY (r, n), FOREIGN KEY (r) REFERENCES act_ref (id) ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO act_ref VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT INTO act_pair VALUES (1, 1, 11), (1, 2, 12), (2, 1, 21), (2, 2, 22), (3, 1, 31);
-- refused: the rows that follow belong to other node groups then
UPDATE act_ref SET id = 9 WHERE id = 1;
-- refused: the same
INSERT INTO act_ref VALUES (1, 1) ON DUPLICATE KEY UPDATE id = 9;
INSERT INTO act_ref VALUES (1, 5) ON DUPLICATE KEY UPDATE n = 5;
UPDATE act_ref SET id = id, n = 7 WHERE id = 2;
DELETE FROM act_ref WHERE id = 3;
-- only: mariadb
REPLACE INTO act_ref VALUES (2, 8);
-- only: mysql
-- refused: REPLACE in reference table 'act_ref', to which foreign key
REPLACE INTO act_ref VALUES (2, 8);
-- only: mysql
DELETE FROM act_ref WHERE id = 2;
SET foreign_key_checks = 0;
UPDATE act_ref SET id = 5 WHERE id = 4;
SET foreign_key_checks = 1;
INSERT INTO act_ref VALUES (9, 9);
UPDATE act_pair SET r = 9 WHERE r = 1;
DELETE FROM act_ref WHERE id = 1;
SELECT * FROM act_pair WHERE r = 9 AND n = 1;
SELECT * FROM act_pair ORDER BY r, n;
SELECT * FROM act_ref ORDER BY id;
-- Over a reference table between them.
CREATE TABLE act_top (id INT PRIMARY KEY) COMMENT 'skarv:reference';
CREATE TABLE act_mid (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES act_top (id) ON UPDATE CASCADE) COMMENT 'skarv:reference';
CREATE TABLE act_low (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES act_mid (id) ON UPDATE CASCADE);
INSERT INTO act_top VALUES (1), (2);
INSERT INTO act_mid VALUES (1);
INSERT INTO act_low VALUES (1);
-- refused: the rows of act_low belong to another node group then
UPDATE act_top SET id = 3 WHERE id = 1;
DELETE FROM act_top WHERE id = 1;
DELETE FROM act_top WHERE id = 2;
DROP TABLE act_low, act_mid, act_top;
CREATE TABLE act_opt (r INT, v INT, FOREIGN KEY (r) REFERENCES act_ref (id) ON DELETE SET NULL) COMMENT 'skarv:key=r';
INSERT INTO act_opt VALUES (2, 1), (5, 2), (9, 3), (NULL, 4);
-- refused: rows without a value belong together
DELETE FROM act_ref WHERE id = 5;
UPDATE act_opt SET r = NULL WHERE r = 5;
SELECT r, COUNT(*) FROM act_opt GROUP BY r ORDER BY r;
DROP TABLE act_opt, act_pair, act_ref;
-- Rows that become NULL leave the node group of what they referred to.
CREATE TABLE act_par (id INT PRIMARY KEY);
CREATE TABLE act_kid (pid INT, v INT, FOREIGN KEY (pid) REFERENCES act_par (id) ON DELETE SET NULL ON UPDATE SET NULL) COMMENT 'skarv:key=pid';
INSERT INTO act_par VALUES (1), (2), (3), (4), (5), (6), (7), (8);
INSERT INTO act_kid VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (NULL, 9);
INSERT INTO act_kid VALUES (99, 99);
UPDATE act_kid SET pid = 98 WHERE v = 8;
DELETE FROM act_par WHERE id < 4;
UPDATE act_par SET id = 40 WHERE id = 4;
SELECT pid, COUNT(*) FROM act_kid GROUP BY pid ORDER BY pid;
DELETE FROM act_par;
SELECT pid, COUNT(*) FROM act_kid GROUP BY pid;
SELECT DISTINCT pid FROM act_kid;
SELECT v FROM act_kid WHERE pid IS NULL ORDER BY v;
DROP TABLE act_kid, act_par;
-- A cascade sets no ON UPDATE CURRENT_TIMESTAMP.
CREATE TABLE act_clock (id INT PRIMARY KEY);
CREATE TABLE act_tick (id INT PRIMARY KEY, pid INT, ts DATETIME NULL ON UPDATE CURRENT_TIMESTAMP, tt TIMESTAMP(3) NULL ON UPDATE CURRENT_TIMESTAMP(3), FOREIGN KEY (pid) REFERENCES act_clock (id) ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO act_clock VALUES (1), (2), (3);
INSERT INTO act_tick VALUES (1, 1, '2000-01-01', '2000-01-01 01:02:03.456'), (2, 2, '2000-01-01', '2000-01-01'), (3, 3, NULL, NULL);
UPDATE act_clock SET id = 5 WHERE id = 1;
UPDATE act_clock SET id = 6 WHERE id = 3;
DELETE FROM act_clock WHERE id = 2;
SELECT * FROM act_tick ORDER BY id;
DROP TABLE act_tick, act_clock;
-- A key that servers can check, beside one that they cannot.
CREATE TABLE act_far (id INT PRIMARY KEY);
CREATE TABLE act_near (id INT PRIMARY KEY) COMMENT 'skarv:reference';
CREATE TABLE late (id INT PRIMARY KEY, p INT, r INT, q INT, KEY (r), KEY (q), CONSTRAINT act_add_p FOREIGN KEY (p) REFERENCES act_far (id));
INSERT INTO act_far VALUES (1), (2);
INSERT INTO act_near VALUES (1), (2);
INSERT INTO late VALUES (1, 1, 99, 1), (2, 2, 2, 2), (3, NULL, NULL, NULL);
ALTER TABLE late ADD CONSTRAINT act_add_r FOREIGN KEY (r) REFERENCES act_near (id);
ALTER TABLE late ADD CONSTRAINT act_add_q FOREIGN KEY (q) REFERENCES act_far (id), ADD CONSTRAINT act_add_r FOREIGN KEY (r) REFERENCES act_near (id);
UPDATE late SET r = 1 WHERE id = 1;
ALTER TABLE late ADD CONSTRAINT act_add_q FOREIGN KEY (q) REFERENCES act_far (id), ADD CONSTRAINT act_add_r FOREIGN KEY (r) REFERENCES act_near (id);
INSERT INTO late VALUES (4, 1, 98, 1);
INSERT INTO late VALUES (4, 1, 1, 98);
DELETE FROM act_near WHERE id = 1;
ALTER TABLE late DROP FOREIGN KEY act_add_r;
DROP TABLE late, act_near, act_far;
-- Keys that foreign keys refer to, changed in an order that ORDER BY tells.
CREATE TABLE ordered_p (id INT PRIMARY KEY, ord INT, v INT, UNIQUE (ord, id));
CREATE TABLE ordered_k (id INT, pid INT, PRIMARY KEY (id, pid), FOREIGN KEY (pid) REFERENCES ordered_p (id)) COMMENT 'skarv:key=pid';
INSERT INTO ordered_p VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
INSERT INTO ordered_k VALUES (1, 1), (2, 1);
UPDATE ordered_p SET ord = ord + 1 ORDER BY id DESC;
UPDATE ordered_p SET ord = ord + 1, v = 9 ORDER BY ord DESC, id LIMIT 2;
UPDATE ordered_p SET id = id + 10 WHERE v > 1 ORDER BY id DESC LIMIT 2;
UPDATE ordered_p SET id = id + 1 ORDER BY id;
UPDATE ordered_p SET id = id + 1 ORDER BY id DESC;
SELECT * FROM ordered_p ORDER BY id;
-- refused: rows that are equal may come in any order
UPDATE ordered_p SET ord = 1 ORDER BY v LIMIT 2;
DELETE FROM ordered_p ORDER BY id DESC LIMIT 1;
DELETE FROM ordered_p ORDER BY id LIMIT 1;
SELECT * FROM ordered_p ORDER BY id;
DROP TABLE ordered_k, ordered_p;
CREATE TABLE ordered_self (id INT PRIMARY KEY, code INT UNIQUE, v INT, of INT, FOREIGN KEY (of) REFERENCES ordered_self (code));
INSERT INTO ordered_self VALUES (1, 1, 1, NULL), (2, 2, 2, 1), (3, 3, 3, NULL), (4, 4, 4, NULL);
UPDATE ordered_self SET code = code + 1 WHERE id > 2 ORDER BY code DESC, id LIMIT 2;
UPDATE ordered_self SET code = code + 1 WHERE id > 2 ORDER BY id LIMIT 1;
UPDATE ordered_self SET code = code + 10 ORDER BY id DESC LIMIT 4;
UPDATE ordered_self SET code = code + 10 ORDER BY id DESC LIMIT 3;
SELECT * FROM ordered_self ORDER BY id;
DELETE FROM ordered_self ORDER BY id LIMIT 2;
DELETE FROM ordered_self ORDER BY id DESC LIMIT 3;
DELETE FROM ordered_self ORDER BY id LIMIT 1;
SELECT * FROM ordered_self ORDER BY id;
DROP TABLE ordered_self;
