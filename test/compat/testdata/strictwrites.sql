-- In strict mode a write fails where a query only warns, in whatever steps it is run.
CREATE TABLE u (id INT PRIMARY KEY, email VARCHAR(30) UNIQUE, name VARCHAR(20), n INT);
INSERT INTO u VALUES (1, 'a', 'ann', 0), (2, 'b', 'bob', 1), (3, 'c', 'cid', 2), (4, 'd', 'dan', 3);
-- first of several
UPDATE u SET email = CONCAT(email, 'x') WHERE name = 0;
UPDATE u SET id = id + 100 WHERE name = 0;
UPDATE u SET id = id + 100 WHERE 1 / n IS NULL;
UPDATE u SET id = id + 100 WHERE STR_TO_DATE(name, '%Y') IS NULL;
UPDATE u SET id = id + 100 WHERE CAST(99999 AS DECIMAL(3)) > n;
UPDATE u SET id = id + 100 WHERE LOG(n) IS NULL;
UPDATE u SET id = id + 100 WHERE CAST(name AS CHAR(1)) = 'a';
UPDATE u SET id = id + 100 WHERE CHAR(255 USING utf8mb4) IS NULL AND id > 1 AND id < 3;
UPDATE IGNORE u SET id = id + 100 WHERE name = 0 AND id = 3;
SELECT * FROM u ORDER BY id;
DELETE FROM u WHERE name = 0 AND id > 3;
SELECT * FROM u ORDER BY id;
DELETE FROM u WHERE name + 1 > 0;
SELECT * FROM u ORDER BY id;
SET sql_mode = '';
UPDATE u SET id = id + 100 WHERE name = 0;
DELETE FROM u WHERE name = 0;
SELECT * FROM u ORDER BY id;
SET sql_mode = DEFAULT;
UPDATE u SET name = 'x';
INSERT INTO u VALUES (11, 'k', 'kim', 0);
DELETE FROM u WHERE id IN (11, 12);
-- Rows that are written one by one, for triggers that use other tables.
CREATE TABLE src (id INT PRIMARY KEY, s VARCHAR(10));
INSERT INTO src VALUES (1, '12x'), (2, '13'), (3, 'z');
CREATE TABLE trg (id INT PRIMARY KEY, v INT);
CREATE TABLE told (id INT PRIMARY KEY AUTO_INCREMENT, v INT);
CREATE TRIGGER tells AFTER INSERT ON trg FOR EACH ROW INSERT INTO told (v) VALUES (NEW.v);
CREATE TRIGGER changes AFTER UPDATE ON trg FOR EACH ROW INSERT INTO told (v) VALUES (NEW.v);
CREATE TRIGGER drops AFTER DELETE ON trg FOR EACH ROW INSERT INTO told (v) VALUES (OLD.v);
INSERT INTO trg SELECT id, CAST(s AS SIGNED) FROM src;
SELECT * FROM trg ORDER BY id;
INSERT IGNORE INTO trg SELECT id, CAST(s AS SIGNED) FROM src;
SELECT * FROM trg ORDER BY id;
UPDATE trg SET v = v + 1 WHERE v < 'x';
-- first of several
UPDATE trg SET v = v + 1 WHERE CONCAT(v, 'x') > 1;
DELETE FROM trg WHERE CONCAT(v, 'x') > 12;
SELECT * FROM trg ORDER BY id;
SELECT v, COUNT(*) FROM told GROUP BY v ORDER BY v;
