CREATE TABLE t (id INT PRIMARY KEY, v INT);
-- skip-prepared
CREATE EVENT e1 ON SCHEDULE EVERY 2 HOUR STARTS '2037-01-01 10:00:00' ENDS '2037-06-01 00:00:00' ON COMPLETION PRESERVE DISABLE COMMENT 'it''s one' DO INSERT INTO t VALUES (1, 1);
-- skip-prepared
CREATE EVENT e1 ON SCHEDULE EVERY 1 DAY DO SELECT 1;
-- skip-prepared
CREATE EVENT IF NOT EXISTS E1 ON SCHEDULE EVERY 1 DAY DO SELECT 1;
-- skip-prepared
CREATE EVENT e2 ON SCHEDULE AT '2037-02-03 04:05:06' DO BEGIN DECLARE x INT DEFAULT 5; INSERT INTO t VALUES (x, x); END;
-- skip-prepared
CREATE EVENT e3 ON SCHEDULE EVERY '1:30' HOUR_MINUTE STARTS '2037-01-01' ENABLE DO UPDATE t SET v = v + 1;
SELECT event_schema, event_name, event_type, execute_at, interval_value, interval_field, starts, ends, on_completion, event_comment, event_definition FROM information_schema.events WHERE event_schema = 'compat' ORDER BY event_name;
SELECT event_name, CONCAT(status, ''), time_zone, event_body, last_executed FROM information_schema.events WHERE event_schema = 'compat' AND status LIKE '%ABLED' ORDER BY event_name;
-- skip-prepared
ALTER EVENT e1 ON SCHEDULE EVERY 1 MONTH STARTS '2037-01-31' ENABLE;
-- skip-prepared
ALTER EVENT e2 ON COMPLETION PRESERVE COMMENT 'another' DO SELECT 2;
-- skip-prepared
ALTER EVENT e3 DISABLE;
-- skip-prepared
ALTER EVENT e3 RENAME TO e1;
-- skip-prepared
ALTER EVENT e3 RENAME TO e4;
-- skip-prepared
ALTER EVENT e4 RENAME TO E4;
-- skip-prepared
ALTER EVENT nosuch RENAME TO nosuch;
-- skip-prepared
ALTER EVENT nothing DISABLE;
SELECT event_name, CONCAT(status, ''), on_completion, interval_value, interval_field, starts, event_comment, event_definition FROM information_schema.events WHERE event_schema = 'compat' ORDER BY event_name;
-- skip-prepared
CREATE EVENT wrong ON SCHEDULE EVERY 0 DAY DO SELECT 1;
-- skip-prepared
CREATE EVENT wrong ON SCHEDULE EVERY 1 DAY STARTS '2037-02-01' ENDS '2037-01-01' DO SELECT 1;
-- skip-prepared
CREATE EVENT wrong ON SCHEDULE AT 'nonsense' DO SELECT 1;
-- skip-prepared
CREATE EVENT wrong ON SCHEDULE EVERY 1 DAY DO;
-- skip-prepared
CREATE EVENT wrong ON SCHEDULE EVERY 1 DAY DO SELECT FROM;
-- skip-prepared
CREATE EVENT past ON SCHEDULE AT '2001-01-01 00:00:00' DO SELECT 1;
-- sent: warnings, the note that the time is over is not given
-- skip-prepared
CREATE EVENT pastkept ON SCHEDULE AT '2001-01-01 00:00:00' ON COMPLETION PRESERVE DO SELECT 1;
SELECT event_name, CONCAT(status, ''), execute_at FROM information_schema.events WHERE event_schema = 'compat' ORDER BY event_name;
-- skip-prepared
SET sql_mode = 'ANSI_QUOTES', time_zone = '+02:00';
-- skip-prepared
CREATE EVENT "e5" ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DISABLE DO SELECT "v" FROM "t";
SELECT event_name, sql_mode, time_zone, starts FROM information_schema.events WHERE event_name = 'e5';
-- skip-prepared
SET sql_mode = DEFAULT, time_zone = DEFAULT;
-- skip-prepared
DROP EVENT e5;
-- skip-prepared
DROP EVENT e5;
-- skip-prepared
DROP EVENT IF EXISTS e5;
-- only: mariadb
-- skip-prepared
ALTER EVENT e1 DISABLE ON SLAVE;
-- only: mysql
-- skip-prepared
ALTER EVENT e1 DISABLE ON REPLICA;
SELECT event_name, CONCAT(status, ''), status = 'ENABLED' FROM information_schema.events WHERE event_schema = 'compat' ORDER BY event_name;
SHOW CREATE EVENT nothing;
SHOW EVENTS LIKE 'nothing';
SHOW EVENTS WHERE Name LIKE 'nothing%';
SHOW EVENTS FROM compat WHERE `Interval field` = 'CENTURY' OR Db = 'other' AND Starts > '2037-01-01';
SHOW EVENTS WHERE nothing = 1;
-- skip-prepared
DROP EVENT e1;
-- skip-prepared
DROP EVENT e2;
-- skip-prepared
DROP EVENT e4;
-- skip-prepared
DROP EVENT pastkept;
SELECT COUNT(*) FROM information_schema.events WHERE event_schema = 'compat';
-- Events can be prepared.
PREPARE ev FROM 'CREATE EVENT ev_p ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1';
EXECUTE ev;
PREPARE ev FROM 'ALTER EVENT ev_p COMMENT ''c'' DO DROP VIEW IF EXISTS nothing';
EXECUTE ev;
SELECT event_name, event_comment, event_definition FROM information_schema.events WHERE event_schema = 'compat' AND event_name = 'ev_p';
PREPARE ev FROM 'DROP EVENT ev_p';
EXECUTE ev;
EXECUTE ev;
DEALLOCATE PREPARE ev;
