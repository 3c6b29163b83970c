-- Triggers before a row see the NULLs that a statement gives columns that may not be NULL; whether they may stay is looked at behind them.
CREATE TABLE tn_log (n INT AUTO_INCREMENT PRIMARY KEY, id INT, what VARCHAR(40));
CREATE TABLE tn (id INT PRIMARY KEY, a INT NOT NULL, s VARCHAR(10) NOT NULL, b INT);
INSERT INTO tn VALUES (1, 1, 'x', NULL), (2, 2, 'y', 5), (3, 3, 'z', NULL);
SET @n = 0;
-- skip-prepared
CREATE TRIGGER tn_bu BEFORE UPDATE ON tn FOR EACH ROW BEGIN SET @n = @n + 1; INSERT INTO tn_log (id, what) VALUES (OLD.id, CONCAT_WS('/', IFNULL(NEW.a, 'none'), IFNULL(NEW.s, 'none'))); END;
UPDATE tn SET a = b WHERE id = 1;
SELECT @n + 0 AS n;
UPDATE tn SET a = b ORDER BY id DESC;
SELECT @n + 0 AS n;
UPDATE tn SET a = b WHERE id = 2;
SELECT @n + 0 AS n;
UPDATE tn SET id = b WHERE id = 1;
SELECT @n + 0 AS n;
SELECT id, what FROM tn_log ORDER BY n;
SELECT * FROM tn ORDER BY id;
DELETE FROM tn_log;
SET sql_mode = '';
UPDATE tn SET a = b WHERE id = 1;
SELECT @n + 0 AS n;
UPDATE tn SET a = b, s = NULL ORDER BY id;
SELECT @n + 0 AS n;
SELECT id, what FROM tn_log ORDER BY n;
SELECT * FROM tn ORDER BY id;
SET sql_mode = DEFAULT;
DELETE FROM tn_log;
SET @n = 0;
-- skip-prepared
CREATE TRIGGER tn_bi BEFORE INSERT ON tn FOR EACH ROW BEGIN SET @n = @n + 1; INSERT INTO tn_log (id, what) VALUES (NEW.id, CONCAT_WS('/', IFNULL(NEW.a, 'none'), IFNULL(NEW.s, 'none'))); END;
INSERT INTO tn VALUES (4, NULL, 'x', 1);
SELECT @n + 0 AS n;
INSERT INTO tn VALUES (4, 1, 'x', 1), (5, NULL, 'x', 1);
SELECT @n + 0 AS n;
INSERT INTO tn SELECT id + 10, b, s, a FROM tn WHERE id IN (1, 2) ORDER BY id DESC;
SELECT @n + 0 AS n;
SELECT * FROM tn ORDER BY id;
INSERT INTO tn (id, a, s) VALUES (4, NULL, 'x'), (5, 1, DEFAULT);
INSERT INTO tn (id, s) VALUES (4, 'x');
SET @n = 0;
REPLACE INTO tn VALUES (3, 1, NULL, 1);
SELECT @n + 0 AS n;
INSERT INTO tn VALUES (4, 1, 'x', 1), (5, 2, 'y', NULL);
SELECT id, what FROM tn_log ORDER BY n;
CREATE TABLE tn_fixed (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 7, s VARCHAR(10) NOT NULL DEFAULT 'd');
-- skip-prepared
CREATE TRIGGER tn_fixed_bi BEFORE INSERT ON tn_fixed FOR EACH ROW BEGIN INSERT INTO tn_log (id, what) VALUES (NEW.id, CONCAT_WS('/', IFNULL(NEW.a, 'none'), IFNULL(NEW.s, 'none'))); IF NEW.a IS NULL THEN SET NEW.a = 8; END IF; END;
DELETE FROM tn_log;
INSERT INTO tn_fixed (id, a) VALUES (1, NULL), (2, 2);
INSERT INTO tn_fixed (id) VALUES (3);
INSERT INTO tn_fixed (id, s) VALUES (4, NULL);
INSERT INTO tn_fixed (id, s) VALUES (5, DEFAULT);
SELECT * FROM tn_fixed ORDER BY id;
SELECT id, what FROM tn_log ORDER BY n;
-- Triggers that servers fire see them, too, also of rows that come from a query.
CREATE TABLE tn_src (id INT PRIMARY KEY, a INT, s VARCHAR(10));
INSERT INTO tn_src VALUES (1, 1, 'x'), (2, NULL, 'y'), (3, 3, NULL), (4, 4, 'z');
CREATE TABLE tn_own (id INT PRIMARY KEY, a INT NOT NULL, s VARCHAR(10) NOT NULL DEFAULT 'd', at TIMESTAMP NULL);
-- skip-prepared
CREATE TRIGGER tn_own_bi BEFORE INSERT ON tn_own FOR EACH ROW IF NEW.a IS NULL THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no a'; ELSEIF NEW.s IS NULL THEN SET NEW.s = 'none'; END IF;
INSERT INTO tn_own (id, a, s) SELECT id + 10, a, s FROM tn_src;
INSERT INTO tn_own (id, a, s) SELECT id + 10, a, s FROM tn_src WHERE a IS NOT NULL;
INSERT INTO tn_own (id, a, s, at) SELECT id + 20, a, s, '2026-01-02 03:04:05' FROM tn_src WHERE id = 3;
REPLACE INTO tn_own (id, a) SELECT id + 10, a FROM tn_src WHERE id = 1;
REPLACE INTO tn_own (id, a) SELECT id + 10, a FROM tn_src;
INSERT INTO tn_own (id, a, s) SELECT id + 10, a, s FROM tn_src WHERE id IN (1, 2) ON DUPLICATE KEY UPDATE a = 9;
INSERT INTO tn_own (id, a, s) SELECT id + 10, a + 1, s FROM tn_src WHERE id IN (1, 3) ON DUPLICATE KEY UPDATE a = tn_own.a + 9;
-- only: mariadb
INSERT INTO tn_own (id, s) SELECT id + 30, s FROM tn_src;
INSERT INTO tn_own (id, a, s) SELECT a, id, s FROM tn_src;
-- refused: VALUES computed by a server, into a table whose trigger assigns a column that may not be NULL
INSERT INTO tn_own (id, a, s) VALUES (41, (SELECT a FROM tn_src WHERE id = 2), 'x');
-- refused: VALUES computed by a server, into a table whose trigger assigns a column that may not be NULL
INSERT INTO tn_own (id, a, s) VALUES (41, (SELECT a FROM tn_src WHERE id = 2), DEFAULT);
-- refused: VALUES computed by a server, into a table whose trigger assigns a column that may not be NULL
INSERT INTO tn_own (id, a, s) VALUES (41, (SELECT a FROM tn_src WHERE id = 3), NULL);
SELECT id, a, s, at FROM tn_own ORDER BY id;
CREATE TABLE tn_says (id INT PRIMARY KEY, a INT NOT NULL, s VARCHAR(10));
-- skip-prepared
CREATE TRIGGER tn_says_bi BEFORE INSERT ON tn_says FOR EACH ROW IF NEW.a IS NULL THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no a'; END IF;
INSERT INTO tn_says VALUES (41, (SELECT a FROM tn_src WHERE id = 2), 'x');
INSERT INTO tn_says VALUES (42, (SELECT a FROM tn_src WHERE id = 1), DEFAULT);
SELECT * FROM tn_says;
SET sql_mode = '';
-- refused: a NULL would be 0 before the trigger sees it
INSERT INTO tn_own (id, a, s) SELECT id + 50, a, s FROM tn_src;
SET sql_mode = DEFAULT;
CREATE TABLE tn_keep (id INT PRIMARY KEY, a INT NOT NULL);
-- skip-prepared
CREATE TRIGGER tn_keep_bi BEFORE INSERT ON tn_keep FOR EACH ROW SET NEW.id = NEW.id;
INSERT INTO tn_keep SELECT id + 10, a FROM tn_src;
INSERT INTO tn_keep SELECT id + 10, a FROM tn_src WHERE id <> 2;
SELECT * FROM tn_keep ORDER BY id;
