-- FOUND_ROWS() behind statements that send no rows.
CREATE TABLE fb (id INT PRIMARY KEY, a INT);
INSERT INTO fb VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 1), (6, 2), (7, 1);
SELECT id FROM fb ORDER BY id;
INSERT INTO fb VALUES (10, 1), (11, 1);
SELECT FOUND_ROWS();
SELECT id FROM fb ORDER BY id;
DELETE FROM fb WHERE id IN (10, 11);
SELECT FOUND_ROWS();
REPLACE INTO fb VALUES (1, 1), (2, 2);
INSERT INTO fb VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 9;
SELECT id FROM fb ORDER BY id;
SET @a = 1;
SELECT FOUND_ROWS();
SELECT id FROM fb WHERE id = 1 INTO @x;
SELECT FOUND_ROWS();
SELECT id FROM fb WHERE id = 100 INTO @x;
SELECT FOUND_ROWS();
SELECT id FROM fb WHERE a = 100 INTO @x;
SELECT FOUND_ROWS();
SELECT COUNT(*) FROM fb INTO @x;
SELECT FOUND_ROWS();
SELECT id FROM fb ORDER BY id;
-- skip-prepared
ANALYZE TABLE fb;
-- skip-prepared
SELECT FOUND_ROWS();
-- only: mariadb
UPDATE fb SET a = 5 WHERE id IN (1, 2);
-- only: mariadb
SELECT FOUND_ROWS();
SELECT id FROM fb ORDER BY id;
CREATE TABLE fb2 (id INT PRIMARY KEY);
SELECT FOUND_ROWS();
INSERT INTO fb2 SELECT id FROM fb WHERE id < 4;
-- refused: ask behind the SELECT
SELECT FOUND_ROWS();
SELECT id FROM fb ORDER BY id;
UPDATE fb JOIN fb2 ON fb.id = fb2.id SET fb.a = 8;
-- refused: ask behind the SELECT
SELECT FOUND_ROWS();
SELECT id FROM fb ORDER BY id;
SELECT SQL_CALC_FOUND_ROWS id FROM fb ORDER BY id LIMIT 1 INTO @x;
-- refused: ask behind the SELECT
SELECT FOUND_ROWS();
SELECT id FROM fb ORDER BY id;
-- only: mysql
UPDATE fb SET a = 5 WHERE id IN (1, 2);
-- only: mysql
-- refused: ask behind the SELECT
SELECT FOUND_ROWS();
SELECT id FROM fb WHERE id < 3 ORDER BY id;
SELECT FOUND_ROWS();
