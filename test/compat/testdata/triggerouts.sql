-- Triggers give columns of NEW to OUT parameters.
CREATE TABLE outs (id INT PRIMARY KEY, s VARCHAR(20), n INT);
-- skip-prepared
CREATE PROCEDURE setter(IN x INT, INOUT y VARCHAR(20)) SET y = CONCAT('set', x, y);
-- skip-prepared
CREATE PROCEDURE five(OUT y INT) SET y = 5;
-- skip-prepared
CREATE TRIGGER outs1 BEFORE INSERT ON outs FOR EACH ROW l: BEGIN IF NEW.id > 100 THEN LEAVE l; END IF; CALL setter(NEW.id, NEW.s); SET @seen = NEW.s; END;
INSERT INTO outs VALUES (1, 'a', 1), (2, 'b', 2), (200, 'c', 3);
SELECT * FROM outs ORDER BY id;
SELECT @seen;
-- skip-prepared
CREATE TRIGGER outs2 AFTER INSERT ON outs FOR EACH ROW CALL five(NEW.n);
INSERT INTO outs VALUES (3, 'a', 1);
-- skip-prepared
DROP TRIGGER outs2;
-- skip-prepared
CREATE TRIGGER outs3 BEFORE UPDATE ON outs FOR EACH ROW CALL five(OLD.n);
UPDATE outs SET s = 'q';
-- skip-prepared
DROP TRIGGER outs3;
-- skip-prepared
CREATE TRIGGER outs4 BEFORE UPDATE ON outs FOR EACH ROW SELECT id FROM outs INTO NEW.n;
-- skip-prepared
CREATE TRIGGER outs5 BEFORE UPDATE ON outs FOR EACH ROW CALL five(NEW.n);
UPDATE outs SET s = CONCAT(s, n), n = 9 WHERE id < 3;
SELECT * FROM outs ORDER BY id;
-- The time of a change.
CREATE TABLE touched (id INT PRIMARY KEY, a INT, l INT, ts DATETIME(2) DEFAULT '2020-01-01' ON UPDATE CURRENT_TIMESTAMP(2), seen VARCHAR(60));
INSERT INTO touched (id, a) VALUES (1, 1), (2, 2), (3, 3), (4, 4);
-- skip-prepared
CREATE TRIGGER touched1 BEFORE UPDATE ON touched FOR EACH ROW BEGIN SET @x = 1; SET NEW.seen = CONCAT(OLD.ts, '|', NEW.ts); IF NEW.id < 4 THEN SET NEW.l = 7; ELSE SET NEW.seen = NULL; END IF; END;
SET timestamp = 1700000000;
UPDATE touched SET a = a;
SELECT * FROM touched ORDER BY id;
SET timestamp = 1700000100;
UPDATE touched SET a = a;
SELECT * FROM touched ORDER BY id;
UPDATE touched SET a = a + 1;
SELECT * FROM touched ORDER BY id;
UPDATE touched SET a = a + 1, ts = '2021-01-01' WHERE id < 3;
SET timestamp = 1700000200;
UPDATE touched SET ts = ts, a = a + 1 WHERE id > 1;
SELECT * FROM touched ORDER BY id;
SET timestamp = DEFAULT;
-- skip-prepared
DROP TRIGGER touched1;
-- skip-prepared
CREATE TRIGGER touched2 BEFORE UPDATE ON touched FOR EACH ROW BEGIN SET @x = 1; SET NEW.ts = '2022-01-01'; END;
UPDATE touched SET a = a;
SELECT * FROM touched ORDER BY id;
-- Names of conditions are found as words.
-- skip-prepared
CREATE PROCEDURE conditions() BEGIN DECLARE a CONDITION FOR SQLSTATE '45001'; DECLARE `sign` CONDITION FOR SQLSTATE '45002'; DECLARE CONTINUE HANDLER FOR a SELECT 'got a'; DECLARE CONTINUE HANDLER FOR `sign` SELECT 'got sign'; signal a SET MESSAGE_TEXT = 'x'; signal a; SIGNAL /* no */ a; SIGNAL `sign`; END;
-- skip-prepared
CALL conditions();
