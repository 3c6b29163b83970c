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
-- refused: writing through views
UPDATE v1 SET name = 'bb' WHERE id = 2;
SELECT * FROM t ORDER BY id;
-- refused: writing through views
UPDATE v1 SET name = CONCAT(name, '!');
SELECT * FROM t ORDER BY id;
-- refused: writing through views
DELETE FROM v1 WHERE id = 1;
-- refused: writing through views
INSERT INTO v1 (id, name, g) VALUES (7, 'g', 1), (8, 'h', 9);
SELECT * FROM t ORDER BY id;
UPDATE v2 SET b = 1;
INSERT INTO v2 VALUES (1, 2);
CREATE VIEW c1 AS SELECT * FROM t WHERE g < 5 WITH CHECK OPTION;
-- refused: writing through views
INSERT INTO c1 VALUES (20, 1, 'ok');
-- refused: writing through views
INSERT INTO c1 VALUES (21, 7, 'no');
-- refused: writing through views
UPDATE c1 SET g = 8 WHERE id = 20;
SELECT * FROM c1 ORDER BY id;
-- refused: writing through views
DELETE FROM c1;
SELECT COUNT(*) FROM t;
SELECT * FROM v1 a JOIN v1 b ON a.id = b.id;
CREATE VIEW bad AS SELECT nothing FROM t;
CREATE VIEW bad AS SELECT * FROM nothing;
DROP TABLE v1;
DROP TABLE nothing, v1;
DROP TABLE IF EXISTS v1;
SHOW WARNINGS;
DROP VIEW t;
DROP VIEW IF EXISTS t;
DROP VIEW v1, nothing, t;
SELECT COUNT(*) FROM v1;
DROP VIEW v1, v2;
SELECT * FROM v3;
DROP VIEW IF EXISTS v1;
DROP VIEW v1;
DROP VIEW v3, v4, v5, c1;
SHOW TABLES;
