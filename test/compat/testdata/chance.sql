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
