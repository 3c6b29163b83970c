-- What test/logic found, made small.
CREATE TABLE t4 (code VARCHAR(12), a INT, PRIMARY KEY (code));
INSERT INTO t4 VALUES ('ann', 1), ('bob', 2), ('cid', NULL);
INSERT IGNORE INTO t4 (code, a) VALUES (NULL, 2);
INSERT IGNORE INTO t4 (code, a) VALUES ('dan', 1), (NULL, 3), ('eve', 1);
SELECT * FROM t4;
SELECT * FROM t4 WHERE code = '';
INSERT INTO t4 (code, a) VALUES ('fay', 1), (NULL, 2);
INSERT INTO t4 (code, a) VALUES (NULL, 2);
REPLACE INTO t4 (code, a) VALUES (CONCAT('a', NULL), 2), ('gus', 4);
SELECT * FROM t4;
SELECT code FROM t4 WHERE a = 2;
CREATE TABLE t3 (a INT, b SMALLINT, s VARCHAR(10), PRIMARY KEY (a, b));
INSERT IGNORE INTO t3 VALUES (1, NULL, 'x'), (NULL, 2, 'y'), (3, 3, 'z');
INSERT IGNORE INTO t3 VALUES (NULL, NULL, 'x');
SELECT * FROM t3 WHERE a = 0 AND b = 2;
SELECT * FROM t3 ORDER BY a, b;
INSERT INTO t3 VALUES (4, 4, 'x'), (NULL, 2, 'y');
SELECT * FROM t3 ORDER BY a, b;
CREATE TABLE td (d DATE PRIMARY KEY, b INT);
INSERT INTO td VALUES (NULL, 1);
INSERT IGNORE INTO td VALUES (NULL, 1);
CREATE TABLE t8 (id INT AUTO_INCREMENT PRIMARY KEY, b INT);
INSERT INTO t8 (id, b) VALUES (9, 3), (-1, 4), (2, 5), (-7, 5);
INSERT INTO t8 (id, b) VALUES (10, 3), (-2, 4), (3, 5), (8, 5);
SELECT * FROM t8 ORDER BY id;
CREATE TABLE tn (id INT PRIMARY KEY, v INT NOT NULL);
SET sql_mode = '';
INSERT INTO tn VALUES (1, 1), (2, NULL), (3, 3), (4, NULL), (5, 5);
-- A table that is written and read in one statement.
CREATE TABLE w1 (id INT PRIMARY KEY, a INT, d DECIMAL(8,2));
INSERT INTO w1 VALUES (1, 1, 0), (16, 0, 1.5), (17, 16, NULL);
DELETE t FROM w1 t JOIN w1 o ON t.a = o.id;
SELECT * FROM w1 ORDER BY id;
INSERT INTO w1 VALUES (1, 1, 0), (2, 16, 1);
UPDATE w1 t LEFT JOIN w1 o ON t.a = o.id SET t.d = 5 WHERE o.id IS NULL;
SELECT * FROM w1 ORDER BY id;
CREATE TABLE w2 (id INT AUTO_INCREMENT PRIMARY KEY, a INT);
INSERT INTO w2 (id, a) SELECT a + 30, 1 FROM w1 WHERE id = 1 ON DUPLICATE KEY UPDATE a = 5;
INSERT INTO w2 (id, a) SELECT a + 40, 1 FROM w1 WHERE id = 1;
-- only: mariadb
-- refused: on one server the second row sees the first
INSERT INTO w2 (id, a) VALUES ((SELECT MAX(id) + 1 FROM w2), 1), ((SELECT MAX(id) + 2 FROM w2), 1);
