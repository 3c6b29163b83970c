-- Rows of queries that are more than a statement of ours takes (256 KB): several batches for a node group, which join one after the other.
CREATE TABLE mb_src (id INT PRIMARY KEY, v VARCHAR(4000));
INSERT INTO mb_src WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 400) SELECT i, REPEAT('x', 3900) FROM q;
CREATE TABLE mb_ref (id INT PRIMARY KEY, v VARCHAR(4000)) COMMENT 'skarv:reference';
INSERT INTO mb_ref VALUES (1, 'old'), (2, 'old'), (3, 'old'), (350, 'old');
-- warnings in several batches
INSERT IGNORE INTO mb_ref SELECT * FROM mb_src;
SELECT COUNT(*), SUM(id), MIN(v), MAX(id) FROM mb_ref;
SELECT r.id, LENGTH(r.v) FROM mb_ref r JOIN mb_src s ON s.id = r.id WHERE r.id IN (1, 67, 68, 69, 350) ORDER BY r.id;
CREATE TABLE mb_many (id INT PRIMARY KEY, v VARCHAR(3) NOT NULL, e ENUM('a','b'), w VARCHAR(4000)) COMMENT 'skarv:reference';
INSERT IGNORE INTO mb_many SELECT id, CONCAT(id, 'abc'), NULLIF(id % 3, 2) + 1, v FROM mb_src;
SELECT COUNT(*), SUM(id), SUM(LENGTH(w)), MIN(v), MAX(v) FROM mb_many;
-- a row is more than a batch
CREATE TABLE mb_big (id INT PRIMARY KEY, bl LONGTEXT);
INSERT INTO mb_big WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 40) SELECT i, REPEAT('x', 70000) FROM q;
INSERT INTO mb_big WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 12) SELECT 100 + i, REPEAT('y', 300000) FROM q;
INSERT INTO mb_big WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 12) SELECT 98 + i, REPEAT('z', 300000) FROM q;
INSERT IGNORE INTO mb_big WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 24) SELECT 98 + i, REPEAT('z', 300000) FROM q;
SELECT COUNT(*), SUM(id), SUM(LENGTH(bl)), MIN(bl) = REPEAT('x', 70000) FROM mb_big;
START TRANSACTION;
REPLACE INTO mb_big WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 12) SELECT 118 + i, REPEAT('z', 300000) FROM q;
INSERT INTO mb_big WITH RECURSIVE q AS (SELECT 1 i UNION ALL SELECT i + 1 FROM q WHERE i < 12) SELECT 125 + i, REPEAT('w', 300000) FROM q ON DUPLICATE KEY UPDATE bl = 'dup';
SELECT COUNT(*), SUM(id), SUM(LENGTH(bl)), MIN(bl) FROM mb_big;
UPDATE mb_big b JOIN (SELECT id + 1 i FROM mb_src) s ON s.i = b.id SET b.bl = REPEAT(b.id, 90000);
UPDATE mb_big SET id = id + 1000 WHERE id > 100;
DELETE FROM b USING mb_big b, mb_src s WHERE s.id + 1000 = b.id AND b.id % 2;
SELECT COUNT(*), SUM(id), SUM(LENGTH(bl)), MIN(bl) = REPEAT('10', 90000) FROM mb_big;
ROLLBACK;
SELECT COUNT(*), SUM(id), SUM(LENGTH(bl)) FROM mb_big;
