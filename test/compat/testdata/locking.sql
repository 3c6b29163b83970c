-- Reads that lock rows of several node groups.
CREATE TABLE m (id INT PRIMARY KEY, a INT, b VARCHAR(20));
CREATE TABLE n (id INT PRIMARY KEY, mid INT, v VARCHAR(20));
CREATE TABLE r (id INT PRIMARY KEY, t VARCHAR(10)) COMMENT 'skarv:reference';
INSERT INTO m VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, 40, 'four'), (5, 50, 'five'), (6, 10, 'six');
INSERT INTO n VALUES (1, 2, 'x'), (2, 3, 'y'), (3, 3, 'z'), (4, 9, 'w');
INSERT INTO r VALUES (1, 'r1'), (2, 'r2');
SELECT * FROM m WHERE a > 15 FOR UPDATE;
SELECT * FROM m ORDER BY a DESC, id FOR UPDATE;
SELECT * FROM m ORDER BY a DESC, id LIMIT 3 FOR UPDATE;
SELECT a, COUNT(*) FROM m GROUP BY a ORDER BY a FOR UPDATE;
SELECT COUNT(*), MAX(a) FROM m FOR UPDATE;
SELECT * FROM m WHERE a > 15 LOCK IN SHARE MODE;
SELECT * FROM m WHERE id IN (1, 2, 3) ORDER BY id FOR UPDATE;
-- only: mysql
SELECT * FROM m WHERE a > 15 ORDER BY id FOR SHARE;
SELECT * FROM m WHERE a > 15 ORDER BY id FOR UPDATE SKIP LOCKED;
SELECT * FROM m WHERE a > 15 ORDER BY id FOR UPDATE NOWAIT;
-- only: mysql
SELECT * FROM m WHERE a > 15 ORDER BY id FOR UPDATE OF m SKIP LOCKED;
SELECT m.id, n.v FROM m JOIN n ON n.mid = m.id ORDER BY n.id FOR UPDATE;
SELECT m.id, n.v FROM m LEFT JOIN n ON n.mid = m.id ORDER BY m.id, n.id FOR UPDATE;
-- only: mysql
SELECT m.id, n.v FROM m JOIN n ON n.mid = m.id ORDER BY n.id FOR UPDATE OF m;
-- only: mysql
-- refused: two clauses that lock
SELECT m.id, n.v FROM m JOIN n ON n.mid = m.id ORDER BY n.id FOR UPDATE OF m FOR SHARE OF n;
SELECT m.id, r.t FROM m JOIN r ON r.id = m.id ORDER BY m.id FOR UPDATE;
SELECT * FROM m WHERE id IN (SELECT mid FROM n) ORDER BY id FOR UPDATE;
SELECT DISTINCT a FROM m ORDER BY a FOR UPDATE;
BEGIN;
SELECT * FROM m WHERE a > 15 ORDER BY id FOR UPDATE;
UPDATE m SET b = CONCAT(b, '*') WHERE a > 15;
SELECT m.id, n.v FROM m JOIN n ON n.mid = m.id ORDER BY n.id FOR UPDATE;
COMMIT;
SELECT * FROM m ORDER BY id;
-- only: mariadb
INSERT INTO m (id, a, b) VALUES (11, 1, 'x'), (12, 2, 'y'), (13, 3, 'z') RETURNING id, a * 2, b;
-- only: mariadb
INSERT INTO m (id, a, b) VALUES (14, 1, 'x') RETURNING *;
-- only: mariadb
INSERT INTO m (id, a, b) SELECT id + 20, a, b FROM m WHERE id > 10 RETURNING id, b;
-- only: mariadb
REPLACE INTO m (id, a, b) VALUES (11, 5, 'r'), (12, 6, 's'), (40, 7, 't') RETURNING id, a;
-- only: mariadb
INSERT INTO m (id, a) VALUES (11, 5), (50, 6) ON DUPLICATE KEY UPDATE a = a + 1 RETURNING id, a;
-- only: mariadb
INSERT IGNORE INTO m (id, a) VALUES (11, 5), (51, 6), (52, 7) RETURNING id, a;
-- only: mariadb
DELETE FROM m WHERE id > 30 RETURNING id, b;
-- only: mariadb
DELETE FROM m WHERE id > 20 ORDER BY id LIMIT 2 RETURNING id;
-- only: mariadb
DELETE FROM m WHERE id = 11 RETURNING *;
-- only: mariadb
DELETE FROM m WHERE id > 1000 RETURNING *;
-- A server that sees that no row can match answers without columns: here some do, and all.
INSERT INTO m (id, a, b) VALUES (4, 1, 'x'), (5, 2, 'y'), (20, 3, 'z'), (21, 4, 'w');
-- only: mariadb
DELETE FROM m WHERE id IN (4, 20, 4, 5) AND id <=> 5 RETURNING id, 4;
-- only: mariadb
DELETE FROM m WHERE id IN (4, 20, 21) AND id < 5 RETURNING *;
-- only: mariadb
DELETE FROM m WHERE id IN (4, 20, 21) AND id < 4 RETURNING *;
-- only: mariadb
DELETE FROM m WHERE id > 3 AND 1 = 0 RETURNING *;
-- only: mariadb
DELETE FROM m WHERE id > 3 LIMIT 0 RETURNING *;
SELECT * FROM m ORDER BY id;
CREATE TABLE ai (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10));
-- only: mariadb
INSERT INTO ai (s) VALUES ('a'), ('b'), ('c') RETURNING id, s;
SELECT LAST_INSERT_ID();
-- What RETURNING says of a row is said by the server that has it.
-- only: mariadb
CREATE TABLE back (id INT PRIMARY KEY AUTO_INCREMENT, a INT);
-- only: mariadb
CREATE TABLE there (id INT PRIMARY KEY, n INT);
-- only: mariadb
INSERT INTO there VALUES (1, 100);
-- only: mariadb
INSERT INTO back SET id = 2, a = 5 RETURNING id, a + 1 AS b;
-- only: mariadb
INSERT INTO back SET a = 6 RETURNING *;
-- only: mariadb
INSERT IGNORE INTO back SET id = 2, a = 7 RETURNING *;
-- only: mariadb
-- refused: its rows lie elsewhere
INSERT INTO back VALUES (11, 1), (12, 2), (13, 3) RETURNING id, (SELECT id + n FROM there WHERE there.id = 1);
-- only: mariadb
SELECT * FROM back ORDER BY id;
-- only: mariadb
DROP TABLE back, there;
