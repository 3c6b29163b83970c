-- InnoDB looks for the parent of a row when an entry of the foreign key's index changes, also in another column than the key's.
CREATE TABLE fiu (id INT PRIMARY KEY);
CREATE TABLE fih (id INT PRIMARY KEY, uid INT, a INT, b INT, g INT GENERATED ALWAYS AS (b + 1) VIRTUAL, KEY i1 (uid, a), CONSTRAINT fkfih FOREIGN KEY (uid) REFERENCES fiu (id));
INSERT INTO fiu VALUES (1), (2), (3), (4), (5), (6), (7), (8);
INSERT INTO fih (id, uid, a, b) VALUES (1, 2, 1, 1), (2, 3, 1, 1), (3, 4, 1, 1), (4, 5, 1, 1), (5, 6, 1, 1), (6, 7, 1, 1), (7, 8, 1, 1), (8, 1, 1, 1);
UPDATE fih SET a = 9;
-- refused: IGNORE in this form
UPDATE IGNORE fih SET a = 8;
UPDATE fih SET a = id WHERE id = 3;
UPDATE fih SET a = 8;
UPDATE fih SET a = a + 1 ORDER BY id LIMIT 5;
UPDATE fih JOIN fiu ON fih.uid = fiu.id SET fih.a = fih.a + fiu.id;
UPDATE fih SET a = (SELECT MAX(id) FROM fiu) WHERE id > 4;
UPDATE fih SET b = 7;
UPDATE fih SET id = id + 100 WHERE id < 4;
INSERT INTO fih (id, uid, a) VALUES (4, 5, 1), (5, 6, 1) ON DUPLICATE KEY UPDATE a = fih.a + 50;
START TRANSACTION;
UPDATE fih SET a = 1 WHERE id = 4;
UPDATE fih SET a = 2 WHERE id = 5;
COMMIT;
UPDATE fih SET uid = 99 WHERE id = 4;
UPDATE fih SET uid = 3, a = 3 WHERE id = 4;
SELECT * FROM fih ORDER BY id;
-- In a generated column, in one that ON UPDATE sets, in one of the primary key.
CREATE TABLE fig (id INT, n INT, uid INT, b INT, ts DATETIME DEFAULT '2020-01-01' ON UPDATE CURRENT_TIMESTAMP, g INT GENERATED ALWAYS AS (b + 1) VIRTUAL, PRIMARY KEY (id, n), KEY (uid, g), FOREIGN KEY (uid) REFERENCES fiu (id));
CREATE TABLE fit (id INT PRIMARY KEY, uid INT, b INT, ts DATETIME DEFAULT '2020-01-01' ON UPDATE CURRENT_TIMESTAMP, KEY (uid, ts), FOREIGN KEY (uid) REFERENCES fiu (id));
INSERT INTO fig (id, n, uid, b) SELECT id, id, uid, b FROM fih;
INSERT INTO fit (id, uid, b) SELECT id, uid, b FROM fih;
SET timestamp = 1700000000;
UPDATE fig SET b = b + 5;
UPDATE fig SET n = n + 5;
UPDATE fit SET b = b + 5 WHERE id > 3;
SELECT * FROM fig ORDER BY id;
SELECT * FROM fit ORDER BY id;
SET timestamp = DEFAULT;
-- A key within one table, and an index that comes later.
CREATE TABLE fis (id INT PRIMARY KEY, boss INT, a INT, FOREIGN KEY (boss) REFERENCES fis (id));
INSERT INTO fis VALUES (1, NULL, 1);
INSERT INTO fis VALUES (2, 1, 1), (3, 1, 1), (4, 1, 1);
INSERT INTO fis VALUES (5, 2, 1), (6, 3, 1), (7, 4, 1), (8, 2, 1);
ALTER TABLE fis ADD UNIQUE KEY (boss, a, id);
UPDATE fis SET a = id;
-- refused: IGNORE in this form
UPDATE IGNORE fis SET a = 5 WHERE id > 2;
SELECT * FROM fis ORDER BY id;
-- By a trigger.
-- skip-prepared
CREATE TRIGGER fitr BEFORE UPDATE ON fih FOR EACH ROW SET NEW.a = NEW.b;
UPDATE fih SET b = 50;
UPDATE fih SET b = 60 WHERE id = 6;
SELECT * FROM fih ORDER BY id;
DROP TABLE fih, fig, fit, fiu, fis;
