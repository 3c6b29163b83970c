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

-- An AVG that is needed as a DOUBLE is the quotient of two, on MariaDB.
CREATE TABLE averaged (id INT PRIMARY KEY, a INT, n DECIMAL(10,2), s VARCHAR(10));
INSERT INTO averaged VALUES (1,3,1,'a'),(2,2,0.67,'b'),(3,1,0.33,'c'),(4,3,1,'a'),(5,2,0.67,'b'),(6,1,0.33,'c'),(7,NULL,NULL,NULL),(8,8,2.67,'d'),(9,9,3,'e'),(10,10,3.33,'f'),(11,11,3.67,'g'),(12,13,4.33,'h'),(13,7,2.33,'i'),(14,5,1.67,'j');
SELECT AVG(a) * 13e0, AVG(a) * 13, AVG(n) * '13', AVG(a + 0) * 1e0 FROM averaged;
SELECT AVG(a) * 13e0, COUNT(DISTINCT s) FROM averaged;
SELECT IF(AVG(a) * 13e0 = 75, 'yes', 'no'), LEAST(AVG(a), '9'), AVG(a) BETWEEN '5.7692307692' AND '5.7692307693' FROM averaged;
SELECT SUM(a) FROM averaged HAVING AVG(a) * 13e0 = 75;
SELECT ROUND(AVG(a) * 1e12), SIN(AVG(a)), ROUND(AVG(a), 12), CONCAT(AVG(a) / 3) FROM averaged;
-- Expressions of words over information_schema are named by all of their text.
SELECT SCHEMA_NAME IS NOT NULL FROM information_schema.schemata WHERE SCHEMA_NAME = 'information_schema';
SELECT SCHEMA_NAME IS NULL AND TRUE, SCHEMA_NAME LIKE SCHEMA_NAME, NOT SCHEMA_NAME, SCHEMA_NAME OR SCHEMA_NAME FROM information_schema.schemata WHERE SCHEMA_NAME = 'information_schema';
SELECT schemata.SCHEMA_NAME, BINARY schemata.schema_name, s.`schema_name`, NULL, TRUE FROM information_schema.schemata JOIN (SELECT 1 AS schema_name) s WHERE schemata.SCHEMA_NAME = 'information_schema';
