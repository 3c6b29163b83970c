-- || concatenates with PIPES_AS_CONCAT, which ANSI and ORACLE have in them.
CREATE TABLE pipe (id INT PRIMARY KEY, a VARCHAR(20), b VARCHAR(20), n INT);
CREATE TABLE pipe_other (id INT PRIMARY KEY, k VARCHAR(50) UNIQUE);
SET sql_mode = 'STRICT_TRANS_TABLES,PIPES_AS_CONCAT';
INSERT INTO pipe VALUES (1, 'a' || 'b', 'x' || 1 || 2, 1), (2, NULL || 'x', 'y', 2), (3, 'c', 'd', 3), (4, 'e', NULL, 4);
INSERT INTO pipe_other VALUES (1, 'ab' || 'x12'), (2, 'c' || 'd');
INSERT INTO pipe (id, a) VALUES (4 || 4, 'f' || 'g') ON DUPLICATE KEY UPDATE b = a || 'again';
INSERT INTO pipe (id, a) VALUES (44, 'f') ON DUPLICATE KEY UPDATE b = a || 'again';
SELECT id, a || b, a || ':' || n, n || n + 1, -n || 1, 2 * n || 1 FROM pipe ORDER BY id;
SELECT a || b FROM pipe WHERE id = 1;
SELECT id FROM pipe WHERE a || b = 'cd' OR a || b IS NULL ORDER BY id;
SELECT p.id, o.id FROM pipe p JOIN pipe_other o ON o.k = p.a || p.b ORDER BY p.id;
SELECT p.id, o.id FROM pipe p LEFT JOIN pipe_other o ON o.k = p.a || p.b ORDER BY p.id;
SELECT a || '-' AS x, COUNT(*), MAX(a || b) FROM pipe GROUP BY a || '-' ORDER BY x;
SELECT DISTINCT n % 2 || '.' FROM pipe WHERE n > 0 ORDER BY 1;
SELECT GROUP_CONCAT(a || 'q' ORDER BY id) FROM pipe;
SELECT a || 'z' FROM pipe ORDER BY a || 'z' DESC LIMIT 2;
SELECT NOT a || b FROM pipe WHERE id = 2;
SELECT n ^ 1 || 0 FROM pipe WHERE id = 1;
UPDATE pipe SET a = n ^ 1 || 0 WHERE n > 2;
UPDATE pipe SET a = a || '!' || id, b = COALESCE(b || '?', 'none') WHERE n > 1;
UPDATE pipe p JOIN pipe_other o ON o.id = p.id SET p.b = p.b || o.k;
UPDATE pipe SET n = n || 0 WHERE id = 1 || '';
DELETE FROM pipe WHERE a || 'x' = 'fgx';
SELECT * FROM pipe ORDER BY id;
INSERT INTO pipe_other SELECT id + 10, a || ',' || id FROM pipe;
REPLACE INTO pipe_other VALUES (12, 'twelve' || NULL), (13, (SELECT MAX(a) FROM pipe) || 'm');
SELECT * FROM pipe_other ORDER BY id;
SELECT id FROM pipe WHERE n IN (SELECT id || 0 FROM pipe_other) UNION SELECT id || '' FROM pipe_other ORDER BY 1;
SET sql_mode = 'ANSI';
SELECT "id" || 'i', "a" || "b" FROM pipe ORDER BY "id";
INSERT INTO pipe VALUES (5, 'five' || '5', '', 5);
UPDATE pipe SET "b" = "a" || "b" WHERE "n" = 5;
SELECT COUNT (*) || 'x' FROM pipe WHERE "a" || "b" > '';
CREATE VIEW piped AS SELECT "id", "a" || "b" AS "ab" FROM pipe;
SELECT * FROM piped WHERE "ab" || 'x' > '' ORDER BY "id";
SET sql_mode = DEFAULT;
SELECT * FROM piped ORDER BY id;
SELECT id, a || 0, 0 || n FROM pipe WHERE id < 4 ORDER BY id;
UPDATE pipe SET n = a || 1 WHERE id = 3;
SELECT n FROM pipe WHERE id = 3;
-- only: mariadb
SET sql_mode = 'ORACLE';
-- only: mariadb
SELECT id, a || b, a || NULL FROM pipe ORDER BY id;
-- only: mariadb
INSERT INTO pipe VALUES (6, 'six' || NULL, NULL || NULL, 6);
-- only: mariadb
UPDATE pipe SET a = a || NULL || 'o' WHERE n >= 5;
-- only: mariadb
SELECT p.id, o.id FROM pipe p LEFT JOIN pipe_other o ON o.k = p.a || p.b WHERE p.a || o.k <> 'q' ORDER BY p.id;
SET sql_mode = DEFAULT;
SELECT * FROM pipe ORDER BY id;
DROP VIEW piped;
DROP TABLE pipe, pipe_other;
