-- What chance makes once is one thing, and not one on every node group.
CREATE TABLE throws (id INT PRIMARY KEY, r INT);
CREATE TABLE sides (id INT PRIMARY KEY) COMMENT 'skarv:reference';
INSERT INTO sides WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n;
INSERT INTO throws WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 600) SELECT i, i % 100 + 1 FROM n;
SELECT COUNT(*) FROM throws, (SELECT id FROM sides ORDER BY RAND() LIMIT 1) p GROUP BY p.id;
SELECT COUNT(*) FROM throws t JOIN (SELECT id FROM sides ORDER BY RAND() LIMIT 1) p ON p.id = t.r GROUP BY p.id;
WITH p AS (SELECT id FROM sides ORDER BY RAND() LIMIT 1) SELECT COUNT(*) FROM throws t JOIN p ON t.id > 0 GROUP BY p.id;
SELECT r > 0, COUNT(*) FROM throws WHERE r IN (SELECT id FROM (SELECT id FROM sides ORDER BY RAND() LIMIT 1) z) GROUP BY r;
SELECT COUNT(*), COUNT(DISTINCT u) FROM (SELECT t.id, d.u FROM throws t JOIN (SELECT UUID() AS u) d) z;
SELECT t.id FROM throws t JOIN (SELECT UUID() AS u) d WHERE d.u > '' AND t.id < 6 ORDER BY t.id;
SELECT COUNT(*), COUNT(DISTINCT u) > 1 FROM (SELECT id, RAND() AS u FROM throws) z;
SELECT id FROM throws WHERE RAND() < 2 AND id < 4 ORDER BY id;
CREATE VIEW side AS SELECT id FROM sides ORDER BY RAND() LIMIT 1;
SELECT COUNT(*) FROM throws, side GROUP BY side.id;
-- copies of reference tables get one value
CREATE TABLE chance_ref (id INT PRIMARY KEY, u VARCHAR(60) DEFAULT (UUID()), v VARCHAR(160), g INT) COMMENT 'skarv:reference';
INSERT INTO chance_ref VALUES (1, '1', 'a', 1), (2, '2', 'b', 1), (3, '3', 'c', 2), (4, '4', 'd', 2);
UPDATE chance_ref SET u = DEFAULT WHERE id = 1;
-- only: mariadb
UPDATE chance_ref a JOIN chance_ref b ON a.id = b.id SET a.u = DEFAULT WHERE a.id = 2;
SELECT id, LENGTH(u) FROM chance_ref WHERE id <> 2 ORDER BY id;
-- refused: that would differ from copy to copy
INSERT INTO chance_ref (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = UUID();
-- refused: that would differ from copy to copy
INSERT INTO chance_ref (id, v) VALUES (1, 'x'), (2, 'y') ON DUPLICATE KEY UPDATE v = RAND();
-- refused: that would differ from copy to copy
INSERT INTO chance_ref (id, v) SELECT 1, 'x' ON DUPLICATE KEY UPDATE v = SYSDATE(6);
-- refused: that would differ from copy to copy
INSERT INTO chance_ref (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE u = DEFAULT;
-- refused: that would differ from copy to copy
INSERT INTO chance_ref (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = @@server_id;
-- refused: UPDATE and DELETE by system tables
UPDATE chance_ref SET v = (SELECT COUNT(*) FROM information_schema.processlist);
INSERT INTO chance_ref (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = CONCAT(v, 'y'), g = g + 1;
UPDATE chance_ref SET v = @@session.div_precision_increment, g = @@autocommit + g WHERE id = 3;
SELECT id, v, g FROM chance_ref ORDER BY id;
CREATE TABLE chance_seed (id INT PRIMARY KEY, n DOUBLE);
INSERT INTO chance_seed (id) VALUES (1), (2), (3), (4);
-- refused: RAND(seed) in ON DUPLICATE KEY UPDATE
INSERT INTO chance_seed (id) VALUES (1), (2), (3), (4) ON DUPLICATE KEY UPDATE n = RAND(5);
INSERT INTO chance_seed (id) VALUES (1) ON DUPLICATE KEY UPDATE n = RAND(5);
SELECT id, n FROM chance_seed ORDER BY id;
