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
