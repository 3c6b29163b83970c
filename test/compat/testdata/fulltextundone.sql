-- story: mariadb
-- Behind ROLLBACK TO SAVEPOINT, servers forget which words rows have that a DELETE before it had met, and crash. So a statement over several node
-- groups that fails in a transaction, and may have changed a table with FULLTEXT keys, is not undone alone.
CREATE TABLE t (id INT PRIMARY KEY, body TEXT, a INT, FULLTEXT KEY (body));
CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES t (id));
CREATE TABLE above (id INT PRIMARY KEY);
CREATE TABLE under (id INT PRIMARY KEY, body TEXT, FOREIGN KEY (id) REFERENCES above (id) ON DELETE CASCADE, FULLTEXT KEY (body));
CREATE TABLE plain (id INT PRIMARY KEY, a INT);
INSERT INTO t VALUES (1, 'hello', 1), (2, 'hello', 1), (3, 'hello', 1), (4, 'hello', 1), (5, 'hello', 1), (6, 'hello', 1), (7, 'hello', 1), (8, 'hello', 1);
INSERT INTO child VALUES (8);
INSERT INTO above VALUES (1), (2), (3), (4), (5), (6), (7), (8);
INSERT INTO under VALUES (1, 'hello'), (2, 'hello'), (3, 'hello'), (4, 'hello');
INSERT INTO plain VALUES (1, 1), (2, 1), (3, 1), (4, 1);
DELETE FROM t;
SELECT id FROM t WHERE MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) ORDER BY id;
BEGIN;
UPDATE t SET a = 2;
-- refused: undoing a statement alone in a transaction
DELETE FROM t;
ROLLBACK;
SELECT id, a FROM t WHERE MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) ORDER BY id;
-- What fails on one node group, that undoes alone.
BEGIN;
UPDATE t SET a = 3;
DELETE FROM t WHERE id = 8;
INSERT INTO t VALUES (1, 'again', 1);
UPDATE t SET body = 'moon' WHERE id = 2;
COMMIT;
SELECT id, a FROM t WHERE MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) ORDER BY id;
-- Other tables.
BEGIN;
UPDATE t SET a = 4;
INSERT INTO plain VALUES (5, 1), (6, 1), (7, 1), (4, 1);
INSERT INTO plain VALUES (9, 1), (10, 1);
COMMIT;
SELECT * FROM plain ORDER BY id;
SELECT id, a FROM t WHERE MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) ORDER BY id;
-- A table that follows by a foreign key.
BEGIN;
UPDATE under SET body = 'moon' WHERE id = 1;
-- refused: undoing a statement alone in a transaction
INSERT INTO above VALUES (11), (12), (13), (14), (8);
ROLLBACK;
SELECT id FROM under WHERE MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) ORDER BY id;
SELECT COUNT(*) FROM above;
