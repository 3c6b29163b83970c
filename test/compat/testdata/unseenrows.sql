-- A server that is shown a statement beforehand has a part of the rows, and may have locked some of them.
CREATE TABLE ur_k (id INT PRIMARY KEY, a INT);
INSERT INTO ur_k VALUES (1, 1), (2, 2), (3, 1), (4, 1), (5, 2), (6, 9), (7, 3), (8, 3);
CREATE TABLE ur_s (id INT PRIMARY KEY, a INT) COMMENT 'skarv:single';
INSERT INTO ur_s VALUES (1, 1), (2, 2);
CREATE TABLE ur_l (id INT PRIMARY KEY AUTO_INCREMENT, x INT);
CREATE TABLE ur_g (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO ur_g VALUES (1, 1, 1), (2, 2, 2), (9, 9, 9), (150, 1, 1), (101, 3, 3);
-- skip-prepared
CREATE TRIGGER ur_gu BEFORE UPDATE ON ur_g FOR EACH ROW INSERT INTO ur_l (x) VALUES (NEW.a);
-- skip-prepared
CREATE TRIGGER ur_gi BEFORE INSERT ON ur_g FOR EACH ROW INSERT INTO ur_l (x) VALUES (NEW.a);
-- skip-prepared
CREATE TRIGGER ur_gd BEFORE DELETE ON ur_g FOR EACH ROW INSERT INTO ur_l (x) VALUES (OLD.a);
INSERT INTO ur_g SELECT 70, a, 1 FROM ur_k WHERE id = (SELECT COUNT(*) FROM ur_k GROUP BY a HAVING COUNT(*) = 1);
INSERT INTO ur_g SELECT 71, a, 1 FROM ur_k WHERE id = IF(EXISTS (SELECT 1 FROM ur_k WHERE id = 5), 1, (SELECT id FROM ur_k));
DELETE FROM ur_g WHERE id = (SELECT a FROM ur_k GROUP BY a HAVING COUNT(*) = 1);
DELETE FROM ur_g WHERE id = IF((SELECT COUNT(*) FROM ur_k) = 8, 1, (SELECT id FROM ur_k));
UPDATE ur_g SET b = 100 WHERE id = (SELECT a FROM ur_k GROUP BY a HAVING COUNT(*) = 1);
SELECT * FROM ur_g ORDER BY id;
SELECT x FROM ur_l ORDER BY x;
CREATE TEMPORARY TABLE ur_t (id INT PRIMARY KEY, a INT);
INSERT INTO ur_t VALUES (1, 1), (2, 2);
INSERT INTO ur_g SELECT ur_s.id + 50, ur_t.a, 1 FROM ur_s JOIN ur_t USING (id);
INSERT INTO ur_g SELECT ur_t.id + 60, ur_s.a, 1 FROM ur_t JOIN ur_s USING (id);
UPDATE ur_g SET b = b + 1 WHERE a IN (SELECT a FROM ur_s) AND a IN (SELECT a FROM ur_t);
DROP TEMPORARY TABLE ur_t;
SET autocommit = 0, innodb_lock_wait_timeout = 4;
UPDATE ur_k SET a = a + 1 WHERE id = 5;
UPDATE ur_k SET a = a + 1 WHERE id = 6;
UPDATE ur_k SET a = a + 1 WHERE id = 7;
UPDATE ur_s SET a = a + 1 WHERE id = 1;
INSERT INTO ur_g SELECT id + 80, a, a FROM ur_s WHERE id = 1;
DELETE FROM ur_g WHERE id = 2 ORDER BY id;
COMMIT;
DELETE FROM ur_g WHERE id = 101 ORDER BY id;
ROLLBACK;
SET autocommit = 1, innodb_lock_wait_timeout = DEFAULT;
SELECT * FROM ur_g ORDER BY id;
