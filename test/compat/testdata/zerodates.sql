-- Days that do not exist as keys: what a server stores and prints of them tells where their rows are.
SET sql_mode = '';
CREATE TABLE zd (id DATETIME PRIMARY KEY, x INT);
INSERT INTO zd VALUES ('0000-00-00', 1), ('2020-00-01', 2), ('0000-00-00 00:00:01', 3), ('0000-01-01', 4), ('2020-00-00 10:00:00', 5);
SELECT * FROM zd ORDER BY id;
SELECT x FROM zd WHERE id = '0000-00-00';
SELECT x FROM zd WHERE id = '2020-00-01';
SELECT x FROM zd WHERE id = '2020-00-00 10:00:00';
UPDATE zd SET x = x + 10 WHERE id = '2020-00-01';
UPDATE zd SET id = '2021-01-01' WHERE id = '0000-00-00 00:00:01';
REPLACE INTO zd VALUES ('0000-01-01', 6);
INSERT INTO zd VALUES ('0000-00-00', 1) ON DUPLICATE KEY UPDATE x = 7;
INSERT INTO zd VALUES ('2020-00-00 10:00:00', 1);
SELECT * FROM zd ORDER BY id;
DELETE FROM zd WHERE id = '2020-00-01';
INSERT INTO zd SELECT id + INTERVAL 1 DAY, x FROM zd WHERE id = '2021-01-01';
SELECT * FROM zd ORDER BY id;
CREATE TABLE zk (id DATE PRIMARY KEY, em VARCHAR(10));
INSERT INTO zk VALUES ('2020-00-00', 'a'), ('0000-01-01', 'b'), ('0000-00-00', 'c'), ('2020-01-00', 'a');
ALTER TABLE zk ADD UNIQUE KEY (em);
DELETE FROM zk WHERE id = '2020-01-00';
ALTER TABLE zk ADD UNIQUE KEY (em);
SELECT id FROM zk WHERE em = 'a';
UPDATE zk SET em = 'd' WHERE em = 'b';
SELECT * FROM zk ORDER BY id;
DELETE FROM zk WHERE em = 'a';
INSERT INTO zk VALUES ('2021-01-01', 'a');
SELECT * FROM zk ORDER BY id;
-- A unique key of such days.
CREATE TABLE zu (id INT PRIMARY KEY, d DATE, t DATETIME(2));
INSERT INTO zu VALUES (1, '2020-00-00', '2020-00-00'), (2, '2020-01-00', '0000-00-00 00:00:00.01'), (3, '0000-00-00', '0000-00-00'), (4, '2020-00-01', '2020-02-00');
ALTER TABLE zu ADD UNIQUE KEY (d), ADD UNIQUE KEY (t);
DELETE FROM zu WHERE id = 1;
UPDATE zu SET d = NULL, t = NULL WHERE id = 2;
SELECT * FROM zu ORDER BY id;
DELETE FROM zu;
-- Zero dates that a statement does not write as they are stored go through a stage, which gives them as the number 0.
INSERT INTO zu VALUES (5, '2020-02-31', 0);
INSERT INTO zu SELECT id + 1, d, t + INTERVAL 1 DAY FROM zu WHERE id = 5;
REPLACE INTO zu VALUES (8, '2020-02-30', '2020-02-02');
INSERT INTO zd VALUES (0, 8);
SELECT * FROM zu ORDER BY id;
SELECT * FROM zd ORDER BY id;
DROP TABLE zd, zk, zu;
SET sql_mode = DEFAULT;
-- What is shown in place of a date that sql_mode does not have, and what is sorted by.
SET sql_mode = 'ALLOW_INVALID_DATES';
CREATE TABLE zs (id INT PRIMARY KEY, d DATE, e DATETIME, f DATE, ts TIMESTAMP NULL);
INSERT INTO zs VALUES (1, '0000-00-00', '0000-00-00 00:00:00', '2024-01-01', NULL), (2, NULL, '2024-01-01', '0000-00-00', '2024-01-01 00:00:00'), (3, '2024-02-29', NULL, NULL, '2020-01-01 00:00:00'), (4, '0000-00-00', '2023-01-01', '2000-00-00', '0000-00-00 00:00:00'), (5, '2020-00-10', NULL, '2024-02-30', NULL), (6, '1999-12-31', '0000-00-00', '0000-00-00', NULL);
SET sql_mode = 'NO_ZERO_DATE';
SELECT id, d FROM zs ORDER BY COALESCE(d, f), id;
SELECT id, COALESCE(d, f) x FROM zs ORDER BY x, id;
SELECT id, COALESCE(d, f) x FROM zs ORDER BY x DESC, id LIMIT 3;
SELECT id, IFNULL(d, f) x FROM zs ORDER BY x DESC, id LIMIT 3;
-- only: mariadb
SELECT id FROM zs WHERE d < '2024-01-01' ORDER BY COALESCE(ts, e), id;
SELECT DISTINCT COALESCE(d, f) x FROM zs ORDER BY x;
SET sql_mode = 'NO_ZERO_DATE,NO_ZERO_IN_DATE';
-- only: mariadb
SELECT id, d FROM zs ORDER BY COALESCE(e, d), id;
SELECT id, COALESCE(d, f) x FROM zs ORDER BY x, id;
SELECT COALESCE(d, f) x, COUNT(*) FROM zs GROUP BY x ORDER BY x;
DROP TABLE zs;
SET sql_mode = DEFAULT;
