CREATE TABLE shop (id INT PRIMARY KEY, g INT, name VARCHAR(20) NOT NULL, price DECIMAL(8,2), total DECIMAL(10,2) AS (price * 2), changed INT DEFAULT 0);
CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(10), shop INT, old_name VARCHAR(20), new_name VARCHAR(20), price DECIMAL(8,2), total DECIMAL(10,2));
CREATE TABLE counters (g INT PRIMARY KEY, n INT NOT NULL, changes INT NOT NULL DEFAULT 0);
-- skip-prepared
CREATE TRIGGER ai AFTER INSERT ON shop FOR EACH ROW INSERT INTO log (what, shop, new_name, price, total) VALUES ('insert', NEW.id, NEW.name, NEW.price, NEW.total);
-- skip-prepared
CREATE TRIGGER ai2 AFTER INSERT ON shop FOR EACH ROW INSERT INTO counters (g, n) VALUES (NEW.g, 1) ON DUPLICATE KEY UPDATE n = n + 1;
-- skip-prepared
CREATE TRIGGER au AFTER UPDATE ON shop FOR EACH ROW BEGIN IF NOT (OLD.name <=> NEW.name) THEN INSERT INTO log (what, shop, old_name, new_name) VALUES ('rename', NEW.id, OLD.name, NEW.name); END IF; UPDATE counters SET changes = changes + 1 WHERE g = NEW.g; IF OLD.g <> NEW.g THEN UPDATE counters SET n = n - 1 WHERE g = OLD.g; INSERT INTO counters (g, n) VALUES (NEW.g, 1) ON DUPLICATE KEY UPDATE n = n + 1; END IF; END;
-- skip-prepared
CREATE TRIGGER ad AFTER DELETE ON shop FOR EACH ROW BEGIN INSERT INTO log (what, shop, old_name, price) VALUES ('delete', OLD.id, OLD.name, OLD.price); UPDATE counters SET n = n - 1 WHERE g = OLD.g; END;
INSERT INTO shop (id, g, name, price) VALUES (1, 1, 'one', 1.5);
INSERT INTO shop (id, g, name, price) VALUES (2, 1, 'two', 2.5), (3, 2, 'three', 3), (4, 2, 'it''s \\ four', NULL);
SELECT what, shop, old_name, new_name, price, total FROM log ORDER BY shop, what;
SELECT * FROM counters ORDER BY g;
INSERT INTO shop SET id = 5, g = 3, name = 'five', price = '5.005';
INSERT INTO shop (id, g, name) SELECT id + 10, g, UPPER(name) FROM shop WHERE id < 3;
SELECT ROW_COUNT();
SELECT what, shop, old_name, new_name, price, total FROM log ORDER BY shop, what;
SELECT * FROM counters ORDER BY g;
UPDATE shop SET name = CONCAT(name, '!'), changed = changed + 1 WHERE g = 1;
SELECT ROW_COUNT();
UPDATE shop SET name = name WHERE g = 1;
UPDATE shop SET g = g + 1 WHERE id IN (1, 3, 99);
UPDATE shop SET price = price * 2, name = CONCAT(name, price) WHERE id < 5 ORDER BY id DESC LIMIT 2;
UPDATE shop SET name = 'x' WHERE id > 1000;
SELECT * FROM shop ORDER BY id;
SELECT what, shop, old_name, new_name, price, total FROM log ORDER BY shop, what, old_name;
SELECT * FROM counters ORDER BY g;
UPDATE shop SET id = id + 100 WHERE id < 3;
SELECT * FROM shop ORDER BY id;
DELETE FROM shop WHERE id = 101;
DELETE FROM shop WHERE g = 2 ORDER BY id LIMIT 1;
DELETE FROM shop WHERE id > 1000;
SELECT * FROM shop ORDER BY id;
SELECT what, shop, old_name, new_name, price, total FROM log ORDER BY shop, what, old_name;
SELECT * FROM counters ORDER BY g;
-- errors: all of the statement or nothing
INSERT INTO shop (id, g, name) VALUES (50, 5, 'fifty'), (5, 5, 'dup');
INSERT INTO shop (id, g, name) VALUES (50, 5, 'fifty'), (51, 5, NULL);
INSERT INTO shop (id, g, name) VALUES (50, 5, 'fifty'), (51, 5, 'a name that is too long for it');
INSERT INTO shop (id, g) VALUES (50, 5);
INSERT INTO shop (id, g, name) VALUES (50, 5);
INSERT INTO shop (id, g, nothing) VALUES (50, 5, 1);
UPDATE shop SET id = 5 WHERE id IN (11, 12);
UPDATE shop SET name = NULL WHERE id = 5;
UPDATE shop SET g = 1 / 0, nothing = 1 WHERE id = 5;
UPDATE shop SET g = 'x' WHERE id = 5;
SELECT * FROM shop ORDER BY id;
SELECT COUNT(*) FROM log;
SELECT * FROM counters ORDER BY g;
BEGIN;
INSERT INTO shop (id, g, name) VALUES (60, 6, 'sixty');
INSERT INTO shop (id, g, name) VALUES (61, 6, 'x'), (60, 6, 'again');
SAVEPOINT a;
DELETE FROM shop WHERE id < 20;
ROLLBACK TO a;
UPDATE shop SET name = 'sixty-one' WHERE id = 60;
SELECT * FROM shop ORDER BY id;
SELECT COUNT(*) FROM log;
SELECT * FROM counters ORDER BY g;
COMMIT;
BEGIN;
DELETE FROM shop;
ROLLBACK;
SELECT COUNT(*) FROM shop;
SELECT COUNT(*) FROM log;
-- what the session is told of its own statement
CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, v INT, seen INT);
-- skip-prepared
CREATE TRIGGER ni AFTER INSERT ON numbered FOR EACH ROW INSERT INTO log (what, shop) VALUES ('numbered', NEW.v);
-- skip-prepared
CREATE TRIGGER nb BEFORE INSERT ON numbered FOR EACH ROW SET NEW.seen = (SELECT COUNT(*) FROM numbered) + COALESCE(NEW.id, 100);
INSERT INTO numbered (id, v) VALUES (10, 1);
INSERT INTO numbered (v) VALUES (2);
SELECT ROW_COUNT();
SELECT LAST_INSERT_ID() = (SELECT MAX(id) FROM numbered);
INSERT INTO numbered (id, v) VALUES (1000, 3), (1001, 4), (1002, 5);
SELECT v, seen FROM numbered ORDER BY v;
-- before: values from other tables, the key itself
CREATE TABLE prices (product VARCHAR(10) PRIMARY KEY, price DECIMAL(8,2));
INSERT INTO prices VALUES ('a', 1.10), ('b', 2.20);
CREATE TABLE orders (id VARCHAR(40) NOT NULL PRIMARY KEY, product VARCHAR(10), n INT NOT NULL DEFAULT 1, price DECIMAL(8,2) NOT NULL, note VARCHAR(30) NOT NULL);
-- skip-prepared
CREATE TRIGGER ob BEFORE INSERT ON orders FOR EACH ROW BEGIN DECLARE p DECIMAL(8,2); DECLARE CONTINUE HANDLER FOR NOT FOUND SET p = -1; IF NEW.id IS NULL OR NEW.id = '' THEN SET NEW.id = CONCAT('order ', NEW.product, ' ', NEW.n); END IF; SELECT price INTO p FROM prices WHERE product = NEW.product; IF p < 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such product', MYSQL_ERRNO = 4712; END IF; SET NEW.price = p * NEW.n, NEW.note = CONCAT(COALESCE(NEW.note, 'null'), '/', NEW.price); END;
-- skip-prepared
CREATE TRIGGER ou BEFORE UPDATE ON orders FOR EACH ROW SET NEW.price = NEW.n * (SELECT price FROM prices WHERE product = NEW.product), NEW.note = CONCAT(OLD.n, '->', NEW.n);
-- skip-prepared
CREATE TRIGGER od BEFORE DELETE ON orders FOR EACH ROW BEGIN IF (SELECT COUNT(*) FROM prices WHERE product = OLD.product AND price > 2) > 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too dear to be deleted'; END IF; END;
INSERT INTO orders (id, product, n, price, note) VALUES ('x', 'a', 2, 0, 'first');
INSERT INTO orders (id, product, n, price, note) VALUES (NULL, 'a', 3, NULL, NULL);
INSERT INTO orders (id, product, n, price, note) VALUES ('', 'b', 1, 0, 'b'), ('y', 'b', 4, 7, 'b');
INSERT INTO orders (id, product, n, price, note) VALUES ('z', 'a', 4, 7, 'b'), ('zz', 'c', 4, 7, 'b');
INSERT INTO orders (id, product, n, price, note) VALUES ('', 'b', 1, 0, 'b');
SELECT * FROM orders ORDER BY id;
UPDATE orders SET n = n + 1 WHERE product = 'b';
UPDATE orders SET product = 'c' WHERE id = 'x';
UPDATE orders SET n = n, id = CONCAT(id, '.') WHERE n > 2;
SELECT * FROM orders ORDER BY id;
DELETE FROM orders;
DELETE FROM orders WHERE product = 'a';
SELECT * FROM orders ORDER BY id;
-- nested: the log has triggers, too
-- skip-prepared
CREATE TRIGGER lb BEFORE INSERT ON log FOR EACH ROW BEGIN IF NEW.what = 'bad' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'bad log'; END IF; SET NEW.new_name = UPPER(NEW.new_name); INSERT INTO counters (g, n) VALUES (1000, 1) ON DUPLICATE KEY UPDATE n = n + 1; END;
INSERT INTO shop (id, g, name) VALUES (70, 7, 'seventy'), (71, 7, 'one more');
SELECT what, shop, new_name FROM log WHERE shop >= 70 ORDER BY shop;
SELECT * FROM counters WHERE g IN (7, 1000) ORDER BY g;
-- skip-prepared
CREATE TRIGGER sb BEFORE UPDATE ON shop FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE '45000' SET NEW.changed = -1; IF NEW.name = 'caught' THEN INSERT INTO log (what) VALUES ('good'), ('bad'); END IF; END;
UPDATE shop SET name = 'caught' WHERE id = 70;
SELECT * FROM shop WHERE id = 70;
-- gap: a statement that fails in a trigger is undone as a whole, also where a handler takes the error
SELECT COUNT(*) FROM log WHERE what = 'good';
-- gap: as above
SELECT * FROM counters WHERE g IN (7, 1000) ORDER BY g;
-- skip-prepared
DROP TRIGGER sb;
-- user variables, procedures
-- skip-prepared
CREATE PROCEDURE note(IN a INT, OUT b INT) BEGIN INSERT INTO counters (g, n) VALUES (a, 1) ON DUPLICATE KEY UPDATE n = n + 1; SELECT n INTO b FROM counters WHERE g = a; END;
CREATE TABLE calls (id INT PRIMARY KEY, v INT);
-- skip-prepared
CREATE TRIGGER cb BEFORE INSERT ON calls FOR EACH ROW BEGIN DECLARE x INT; IF @quiet IS NULL THEN CALL note(2000, x); SET NEW.v = x, @last = NEW.id; END IF; END;
SET @quiet = NULL, @last = NULL;
INSERT INTO calls (id) VALUES (1), (2);
SET @quiet = 1;
INSERT INTO calls (id) VALUES (3), (4);
SELECT * FROM calls ORDER BY id;
SELECT @last;
-- rows that meet others
CREATE TABLE meets (id INT PRIMARY KEY, v INT);
-- skip-prepared
CREATE TRIGGER mb BEFORE INSERT ON meets FOR EACH ROW INSERT INTO counters (g, n) VALUES (3000, 1) ON DUPLICATE KEY UPDATE n = n + 1;
-- skip-prepared
CREATE TRIGGER ma AFTER INSERT ON meets FOR EACH ROW INSERT INTO counters (g, n) VALUES (3001, 1) ON DUPLICATE KEY UPDATE n = n + 1;
INSERT INTO meets VALUES (1, 1), (2, 2);
INSERT IGNORE INTO meets VALUES (1, 5), (3, 3);
REPLACE INTO meets VALUES (1, 6), (4, 4);
INSERT INTO meets VALUES (1, 7), (5, 5) ON DUPLICATE KEY UPDATE v = VALUES(v) + v;
INSERT INTO meets VALUES (1, 13) ON DUPLICATE KEY UPDATE v = v;
SELECT * FROM meets ORDER BY id;
SELECT * FROM counters WHERE g >= 3000 ORDER BY g;
-- skip-prepared
CREATE TRIGGER mu AFTER UPDATE ON meets FOR EACH ROW UPDATE counters SET n = 0 WHERE g = 3000;
-- refused: the server decides which event it is
INSERT INTO meets VALUES (1, 7) ON DUPLICATE KEY UPDATE v = 1;
-- refused: of several tables
UPDATE meets JOIN counters ON id = g SET v = 1;
-- refused: the column is the other table's
UPDATE meets JOIN counters ON id = g SET v = 1, counters.n = 2;
-- refused: a subquery in SET
UPDATE meets SET v = (SELECT MAX(n) FROM counters);
UPDATE meets SET v = 9 WHERE id = (SELECT MIN(id) FROM (SELECT id FROM meets) m);
UPDATE meets SET v = 8 WHERE id > ANY (SELECT m.v - 8 FROM meets m);
UPDATE meets SET v = v + 1 WHERE EXISTS (SELECT 1 FROM counters WHERE g = id + 2999);
SELECT * FROM meets ORDER BY id;
TRUNCATE TABLE meets;
-- what no trigger may do
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW UPDATE calls SET v = 1;
INSERT INTO calls VALUES (5, 5);
-- skip-prepared
DROP TRIGGER z;
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW INSERT INTO log (shop) VALUES (NEW.nothing);
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW INSERT INTO log (shop) VALUES (OLD.id);
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW SET NEW.v = (SELECT 1 FROM log);
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW SELECT * FROM log;
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW BEGIN INSERT INTO log (shop) VALUES (1); COMMIT; END;
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW BEGIN INSERT INTO log (shop) VALUES (1); RETURN 1; END;
-- skip-prepared
CREATE TRIGGER z AFTER INSERT ON calls FOR EACH ROW INSERT INTO missing VALUES (NEW.id);
INSERT INTO calls VALUES (5, 5);
SELECT COUNT(*) FROM calls;
-- skip-prepared
DROP TRIGGER z;
-- how they are shown
SELECT trigger_name, event_manipulation, action_timing, event_object_table, action_order, CAST(action_statement AS CHAR(2000)) FROM information_schema.triggers WHERE trigger_schema = 'compat' ORDER BY 1;
ALTER TABLE shop ADD COLUMN extra INT DEFAULT 5;
RENAME TABLE shop TO store;
INSERT INTO store (id, g, name) VALUES (90, 9, 'renamed');
SELECT * FROM store WHERE id = 90;
SELECT what, shop, new_name FROM log WHERE shop = 90;
DROP TABLE store;
SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'compat' AND event_object_table = 'store';
-- rows are written, and triggers run, in the order in which one server does
CREATE TABLE line (id INT PRIMARY KEY, v INT);
CREATE TABLE seen (n INT AUTO_INCREMENT PRIMARY KEY, id INT);
-- skip-prepared
CREATE TRIGGER lu AFTER UPDATE ON line FOR EACH ROW INSERT INTO seen (id) VALUES (NEW.id);
-- skip-prepared
CREATE TRIGGER ld BEFORE DELETE ON line FOR EACH ROW INSERT INTO seen (id) VALUES (OLD.id);
INSERT INTO line VALUES (8, 8), (1, 1), (5, 5), (3, 3), (2, 2), (7, 7), (4, 4), (6, 6);
UPDATE line SET id = id - 1;
UPDATE line SET id = id + 1;
UPDATE line SET id = id + 1 ORDER BY id DESC;
UPDATE line SET v = v + 10 LIMIT 3;
DELETE FROM line LIMIT 2;
SELECT * FROM line ORDER BY id;
SELECT id FROM seen ORDER BY n;
-- a trigger assigns a variable that later rows of the statement read
CREATE TABLE aux (id INT PRIMARY KEY, f INT);
-- skip-prepared
CREATE TRIGGER ai BEFORE INSERT ON aux FOR EACH ROW SET @aux = NEW.id * 10;
-- skip-prepared
CREATE TRIGGER au BEFORE UPDATE ON aux FOR EACH ROW SET @aux = NEW.id * 100;
SET @aux = 7;
INSERT INTO aux VALUES (1, @aux);
SELECT @aux;
-- refused: the second row reads what the first one's trigger assigns
INSERT INTO aux VALUES (2, 1), (3, @aux);
-- refused: as above
INSERT INTO aux SELECT id + 10, @aux FROM line;
-- refused: as above
UPDATE aux SET f = @aux;
INSERT INTO aux VALUES (4, 1), (5, 2);
SELECT * FROM aux ORDER BY id;
SELECT @aux;

-- An AUTO_INCREMENT column that is NULL, and one that is left out.
CREATE TABLE given (id INT AUTO_INCREMENT PRIMARY KEY, v INT, w INT);
-- skip-prepared
CREATE TRIGGER given_bi BEFORE INSERT ON given FOR EACH ROW SET NEW.id = IF(NEW.id IS NULL, 50 + NEW.v, NEW.id), NEW.w = NEW.id;
-- only: mariadb
INSERT INTO given (id, v) VALUES (NULL, 1);
-- only: mariadb
INSERT INTO given (id, v) VALUES (NULL, 2), (7, 3);
-- only: mariadb
INSERT INTO given (id, v) SELECT NULL, 4;
INSERT INTO given (v) VALUES (5);
INSERT INTO given (id, v) VALUES (DEFAULT, 6), (0, 7);
SELECT v, w FROM given ORDER BY v;
SELECT COUNT(*), COUNT(DISTINCT id) FROM given;
-- skip-prepared
-- refused: it commits nothing, as in a procedure
CREATE TRIGGER given_bu BEFORE UPDATE ON given FOR EACH ROW BEGIN CREATE TEMPORARY TABLE tt (a INT); END;
