-- Tables with FULLTEXT keys are copied like others; only MATCH is answered where their rows are.
CREATE TABLE texts (id INT PRIMARY KEY, g INT NOT NULL DEFAULT 3, body TEXT, title VARCHAR(20) DEFAULT 'none', KEY (g), FULLTEXT KEY body (body), FULLTEXT KEY both_of (title, body));
CREATE TABLE parent (id INT PRIMARY KEY, k INT);
CREATE TABLE checked (id INT PRIMARY KEY, p INT, body TEXT, CONSTRAINT positive CHECK (p > 0), FULLTEXT KEY (body));
INSERT INTO texts (id, g, body) VALUES (1, 1, 'hello world'), (2, 1, 'goodbye world'), (3, 2, 'hello there'), (4, 2, NULL), (5, 3, 'hello hello moon');
INSERT INTO parent VALUES (1, 1), (2, 2), (3, 9);
INSERT INTO checked VALUES (1, 1, 'x'), (2, 2, 'hello'), (3, 9, NULL);
SELECT DISTINCT 'x' FROM texts;
SELECT * FROM texts JOIN parent ON parent.k = texts.g ORDER BY texts.id;
SELECT body FROM texts UNION SELECT 'hello there' UNION SELECT k FROM parent;
SELECT texts.body FROM texts WHERE g IN (SELECT k FROM parent) UNION ALL SELECT body FROM checked;
SELECT id, ROW_NUMBER() OVER (ORDER BY g DESC, id) AS n FROM texts ORDER BY n;
SELECT (SELECT MAX(body) FROM texts WHERE texts.g = parent.k) AS m FROM parent;
UPDATE texts JOIN parent ON parent.k = texts.g SET texts.g = texts.g + 10, body = CONCAT(body, ' again');
SELECT * FROM texts ORDER BY id;
DELETE FROM texts WHERE g IN (SELECT k + 10 FROM parent WHERE id = 2);
INSERT INTO texts (id, body) SELECT id + 20, CONCAT('row ', k) FROM parent WHERE k > (SELECT MIN(g) FROM texts);
INSERT INTO texts (id, body) SELECT id + 30, CONCAT('row ', k) FROM parent;
INSERT INTO checked SELECT id + 20, k - 2, 'no' FROM parent ORDER BY id;
INSERT INTO checked SELECT id + 20, k, 'yes' FROM parent ORDER BY id;
UPDATE checked JOIN parent ON parent.k = checked.p SET checked.p = 8 WHERE checked.id > 20;
SELECT * FROM texts ORDER BY id;
SELECT * FROM checked ORDER BY id;
SELECT id FROM texts WHERE MATCH (body) AGAINST ('row' IN BOOLEAN MODE) ORDER BY id;
SELECT id FROM texts WHERE id = 1 AND MATCH (body) AGAINST ('hello');
-- refused: relevance depends on the rows of all node groups
SELECT MATCH (body) AGAINST ('hello') FROM texts WHERE id = 1;
-- refused: relevance
SELECT id FROM texts WHERE id = 1 ORDER BY MATCH (body) AGAINST ('hello' IN BOOLEAN MODE);
-- refused: relevance
SELECT id FROM texts WHERE id = 1 AND MATCH (body) AGAINST ('hello' WITH QUERY EXPANSION);
CREATE TABLE kept (id INT PRIMARY KEY, body TEXT, FULLTEXT KEY (body)) COMMENT 'skarv:single';
INSERT INTO kept VALUES (1, 'hello world'), (2, 'goodbye world'), (3, 'hello there'), (4, NULL);
SELECT id, MATCH (body) AGAINST ('hello') FROM kept ORDER BY id;
SELECT id FROM kept ORDER BY MATCH (body) AGAINST ('goodbye') DESC, id;
-- refused: MATCH is answered where the rows are
SELECT texts.id FROM texts JOIN parent ON parent.k = texts.g WHERE MATCH (body) AGAINST ('hello' IN BOOLEAN MODE);
-- Rows that move to other node groups with a smaller or larger key: both kinds of servers lose rows that a transaction inserts and then changes so.
CREATE TABLE roving (id INT PRIMARY KEY, body TEXT, n INT NOT NULL, FULLTEXT KEY (body));
INSERT INTO roving VALUES (105, 'moon over the world', 1), (116, NULL, 29), (107, 'moonlight', 2), (108, 'hello moon', 3), (9, 'moon', 204), (10, 'the moon', 205), (11, 'moon again', 206), (112, 'moon', 7);
UPDATE roving SET id = n, body = body WHERE NOT ((n, n) = (1000, 2));
SELECT COUNT(*) FROM roving WHERE MATCH (body) AGAINST ('moon*' IN BOOLEAN MODE);
SELECT * FROM roving ORDER BY id;
-- skip-prepared
BEGIN;
UPDATE roving SET id = id + 300, n = n + 1;
-- refused: MATCH in a transaction that has given rows of a table with FULLTEXT keys another distribution key
SELECT COUNT(*) FROM roving WHERE MATCH (body) AGAINST ('moon*' IN BOOLEAN MODE);
UPDATE roving SET body = CONCAT(body, ' new') WHERE n < 10;
COMMIT;
SELECT id FROM roving WHERE MATCH (body) AGAINST ('moon*' IN BOOLEAN MODE) ORDER BY id;
UPDATE roving SET id = id - 290 ORDER BY id;
SELECT id FROM roving WHERE MATCH (body) AGAINST ('+moon* -new' IN BOOLEAN MODE) ORDER BY id;
CREATE TABLE roving_two (a INT, b INT, body TEXT, PRIMARY KEY (a, b), FULLTEXT KEY (body)) COMMENT 'skarv:key=a';
INSERT INTO roving_two VALUES (200, 2, 'moon'), (201, 2, 'moon');
UPDATE roving_two SET a = a - 100, b = 1;
SELECT a FROM roving_two WHERE MATCH (body) AGAINST ('moon*' IN BOOLEAN MODE) ORDER BY a;
-- A foreign key that would move such rows.
CREATE TABLE rovers (id INT PRIMARY KEY, k INT NOT NULL, UNIQUE KEY (k));
INSERT INTO rovers VALUES (1, 150), (2, 160);
CREATE TABLE roving_under (q INT PRIMARY KEY, body TEXT, CONSTRAINT rover FOREIGN KEY (q) REFERENCES rovers (k) ON UPDATE CASCADE, FULLTEXT KEY (body));
INSERT INTO roving_under VALUES (150, 'moon'), (160, 'x');
-- refused: a foreign key that moves rows of table 'roving_under', which has FULLTEXT keys, to another node group
UPDATE rovers SET k = k - 100;
SELECT * FROM roving_under ORDER BY q;
SET autocommit = 0;
UPDATE roving SET id = id + 1000 WHERE id = (SELECT MIN(q) + 301 - 150 FROM roving_under);
UPDATE roving JOIN roving_two ON roving_two.a = roving.id SET roving.id = roving.id + 2000;
-- refused: MATCH in a transaction
DELETE FROM roving WHERE MATCH (body) AGAINST ('moon*' IN BOOLEAN MODE);
ROLLBACK;
SET autocommit = 1;
SELECT id FROM roving WHERE MATCH (body) AGAINST ('moon*' IN BOOLEAN MODE) ORDER BY id;
