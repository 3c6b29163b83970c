CREATE TABLE t (id INT PRIMARY KEY, g INT, v VARCHAR(20));
CREATE TABLE u (id INT PRIMARY KEY, tid INT, n INT);
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'd'), (5, 3, 'e');
INSERT INTO u VALUES (1, 1, 10), (2, 1, 20), (3, 3, 30), (4, 9, 40);
CREATE VIEW v1 AS SELECT id, v AS name FROM t WHERE g < 3;
CREATE VIEW v1 AS SELECT 1;
CREATE OR REPLACE VIEW v1 AS SELECT id, v AS name, g FROM t WHERE g < 3;
SELECT * FROM v1 ORDER BY id;
SELECT name FROM v1 WHERE id = 2;
SELECT COUNT(*), MAX(name) FROM v1;
SELECT g, COUNT(*) FROM v1 GROUP BY g ORDER BY g;
CREATE VIEW v2 (a, b) AS SELECT g, COUNT(*) FROM t GROUP BY g;
SELECT * FROM v2 ORDER BY a;
SELECT SUM(b) FROM v2;
SELECT t.id, v2.b FROM t JOIN v2 ON t.g = v2.a ORDER BY t.id;
CREATE VIEW v3 AS SELECT v1.id, u.n FROM v1 JOIN u ON u.tid = v1.id;
SELECT * FROM v3 ORDER BY id, n;
SELECT v3.n, t.v FROM v3 JOIN t ON t.id = v3.id ORDER BY 1;
CREATE ALGORITHM = TEMPTABLE VIEW v4 AS SELECT id, g FROM t;
SELECT * FROM v4 WHERE id = 3;
CREATE ALGORITHM = MERGE SQL SECURITY INVOKER VIEW v5 AS SELECT id FROM t ORDER BY id DESC LIMIT 2;
SELECT * FROM v5 ORDER BY id;
ALTER VIEW v5 AS SELECT id, g FROM t;
SELECT * FROM v5 ORDER BY id;
SHOW TABLES;
SHOW FULL TABLES;
SHOW COLUMNS FROM v1;
DESCRIBE v2;
SELECT table_name, check_option, is_updatable, security_type FROM information_schema.views WHERE table_schema = 'compat' ORDER BY 1;
UPDATE v1 SET name = 'bb' WHERE id = 2;
SELECT * FROM t ORDER BY id;
UPDATE v1 SET name = CONCAT(name, '!');
UPDATE v1 SET name = 'none' WHERE id = 5;
UPDATE v1 AS q SET q.name = CONCAT(q.name, '?'), g = q.g + 0 WHERE q.id IN (1, 3) OR v = 1;
UPDATE v1 AS q SET q.name = CONCAT(q.name, '?'), g = q.g + 0 WHERE q.id IN (1, 3) OR q.name = 'x';
UPDATE compat.v1 SET name = 'lim' ORDER BY id LIMIT 1;
UPDATE v1 SET g = 9 WHERE id = 4;
UPDATE v1 SET name = 'gone' WHERE id = 4;
SELECT * FROM t ORDER BY id;
UPDATE v1 SET v = 'hidden';
UPDATE v1 SET name = 'x' WHERE v = 'a';
UPDATE v1 SET nothing = 1;
DELETE FROM v1 WHERE id = 1;
DELETE FROM v1 WHERE name LIKE 'b%' AND g = 1;
INSERT INTO v1 (id, name, g) VALUES (7, 'g', 1), (8, 'h', 9);
INSERT INTO v1 VALUES (10, 'full', 1);
INSERT INTO v1 (g, id) VALUES (2, 11);
INSERT INTO v1 (id, name) SELECT id + 20, name FROM v1;
INSERT INTO v1 (id, v) VALUES (50, 'x');
INSERT INTO v1 (id, name) VALUES (7, 'dup');
REPLACE INTO v1 (id, name, g) VALUES (7, 'rep', 1), (12, 'new', 2);
INSERT IGNORE INTO v1 (id, name, g) VALUES (7, 'ign', 1), (13, 'new', 2);
SELECT * FROM t ORDER BY id;
-- refused: ON DUPLICATE KEY UPDATE through a view
INSERT INTO v1 (id, name, g) VALUES (7, 'x', 1) ON DUPLICATE KEY UPDATE name = 'y';
DELETE FROM v1 WHERE id > 20;
DELETE FROM v1 ORDER BY id DESC LIMIT 1;
SELECT * FROM t ORDER BY id;
UPDATE v2 SET b = 1;
INSERT INTO v2 VALUES (1, 2);
UPDATE v4 SET g = 1;
CREATE VIEW e1 (id, up, total) AS SELECT id, UPPER(v), g * 2 FROM t WHERE v IS NOT NULL OR g > 1;
UPDATE e1 SET id = id WHERE up = 'C!' AND total > 1;
UPDATE e1 SET up = 'x' WHERE id = 3;
-- only: mariadb
-- refused: a view with expressions
INSERT INTO e1 (id) VALUES (60);
DELETE FROM e1 WHERE total = 4 AND up = 'NEW';
SELECT * FROM e1 ORDER BY id;
CREATE VIEW part AS SELECT id, g FROM t;
INSERT INTO part VALUES (70, 7);
INSERT INTO part VALUES (71, 7), (72, 8);
UPDATE part SET g = g + 1 WHERE id = 70;
SET updatable_views_with_limit = NO;
-- refused: whether the view has a key
DELETE FROM part WHERE id > 1000 LIMIT 1;
DELETE FROM part WHERE id > 1000;
SET updatable_views_with_limit = YES;
DELETE FROM part WHERE id > 1000 LIMIT 1;
CREATE VIEW joined AS SELECT t.id, t.v, u.n FROM t JOIN u ON u.tid = t.id;
UPDATE joined SET n = 5 WHERE id = 3;
DELETE FROM joined WHERE id = 3;
CREATE VIEW below AS SELECT id, g FROM part WHERE g > 5;
UPDATE below SET g = 6 WHERE id = 71;
UPDATE below SET g = 4 WHERE g = 6;
UPDATE below SET g = 9 WHERE id = 71;
INSERT INTO below VALUES (73, 9), (74, 1);
INSERT INTO below (g, id) VALUES (11, 75);
REPLACE INTO below (id, g) VALUES (73, 10);
UPDATE below SET nothing = 1;
UPDATE below AS b SET b.g = b.g + 1 WHERE b.id > 70 ORDER BY b.id LIMIT 1;
DELETE FROM below WHERE id = 75;
SELECT * FROM below ORDER BY id;
CREATE VIEW deeper (k, h) AS SELECT id, g FROM below WHERE id < 100;
UPDATE deeper SET h = h + 1 WHERE k = 73;
DELETE FROM deeper WHERE k = 73;
CREATE VIEW overe AS SELECT id, up FROM e1;
UPDATE overe SET up = 'x' WHERE id = 3;
DELETE FROM overe WHERE id = 1000;
CREATE VIEW overjoin AS SELECT id, n FROM joined;
UPDATE overjoin SET n = 5 WHERE id = 3;
CREATE VIEW checked AS SELECT id, g FROM below WHERE id < 1000 WITH CHECK OPTION;
-- refused: the views below are checked, too
UPDATE checked SET g = 1 WHERE id = 71;
CREATE VIEW overgroup AS SELECT a FROM v2;
UPDATE overgroup SET a = 1;
CREATE VIEW c2 AS SELECT * FROM t WHERE g < 50 WITH CHECK OPTION;
CREATE VIEW overc2 AS SELECT id, g, v FROM c2;
UPDATE overc2 SET v = 'over' WHERE id = 2;
UPDATE overc2 SET g = 60 WHERE id = 2;
UPDATE overc2 SET g = 49 WHERE id = 2;
SELECT * FROM t ORDER BY id;
DROP VIEW deeper, overe, overjoin, checked, overgroup, overc2, c2;
CREATE VIEW c1 AS SELECT * FROM t WHERE g < 5 WITH CHECK OPTION;
INSERT INTO c1 (id, g, v) VALUES (20, 1, 'ok');
INSERT INTO c1 (id, g, v) VALUES (21, 7, 'no');
INSERT INTO c1 (id, g, v) VALUES (222, 2, 'yes'), (223, NULL, 'no');
UPDATE c1 SET g = 8 WHERE id = 20;
UPDATE c1 SET g = g + 1;
UPDATE c1 SET g = 4, v = 'in' WHERE id = 20;
-- refused: which rows are left out
INSERT IGNORE INTO c1 (id, g, v) VALUES (24, 2, 'yes'), (25, 9, 'no');
SELECT * FROM t ORDER BY id;
DELETE FROM c1 WHERE id = 20;
UPDATE c1 SET v = 'checked' WHERE id = 3;
SELECT * FROM c1 ORDER BY id;
DELETE FROM c1 WHERE id = 3;
DELETE FROM c1;
SELECT COUNT(*) FROM t;
SELECT * FROM t ORDER BY id;
SELECT * FROM v1 a JOIN v1 b ON a.id = b.id;
CREATE VIEW bad AS SELECT nothing FROM t;
CREATE VIEW bad AS SELECT * FROM nothing;
DROP TABLE v1;
DROP TABLE nothing, v1;
DROP TABLE IF EXISTS v1;
SHOW WARNINGS;
DROP VIEW t;
-- sent: warnings, that a table is no view is told once
-- sent: warning count, the same
DROP VIEW IF EXISTS t;
DROP VIEW v1, nothing, t;
SELECT COUNT(*) FROM v1;
DROP VIEW v1, v2;
SELECT * FROM v3;
DROP VIEW IF EXISTS v1;
DROP VIEW v1;
DROP VIEW v3, v4, v5, c1, e1, part, joined, below;
SHOW TABLES;
-- A column with another collation is a column all the same.
CREATE TABLE collated (id INT PRIMARY KEY, s VARCHAR(5));
CREATE VIEW vcollated AS SELECT id, s COLLATE utf8mb4_bin AS s FROM collated;
-- refused: write to the table
UPDATE vcollated SET s = 'b';
DROP VIEW vcollated;

-- What speaks of the client is no part of a view: the servers know Skarv's own accounts and connections only.
CREATE TABLE seen (id INT PRIMARY KEY, w VARCHAR(80));
INSERT INTO seen VALUES (1, USER()), (2, NULL);
-- refused: the servers know their own accounts and connections only
CREATE VIEW who AS SELECT * FROM seen WHERE w = USER();
-- refused: the servers know their own accounts and connections only
CREATE VIEW who AS SELECT CURRENT_USER AS a;
-- refused: the servers know their own accounts and connections only
CREATE OR REPLACE VIEW who AS SELECT id, SUBSTRING_INDEX(SESSION_USER(), '@', 1) AS a FROM seen;
-- refused: the servers know their own accounts and connections only
CREATE VIEW who AS SELECT * FROM seen WHERE id = CONNECTION_ID();
-- refused: the servers know their own accounts and connections only
CREATE VIEW who AS SELECT LAST_INSERT_ID() AS a;
CREATE VIEW who AS SELECT DATABASE() AS a, id AS user FROM seen;
SELECT a, user FROM who ORDER BY user;
