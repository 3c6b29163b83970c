-- Queries in ON DUPLICATE KEY UPDATE of tables whose rows lie on several node groups.
CREATE TABLE a (id INT PRIMARY KEY, n INT, d DECIMAL(8,2), s VARCHAR(10), da DATETIME(2), f DOUBLE, u BIGINT UNSIGNED, e ENUM('x','y'));
INSERT INTO a VALUES (1, 1, 1.50, 'a', '2024-02-29 10:00:00.25', 0.1, 18446744073709551615, 'x'), (2, 2, 2.25, 'B', NULL, 1e20, 5, 'y'), (3, NULL, -1, 'é', '2000-01-01', NULL, NULL, NULL), (4, 2, 7, NULL, NULL, 3, 0, 'x');
CREATE TABLE r (id INT PRIMARY KEY, w DECIMAL(5,2)) COMMENT 'skarv:reference';
INSERT INTO r VALUES (1, 1.5), (2, 2);
CREATE TABLE i (id INT PRIMARY KEY, mail VARCHAR(10), n INT, UNIQUE KEY (mail));
INSERT INTO i VALUES (1, 'm1', 1), (2, 'm2', 2);
CREATE TABLE w (id INT PRIMARY KEY, n INT, d DECIMAL(8,2), s VARCHAR(20), da DATETIME, f DOUBLE, u BIGINT UNSIGNED);
INSERT INTO w (id, n, d) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
INSERT INTO w (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = (SELECT MAX(n) FROM a);
INSERT INTO w (id, n, s) VALUES (2, 7, 'x'), (9, 9, 'q'), (3, 0, 'zz') ON DUPLICATE KEY UPDATE n = n + (SELECT COUNT(*) FROM a WHERE n > 1), s = (SELECT MAX(s) FROM a), da = (SELECT MIN(da) FROM a), f = (SELECT SUM(f) / 3 FROM a), u = (SELECT MAX(u) FROM a);
INSERT INTO w (id, n) SELECT id, n FROM a WHERE id < 3 ON DUPLICATE KEY UPDATE n = w.n + (SELECT COUNT(*) FROM a x JOIN a y ON x.n = y.id), d = (SELECT SUM(d) FROM a WHERE id > 1);
INSERT INTO w (id, n) SELECT n, COUNT(*) FROM a WHERE n > 0 GROUP BY n ON DUPLICATE KEY UPDATE n = GREATEST(w.n, (SELECT MAX(id) FROM a)), s = NULL;
INSERT INTO w (id, n) VALUES (4, 1) ON DUPLICATE KEY UPDATE n = (SELECT n FROM a WHERE id > 100), s = (SELECT MAX(n) FROM a), d = IF((SELECT MAX(d) FROM a) > 3.5, 77, (SELECT MIN(d) FROM a));
INSERT INTO r VALUES (1, 1) ON DUPLICATE KEY UPDATE w = (SELECT COUNT(*) FROM a);
INSERT INTO i VALUES (5, 'm1', 3) ON DUPLICATE KEY UPDATE n = (SELECT COUNT(*) FROM a);
SELECT * FROM w ORDER BY id;
SELECT * FROM r ORDER BY id;
SELECT * FROM i ORDER BY id;
-- args: [2, 3, 1]
-- args: [77, 3, 1]
INSERT INTO w (id, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = (SELECT COUNT(*) FROM a WHERE n > ?);
-- What the transaction has written.
BEGIN;
UPDATE a SET n = 60 WHERE id = 3;
UPDATE r SET w = 99 WHERE id = 2;
INSERT INTO w (id, n) VALUES (4, 1) ON DUPLICATE KEY UPDATE n = (SELECT MAX(n) FROM a), d = (SELECT MAX(w) FROM r) + (SELECT MIN(w) FROM r);
SELECT * FROM w ORDER BY id;
ROLLBACK;
-- only: mysql
INSERT INTO w (id, n) VALUES (4, 9) AS new ON DUPLICATE KEY UPDATE n = new.n + (SELECT MAX(n) FROM a);
SELECT * FROM w ORDER BY id;
INSERT INTO w (id, n) VALUES (4, 9) ON DUPLICATE KEY UPDATE n = (SELECT e FROM a WHERE id = 1);
-- A server may not need it, or asks for each row.
-- refused: a query that fails
INSERT INTO w (id, n) VALUES (50, 1) ON DUPLICATE KEY UPDATE n = (SELECT n FROM a);
INSERT INTO w (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE s = (SELECT e FROM a WHERE id = 1);
-- refused: of the row
INSERT INTO w (id, n) VALUES (3, 1) ON DUPLICATE KEY UPDATE n = (SELECT COUNT(*) FROM a WHERE a.n = w.n);
-- refused: rows
INSERT INTO w (id, n) VALUES (3, 1) ON DUPLICATE KEY UPDATE n = EXISTS (SELECT 1 FROM a);
-- refused: by chance
INSERT INTO w (id, n) VALUES (3, 1) ON DUPLICATE KEY UPDATE n = (SELECT MAX(n) * RAND() FROM a);
