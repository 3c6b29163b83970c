-- INSERT and REPLACE whose rows a server has to compute before it is known where they belong.
CREATE TABLE src (id INT PRIMARY KEY, a INT, s VARCHAR(20), d DATETIME, f DOUBLE);
INSERT INTO src VALUES (1, 10, 'one', '2024-01-01 10:00:00', 1.5), (2, 20, 'two', NULL, -0.25), (3, 30, 'three', '2024-03-03 03:03:03', 1e10), (4, 40, 'Four', '2024-04-04', NULL), (5, NULL, NULL, NULL, 0);
CREATE TABLE dst (k INT PRIMARY KEY, v VARCHAR(10) DEFAULT 'dflt', n DECIMAL(6,2), g INT AS (k * 2) STORED, UNIQUE KEY kv (k, v));
INSERT INTO dst (k, v) SELECT a, s FROM src WHERE a IS NOT NULL;
SELECT * FROM dst ORDER BY k;
INSERT INTO dst (k, n) SELECT a + 1, f FROM src WHERE a < 30;
INSERT INTO dst (k, n) SELECT a + 2, f FROM src WHERE a < 40 ORDER BY id LIMIT 3;
INSERT INTO dst (k) SELECT a FROM src WHERE id = 1;
INSERT IGNORE INTO dst (k, v) SELECT a, 'again' FROM src WHERE a >= 10;
INSERT IGNORE INTO dst (k, v) SELECT a + 5, CONCAT(s, s, s) FROM src WHERE a >= 10;
SELECT * FROM dst ORDER BY k;
REPLACE INTO dst (k, v) SELECT a, 'repl' FROM src WHERE a > 10;
REPLACE INTO dst (k, v) SELECT a + 100, 'repl' FROM src WHERE a > 10;
INSERT INTO dst (k, v) SELECT a, s FROM src WHERE a IS NOT NULL ON DUPLICATE KEY UPDATE v = 'dup', n = n + 1;
INSERT INTO dst (k, n) SELECT a, id FROM src WHERE a IS NOT NULL ON DUPLICATE KEY UPDATE n = VALUES(n) * 2;
INSERT INTO dst (k, n) SELECT a, id FROM src WHERE a IS NOT NULL ON DUPLICATE KEY UPDATE n = VALUES(n) * 2;
SELECT * FROM dst ORDER BY k;
INSERT INTO dst (k, v) SELECT k + 1000, v FROM dst;
INSERT INTO dst (k) SELECT MAX(k) + 1 FROM dst;
INSERT INTO dst (k) VALUES ((SELECT MAX(a) FROM src) + 3), (7);
INSERT INTO dst (k, v) VALUES ((SELECT a FROM src WHERE id = 2) + 7, (SELECT MIN(s) FROM src));
INSERT INTO dst SET k = (SELECT COUNT(*) FROM src), v = 'set';
SELECT k, v, n FROM dst ORDER BY k;
INSERT INTO dst (k, v) SELECT a, 'this is too long' FROM src WHERE id = 3;
INSERT INTO dst (k, v) SELECT 5000 + id, IF(id = 4, REPEAT('x', 30), 'ok') FROM src;
SELECT COUNT(*) FROM dst WHERE k >= 5000;
-- values that are not what is stored
INSERT INTO dst (k) VALUES ('8 ');
INSERT INTO dst (k, n) VALUES (1 + 200, k), (202, k + 1);
SELECT k, n FROM dst WHERE k > 200 AND k < 210 ORDER BY k;
-- AUTO_INCREMENT
CREATE TABLE ai (id INT AUTO_INCREMENT PRIMARY KEY, a INT, s VARCHAR(20));
INSERT INTO ai (a, s) SELECT a, s FROM src;
SELECT LAST_INSERT_ID();
SELECT id FROM ai ORDER BY id;
INSERT INTO ai (a) VALUES (1);
SELECT LAST_INSERT_ID();
INSERT INTO ai (a) SELECT 1 FROM src WHERE id = 1;
INSERT INTO ai SELECT 100 + id, a, s FROM src WHERE id < 3;
SELECT LAST_INSERT_ID();
INSERT INTO ai (id, a) SELECT IF(id = 2, 200, NULL), a FROM src WHERE id < 4;
SELECT LAST_INSERT_ID();
INSERT INTO ai (a) SELECT id FROM src WHERE id > 100;
INSERT INTO ai (a) VALUES (2), (3);
SELECT LAST_INSERT_ID();
INSERT IGNORE INTO ai (id, a) SELECT 100 + id, 1 FROM src WHERE id < 3;
SELECT id, a FROM ai ORDER BY id;
-- The numbers are those of the rows read, beside a column that has the time.
CREATE TABLE stamped (id INT AUTO_INCREMENT PRIMARY KEY, v INT, ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
INSERT INTO stamped (id, v) SELECT id, a FROM src WHERE id < 3;
INSERT LOW_PRIORITY IGNORE INTO stamped (id, v, ts) SELECT id, a, '2024-01-01 00:00:00' FROM src FORCE INDEX (PRIMARY) WHERE id >= 1 AND id < 5 LOCK IN SHARE MODE;
INSERT INTO stamped (v) VALUES (70);
INSERT INTO stamped (id, v) SELECT id, 5 FROM src WHERE id < 3 ON DUPLICATE KEY UPDATE v = VALUES(v);
SELECT id, v, ts > '2024-01-02' FROM stamped ORDER BY id;
INSERT IGNORE INTO stamped (id, v) VALUES (1, 1), (2, 2), (3, 3), (90, 4);
INSERT IGNORE INTO stamped (id, v) SELECT id, NULL FROM src WHERE id < 3 ORDER BY id DESC;
UPDATE stamped SET ts = NOW(), v = v / 0 WHERE id < 3;
-- no key
CREATE TABLE nokey (a INT, s VARCHAR(20));
INSERT INTO nokey SELECT a, s FROM src;
INSERT INTO nokey SELECT * FROM nokey;
SELECT * FROM nokey ORDER BY a, s;
-- types and collations of the key
CREATE TABLE te (e ENUM('x', 'y', 'three') PRIMARY KEY, n INT);
INSERT INTO te SELECT s, a FROM src WHERE id = 3;
INSERT INTO te SELECT id, a FROM src WHERE id < 3;
INSERT INTO te SELECT s, a FROM src WHERE id = 1;
SELECT * FROM te ORDER BY n;
SELECT * FROM te WHERE e = 'three';
CREATE TABLE td (d DECIMAL(5,1) PRIMARY KEY, n INT);
INSERT INTO td SELECT f, a FROM src WHERE id IN (1, 2, 5);
SELECT * FROM td ORDER BY d;
SELECT * FROM td WHERE d = 1.5;
CREATE TABLE tdt (d DATE PRIMARY KEY, n INT);
INSERT INTO tdt SELECT d, a FROM src WHERE d IS NOT NULL;
INSERT INTO tdt SELECT '2024-01-01', 5;
SELECT * FROM tdt WHERE d = '2024-03-03';
SELECT * FROM tdt ORDER BY d;
CREATE TABLE ts (s VARCHAR(20) PRIMARY KEY, n INT);
INSERT INTO ts SELECT s, a FROM src WHERE s IS NOT NULL;
INSERT INTO ts SELECT UPPER(s), 1 FROM src WHERE id = 4;
INSERT IGNORE INTO ts SELECT UPPER(s), 1 FROM src WHERE s IS NOT NULL;
SELECT * FROM ts WHERE s = 'FOUR';
-- transactions
BEGIN;
INSERT INTO ts SELECT CONCAT(s, '2'), a FROM src WHERE id < 3;
INSERT INTO ts SELECT s, a FROM src WHERE id < 3;
SELECT * FROM ts ORDER BY s;
ROLLBACK;
SELECT * FROM ts ORDER BY s;
-- user variables
SET @n = 0;
INSERT INTO ts SELECT CONCAT('v', @n := @n + 1), id FROM src ORDER BY id;
SELECT @n;
SELECT * FROM ts WHERE s LIKE 'v%' ORDER BY s;
INSERT INTO ts VALUES (CONCAT('w', @n := @n + 1), 1), (CONCAT('w', @n := @n + 1), 2);
SELECT * FROM ts WHERE s LIKE 'w%' ORDER BY s;
-- a reference table
CREATE TABLE rr (id INT PRIMARY KEY, s VARCHAR(20)) COMMENT 'skarv:reference';
INSERT INTO rr SELECT id, s FROM src;
REPLACE INTO rr SELECT id, 'r' FROM src WHERE id < 3;
SELECT * FROM rr ORDER BY id;
-- only: mysql
INSERT INTO dst (k, v) TABLE ts LIMIT 0;
-- ON DUPLICATE KEY UPDATE with columns of the query
CREATE TABLE more (id INT PRIMARY KEY, k INT, n DECIMAL(6,2), big BIGINT, v VARCHAR(10), w VARCHAR(30) NOT NULL DEFAULT '');
INSERT INTO more VALUES (1, 10, 1.25, 7, 'ten', 'x'), (2, 20, NULL, 8, NULL, 'y'), (3, 9999, -3, 9, 'new', 'z');
INSERT INTO dst (k, n) SELECT more.k, more.n FROM more WHERE more.k IS NOT NULL ON DUPLICATE KEY UPDATE dst.n = COALESCE(dst.n, 0) + more.n;
SELECT k, v, n FROM dst WHERE k IN (10, 20, 9999) ORDER BY k;
INSERT INTO dst (k, n, v) SELECT m.k + 0, m.n, m.v FROM more AS m JOIN src ON src.id = m.id ORDER BY m.id ON DUPLICATE KEY UPDATE dst.v = CONCAT(m.v, '!'), n = IF(m.n > 0, `m`.`n` * 2, dst.n), dst.n = dst.n + 1;
SELECT k, v, n FROM dst WHERE k IN (10, 20, 9999) ORDER BY k;
-- refused: a column that is not inserted
INSERT INTO dst (k, n) SELECT m.k + 0, m.n FROM more AS m ON DUPLICATE KEY UPDATE v = m.v;
-- refused: a column that is inserted into one of another type
INSERT INTO dst (k, n) SELECT m.k + 0, m.big FROM more AS m ON DUPLICATE KEY UPDATE n = m.big;
-- refused: NULL is not what is inserted
INSERT IGNORE INTO more (id, k, w) SELECT s.a, s.id, s.s FROM src AS s WHERE s.a IS NOT NULL ON DUPLICATE KEY UPDATE v = s.s;
SELECT k, v, n FROM dst WHERE k IN (10, 20, 9999) ORDER BY k;
-- what follows INSERT ... SET
CREATE TABLE ins (id INT DEFAULT 4, a INT DEFAULT 9, s VARCHAR(10), PRIMARY KEY (id));
INSERT INTO ins SET id = 1, a = 2;
INSERT INTO ins SET a = 3, id = ins.a;
INSERT INTO ins SET id = ins.a + 7;
INSERT INTO ins (a, id) VALUES (30, ins.a + 1);
-- only: mariadb
INSERT INTO ins SET id = 5, s = 'x' RETURNING id, s, a + 1;
-- only: mariadb
REPLACE INTO ins SET id = 5, s = 'y' RETURNING *;
-- only: mariadb
INSERT IGNORE INTO ins SET id = 5 ON DUPLICATE KEY UPDATE s = 'z' RETURNING s;
INSERT INTO ins SET id = 5, s = CAST('9' AS CHAR(3)) ON DUPLICATE KEY UPDATE s = VALUES(s);
SELECT * FROM ins ORDER BY id;
-- A unique key that serves as the primary key.
CREATE TABLE lonely (i INT NOT NULL, UNIQUE (i));
CREATE TABLE feeds (id INT PRIMARY KEY, i INT NOT NULL, v INT);
INSERT INTO feeds VALUES (1, 1, 1), (2, 1, 3), (3, 2, 1), (4, 7, 1);
INSERT INTO lonely SELECT DISTINCT i FROM feeds;
SELECT * FROM lonely ORDER BY i;
INSERT INTO lonely SELECT DISTINCT i + 1 FROM feeds;
-- Assignments of ON DUPLICATE KEY UPDATE are no tables.
CREATE TABLE kept (id INT PRIMARY KEY, c1 INT NOT NULL, cnt INT DEFAULT 1);
CREATE TABLE fed (id INT PRIMARY KEY, c1 INT);
INSERT INTO kept (id, c1) VALUES (1, 10);
INSERT INTO fed VALUES (1, NULL), (2, 2);
INSERT IGNORE INTO kept (id, c1) SELECT * FROM fed ON DUPLICATE KEY UPDATE c1 = NULL, cnt = cnt + 1;
SELECT * FROM kept ORDER BY id;
INSERT INTO kept (id, c1) SELECT id, id FROM fed ON DUPLICATE KEY UPDATE c1 = VALUES(c1) + 5, cnt = cnt + 1;
SELECT * FROM kept ORDER BY id;
DROP TABLE lonely, feeds, kept, fed;
-- VALUES() is of a column of the table, not of the query.
CREATE TABLE vtarget (x INT PRIMARY KEY, y INT);
CREATE TABLE vsource (x INT PRIMARY KEY, z INT);
INSERT INTO vsource VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO vtarget VALUES (1, 10), (2, 20);
INSERT INTO vtarget (x, y) SELECT x, z FROM vsource ON DUPLICATE KEY UPDATE y = VALUES(z);
INSERT INTO vtarget (x, y) SELECT x, z FROM vsource ON DUPLICATE KEY UPDATE y = VALUES(vsource.x);
INSERT INTO vtarget (x, y) SELECT x, z FROM vsource ON DUPLICATE KEY UPDATE y = VALUES(y) + z;
SELECT * FROM vtarget ORDER BY x;
-- Defaults of TEXT and BLOB, which MariaDB forgets when it alters a temporary table.
-- only: mariadb
CREATE TABLE longs (k INT PRIMARY KEY, t TEXT DEFAULT 'some text', b BLOB DEFAULT x'00ff', n TEXT);
-- only: mysql
CREATE TABLE longs (k INT PRIMARY KEY, t TEXT DEFAULT ('some text'), b BLOB DEFAULT (x'00ff'), n TEXT);
INSERT INTO longs (k) SELECT x.id + 100 FROM src x LEFT JOIN src y ON x.a = y.id;
INSERT INTO longs (k, t) SELECT x.id + 200, x.s FROM src x LEFT JOIN src y ON x.a = y.id ORDER BY x.id;
SELECT k, t, HEX(b), n FROM longs ORDER BY k;
