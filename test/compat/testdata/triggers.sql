CREATE TABLE t (id INT PRIMARY KEY, g INT, v VARCHAR(20), n INT NOT NULL, changed INT DEFAULT 0);
-- skip-prepared
CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.n = COALESCE(NEW.n, 7), NEW.v = UPPER(NEW.v);
-- skip-prepared
CREATE TRIGGER bu BEFORE UPDATE ON t FOR EACH ROW BEGIN IF NEW.g < 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'negative', MYSQL_ERRNO = 4711; END IF; SET NEW.changed = OLD.changed + 1; END;
INSERT INTO t (id, g, v, n) VALUES (1, 1, 'a', 1), (2, 1, 'b', 2), (3, 2, 'c', 3), (4, 3, 'd', 4);
INSERT INTO t (id, g, v, n) VALUES (5, 1, 'e', 5);
SELECT * FROM t ORDER BY id;
UPDATE t SET g = g + 1 WHERE id = 1;
UPDATE t SET g = g + 1;
UPDATE t SET g = g;
SELECT * FROM t ORDER BY id;
UPDATE t SET g = -1 WHERE id = 2;
UPDATE t SET g = g - 3;
SELECT * FROM t ORDER BY id;
REPLACE INTO t (id, g, v, n) VALUES (1, 9, 'x', 9), (6, 6, 'y', 6);
INSERT INTO t (id, g, v, n) VALUES (1, 10, 'z', 10), (7, 7, 'q', 7) ON DUPLICATE KEY UPDATE g = VALUES(g);
SELECT * FROM t ORDER BY id;
INSERT IGNORE INTO t (id, g, v, n) VALUES (1, 11, 'i', 11), (8, 8, 'j', 8);
INSERT INTO t (id, g, v, n) SELECT 9, 1, 'sel', 1;
-- refused: a row moves by delete and insert
UPDATE t SET id = id + 100;
DELETE FROM t WHERE g = 8;
SELECT * FROM t ORDER BY id;
-- skip-prepared
CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.g = 1;
-- skip-prepared
CREATE TRIGGER x BEFORE INSERT ON nothing FOR EACH ROW SET NEW.g = 1;
-- skip-prepared
CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.nothing = 1;
-- skip-prepared
CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW SET NEW.g = 1;
-- refused: the row's place, behind a trigger that servers run
-- skip-prepared
CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NEW.id + 1;
-- skip-prepared
CREATE TRIGGER ad AFTER DELETE ON t FOR EACH ROW BEGIN IF OLD.id = 4 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept'; END IF; END;
DELETE FROM t WHERE id = 4;
DELETE FROM t;
SELECT COUNT(*) FROM t;
DELETE FROM t WHERE id = 5;
SELECT COUNT(*) FROM t;
SELECT trigger_name, event_manipulation, action_timing, event_object_table, action_statement FROM information_schema.triggers WHERE trigger_schema = 'compat' ORDER BY 1;
ALTER TABLE t ADD extra INT;
UPDATE t SET extra = 1 WHERE id = 1;
SELECT * FROM t ORDER BY id;
-- skip-prepared
DROP TRIGGER bu;
UPDATE t SET g = -5 WHERE id = 1;
SELECT * FROM t WHERE id = 1;
-- skip-prepared
DROP TRIGGER bu;
-- skip-prepared
DROP TRIGGER IF EXISTS bu;
-- skip-prepared
CREATE FUNCTION half(n INT) RETURNS INT DETERMINISTIC RETURN n DIV 2;
-- skip-prepared
CREATE TRIGGER bu BEFORE UPDATE ON t FOR EACH ROW SET NEW.changed = half(NEW.g);
UPDATE t SET g = 20 WHERE id < 4;
SELECT * FROM t ORDER BY id;
RENAME TABLE t TO t9;
INSERT INTO t9 (id, g, v, n) VALUES (20, 1, 'renamed', 1);
UPDATE t9 SET g = 40 WHERE id = 20;
SELECT * FROM t9 ORDER BY id;
CREATE TABLE r (id INT PRIMARY KEY, v VARCHAR(10)) COMMENT 'skarv:reference';
-- skip-prepared
CREATE TRIGGER ri BEFORE INSERT ON r FOR EACH ROW SET NEW.v = CONCAT(NEW.v, '!');
INSERT INTO r VALUES (1, 'a'), (2, 'b');
SELECT * FROM r ORDER BY id;
-- skip-prepared
CREATE TRIGGER ru BEFORE UPDATE ON r FOR EACH ROW SET NEW.v = IF(UUID() = '', NEW.v, CONCAT(OLD.v, '?'));
UPDATE r SET v = 'c';
SELECT * FROM r ORDER BY id;
CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
-- skip-prepared
CREATE TRIGGER ab BEFORE INSERT ON a FOR EACH ROW SET NEW.v = NEW.id;
INSERT INTO a (v) VALUES (8), (9);
SELECT v FROM a;
DELETE FROM a;
-- skip-prepared
DROP TRIGGER ab;
-- skip-prepared
CREATE TRIGGER ab BEFORE INSERT ON a FOR EACH ROW SET NEW.v = NEW.v * 2;
INSERT INTO a (v) VALUES (1), (2), (3);
SELECT v FROM a ORDER BY v;
CREATE TABLE e (id INT PRIMARY KEY, mail VARCHAR(20) UNIQUE, v INT);
-- skip-prepared
CREATE TRIGGER eb BEFORE INSERT ON e FOR EACH ROW SET NEW.mail = LOWER(NEW.mail);
INSERT INTO e VALUES (1, 'A', 1), (2, 'B', 2);
INSERT INTO e VALUES (4, 'D', 1), (3, 'a', 2);
SELECT * FROM e ORDER BY id;
DELETE FROM e;
-- skip-prepared
DROP TRIGGER eb;
-- skip-prepared
CREATE TRIGGER eb BEFORE INSERT ON e FOR EACH ROW SET NEW.v = NEW.v + 1;
INSERT INTO e VALUES (1, 'a', 1), (2, 'b', 2);
INSERT INTO e VALUES (3, 'a', 3);
-- skip-prepared
CREATE TRIGGER eu BEFORE UPDATE ON e FOR EACH ROW SET NEW.v = OLD.v + 10;
UPDATE e SET mail = 'c' WHERE id = 1;
UPDATE e SET mail = CONCAT(mail, id);
UPDATE e SET v = 0 WHERE mail = 'b2';
SELECT * FROM e ORDER BY id;
-- refused: rows are looked for, deleted and changed one by one
REPLACE INTO e VALUES (3, 'c1', 9);
-- refused: rows are looked for, deleted and changed one by one
INSERT INTO e VALUES (3, 'c1', 9) ON DUPLICATE KEY UPDATE v = 9;
DELETE FROM e WHERE mail = 'c1';
SELECT * FROM e ORDER BY id;
CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(20), n INT);
-- skip-prepared
CREATE TRIGGER bb BEFORE INSERT ON b FOR EACH ROW SET NEW.v = CONCAT(UPPER(NEW.v), '/', NEW.n);
INSERT INTO b SELECT id, mail, v FROM e;
INSERT INTO b SELECT id + 10, mail, v FROM e;
INSERT INTO b VALUES (20, 'x', 1), (20 + 1, 'y', (SELECT 5));
SELECT * FROM b ORDER BY id;
-- skip-prepared
CREATE TRIGGER bd BEFORE UPDATE ON b FOR EACH ROW SET NEW.n = NEW.n + 1;
-- refused: rows that stay the same would not be updated
UPDATE b SET n = (SELECT COUNT(*) FROM e);
-- Rows of which the server that fires cannot tell alone that they are meant.
CREATE TABLE lim (id INT PRIMARY KEY, n INT NOT NULL, s VARCHAR(5), w INT, u INT, at TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, UNIQUE (u, id));
INSERT INTO lim VALUES (1, 1, 'a', 1, 1, NULL), (2, 2, 'b', 1, 2, NULL), (3, 3, 'c', 2, 3, NULL), (4, 4, 'd', 2, 4, NULL);
-- skip-prepared
CREATE TRIGGER limu BEFORE UPDATE ON lim FOR EACH ROW SET NEW.n = COALESCE(NEW.n, 50), NEW.w = OLD.w + 10;
UPDATE lim SET w = 0 WHERE w = 2 LIMIT 1;
SELECT SUM(w) FROM lim;
UPDATE lim SET s = 'z' ORDER BY n DESC LIMIT 3;
UPDATE lim SET n = NULL WHERE id IN (1, 2, 3) ORDER BY id LIMIT 2;
UPDATE lim SET n = NULL WHERE id IN (SELECT n FROM e);
UPDATE lim SET u = u + 1, s = 'e' WHERE w IN (SELECT 1 UNION SELECT n + 10 FROM b) ORDER BY id;
UPDATE lim SET n = n ORDER BY id LIMIT 2;
UPDATE lim SET s = 'too long' ORDER BY id LIMIT 2;
-- args: [3, 11, 1]
-- args: [4, 99, 1]
UPDATE lim SET u = ? WHERE w <> ? ORDER BY id LIMIT ?;
SELECT SUM(n), SUM(w), SUM(u), COUNT(at) FROM lim;
START TRANSACTION;
UPDATE lim SET u = 0 ORDER BY id LIMIT 1;
SELECT id, u FROM lim ORDER BY id;
ROLLBACK;
SELECT id, n, s, u FROM lim ORDER BY id;
-- refused: which rows are ignored
UPDATE IGNORE lim SET u = 0 ORDER BY id LIMIT 1;
DELETE FROM b WHERE id IN (SELECT id FROM e);
SELECT * FROM b ORDER BY id;
CREATE TABLE s (id INT PRIMARY KEY, v INT) COMMENT 'skarv:single';
-- skip-prepared
CREATE TRIGGER sb BEFORE INSERT ON s FOR EACH ROW SET NEW.id = NEW.id + 1, NEW.v = NEW.v * 2;
INSERT INTO s VALUES (1, 1), (2, 2);
SELECT * FROM s ORDER BY id;
DROP TABLE t9;
SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'compat' AND event_object_table = 't9';
-- Columns that shift under a trigger.
CREATE TABLE trsh (s VARCHAR(20) PRIMARY KEY, v VARCHAR(10), id INT);
-- skip-prepared
CREATE TRIGGER trsht BEFORE INSERT ON trsh FOR EACH ROW SET NEW.v = CONCAT(NEW.v, '!');
ALTER TABLE trsh ADD z INT DEFAULT 4 FIRST;
INSERT INTO trsh (s, v, id) VALUES ('a', 'x', 1), ('b', 'y', 2), ('c', 'z', 3);
SELECT * FROM trsh ORDER BY s;
ALTER TABLE trsh DROP COLUMN z, MODIFY id INT FIRST;
INSERT INTO trsh (s, v, id) VALUES ('d', 'x', 1), ('e', 'y', 2), ('f', 'z', 3);
SELECT * FROM trsh ORDER BY s;
DROP TABLE trsh;
-- What a foreign key does to rows on other node groups fires no triggers; where servers would fire one for it, it is refused.
CREATE TABLE cas_a (id INT PRIMARY KEY, n INT);
CREATE TABLE cas_b (id INT PRIMARY KEY, a INT, n INT, FOREIGN KEY (a) REFERENCES cas_a (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE cas_c (id INT PRIMARY KEY, b INT, n INT, FOREIGN KEY (b) REFERENCES cas_b (id) ON DELETE RESTRICT ON UPDATE CASCADE);
CREATE TABLE cas_d (id INT PRIMARY KEY, a INT, n INT, FOREIGN KEY (a) REFERENCES cas_a (id) ON DELETE SET NULL);
INSERT INTO cas_a VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
INSERT INTO cas_b VALUES (11, 1, 1), (12, 2, 2), (13, 3, 3);
INSERT INTO cas_c VALUES (21, 12, 1);
INSERT INTO cas_d VALUES (31, 4, 1), (32, 3, 1);
-- skip-prepared
CREATE TRIGGER cas_bi BEFORE INSERT ON cas_b FOR EACH ROW SET NEW.n = NEW.n + 1;
-- skip-prepared
CREATE TRIGGER cas_ci BEFORE INSERT ON cas_c FOR EACH ROW SET NEW.n = NEW.n + 1;
-- skip-prepared
CREATE TRIGGER cas_cu BEFORE UPDATE ON cas_c FOR EACH ROW SET NEW.n = NEW.n + 1;
-- skip-prepared
CREATE TRIGGER cas_di BEFORE INSERT ON cas_d FOR EACH ROW SET NEW.n = NEW.n + 1;
DELETE FROM cas_a WHERE n = 1;
DELETE FROM cas_a WHERE n = 2;
DELETE FROM cas_a WHERE n = 4;
UPDATE cas_a SET id = 8 WHERE n = 3;
UPDATE cas_a SET id = 9 WHERE n = 5;
SELECT * FROM cas_a ORDER BY id;
SELECT * FROM cas_b ORDER BY id;
SELECT * FROM cas_c ORDER BY id;
SELECT * FROM cas_d ORDER BY id;
-- refused: triggers
UPDATE cas_b SET id = 99 WHERE n = 2;
-- skip-prepared
CREATE TRIGGER cas_du BEFORE UPDATE ON cas_d FOR EACH ROW SET NEW.n = NEW.n + 1;
-- refused: triggers
DELETE FROM cas_a WHERE n = 5;
-- skip-prepared
DROP TRIGGER cas_du;
-- skip-prepared
CREATE TRIGGER cas_dd BEFORE DELETE ON cas_d FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept';
DELETE FROM cas_a WHERE n = 5;
-- skip-prepared
CREATE TRIGGER cas_bd AFTER DELETE ON cas_b FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept';
-- refused: triggers
DELETE FROM cas_a WHERE n = 3;
-- only: mariadb
-- refused: triggers
REPLACE INTO cas_a VALUES (3, 3);
SELECT COUNT(*) FROM cas_a;
-- LIMIT behind the whole primary key, as tools write it, is one row's; and triggers for other events are not in the way of an UPDATE.
CREATE TABLE one_row (id INT PRIMARY KEY, n INT, seen INT);
CREATE TABLE counted (id INT PRIMARY KEY, n INT, seen INT);
INSERT INTO one_row VALUES (1, 1, 0), (2, 2, 0), (3, 3, 0);
INSERT INTO counted VALUES (1, 1, 0), (2, 2, 0), (3, 3, 0);
-- skip-prepared
CREATE TRIGGER one_row_u BEFORE UPDATE ON one_row FOR EACH ROW SET NEW.seen = OLD.seen + 1;
-- skip-prepared
CREATE TRIGGER counted_i BEFORE INSERT ON counted FOR EACH ROW SET NEW.seen = 100;
-- skip-prepared
CREATE TRIGGER counted_d BEFORE DELETE ON counted FOR EACH ROW SET @gone = OLD.n;
UPDATE one_row SET n = 10 WHERE id = 1 LIMIT 1;
UPDATE one_row SET n = 10 WHERE id = 1 ORDER BY n LIMIT 1;
UPDATE one_row SET n = 20 WHERE n = 2 AND id = 2 LIMIT 5;
UPDATE one_row SET n = 30 WHERE n > 2 ORDER BY id LIMIT 1;
DELETE FROM one_row WHERE id = 3 LIMIT 1;
SELECT * FROM one_row ORDER BY id;
UPDATE counted SET n = n + 5 ORDER BY id DESC LIMIT 2;
UPDATE counted SET n = n + (SELECT COUNT(*) FROM one_row) WHERE id > 1;
-- refused: rows that move are deleted and inserted
UPDATE counted SET id = id + 100 ORDER BY id LIMIT 3;
SELECT * FROM counted ORDER BY id;
SELECT @gone;
DROP TABLE one_row, counted;
