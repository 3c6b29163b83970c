-- What literals mean depends on sql_mode: a variable's value is the same string in each.
CREATE TABLE vt (id INT PRIMARY KEY, g VARCHAR(40), u VARCHAR(40) COLLATE utf8mb4_unicode_ci);
INSERT INTO vt VALUES (1, 'a', 'ann'), (2, 'b', 'ANN '), (3, 'c', 'cc'), (4, 'a\\b', ''), (6, 'a\\\\b', '');
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
-- skip-prepared
CREATE PROCEDURE slashes(y VARCHAR(200), OUT o VARCHAR(200)) BEGIN SET o = y; SELECT COUNT(*) FROM vt WHERE o = g; SELECT id FROM vt WHERE CONCAT(g, '|') = CONCAT(y, '|'); END;
SET sql_mode = '';
-- skip-prepared
CALL slashes('\\', @o);
SELECT @o, HEX(@o);
-- skip-prepared
CALL slashes('\\\', @took = (SELECT MAX(g) FROM vt) -- ', @o);
SELECT @o, @took;
-- skip-prepared
CALL slashes('a\\b', @o);
SELECT @o;
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
-- skip-prepared
CALL slashes('a\b', @o);
SELECT @o, HEX(@o);
SET sql_mode = '';
-- skip-prepared
CREATE PROCEDURE changes(y VARCHAR(200), OUT o VARCHAR(200)) BEGIN SELECT COUNT(*) FROM vt WHERE g = y; SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT COUNT(*) FROM vt WHERE g = y; SET o = y; SET sql_mode = ''; SELECT id FROM vt WHERE g = y; END;
-- skip-prepared
CALL changes('a\\b', @o);
SELECT @o;
-- Triggers that change a row one after the other, in other modes than the session's.
CREATE TABLE seen (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(40));
CREATE TRIGGER first BEFORE INSERT ON vt FOR EACH ROW BEGIN SET NEW.g = CONCAT(NEW.g, '\\'); INSERT INTO seen (v) VALUES (NEW.g); END;
CREATE TRIGGER second BEFORE INSERT ON vt FOR EACH ROW FOLLOWS first BEGIN SET NEW.u = CONCAT(NEW.g, '\\'); INSERT INTO seen (v) VALUES (NEW.u); END;
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
INSERT INTO vt VALUES (5, 'x\', 'y\');
SELECT g, u FROM vt WHERE id = 5;
SELECT v FROM seen ORDER BY id;
SET sql_mode = '';
-- Behind the list of assignments nothing is assigned.
CREATE TABLE kt (k VARCHAR(9) PRIMARY KEY, n INT, g VARCHAR(9));
INSERT INTO kt VALUES ('a', 1, 'a'), ('b', 2, 'b');
-- skip-prepared
CREATE PROCEDURE orders(y VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) UPDATE kt SET n = n + 1 ORDER BY n, g = y LIMIT 4;
-- skip-prepared
CALL orders('a');
SELECT * FROM kt ORDER BY k;
-- skip-prepared
-- only: mariadb
CREATE PROCEDURE returns(y VARCHAR(9)) INSERT INTO kt SET k = 'r', n = 1 RETURNING n, COALESCE(y = k, 2) AS same;
-- skip-prepared
-- only: mariadb
CALL returns('r');
-- What a type says of its collation.
-- skip-prepared
-- only: mariadb
CREATE PROCEDURE short(y VARCHAR(20) CHARACTER SET utf8mb4 COLLATE uca1400_ai_ci) SELECT COUNT(*) FROM vt WHERE y = 'ANN' AND id < 3;
-- skip-prepared
-- only: mariadb
CALL short('ann');
-- skip-prepared
CREATE PROCEDURE spelled(y VARCHARACTER(20)) SELECT COLLATION(y) FROM vt WHERE id = 1;
-- skip-prepared
CALL spelled('ann');
-- ENUM of another character set.
-- skip-prepared
CREATE PROCEDURE members(OUT o ENUM('é', 'b') CHARACTER SET latin1) BEGIN SET o = 'é'; UPDATE vt SET g = CONCAT(o, '!') WHERE id = 2; SELECT id, CONCAT(o, g) FROM vt WHERE id = 2; END;
-- skip-prepared
CALL members(@o);
SELECT @o, HEX(@o);
SELECT g FROM vt WHERE id = 2;
-- skip-prepared
-- only: mariadb
CREATE PROCEDURE cases(y VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) CASE (SELECT u FROM vt WHERE id = 2) WHEN y THEN SELECT 'same'; ELSE SELECT 'other'; END CASE;
-- skip-prepared
-- only: mariadb
CALL cases('ann');
-- only: mariadb
SET sql_mode = 'EMPTY_STRING_IS_NULL';
-- skip-prepared
-- only: mariadb
CREATE PROCEDURE empties(y VARCHAR(9), OUT o VARCHAR(9)) BEGIN SET y = TRIM(' '); SELECT id FROM vt WHERE y IS NOT NULL AND CONCAT(y, 'a') = g; SET o = y; SELECT COUNT(*) FROM vt WHERE o = g; END;
-- skip-prepared
-- only: mariadb
CALL empties('x', @o);
-- only: mariadb
SELECT @o IS NULL, HEX(@o);
-- only: mariadb
SET sql_mode = DEFAULT;
-- A program is read in the sql_mode of CREATE, whatever it sets.
SET sql_mode = '';
CREATE TABLE mt (id INT PRIMARY KEY, x VARCHAR(9), b VARCHAR(9));
INSERT INTO mt VALUES (1, 'b', 'b'), (2, 'x', 'c'), (3, 'b', 'b'), (4, 'x', 'd');
-- skip-prepared
CREATE PROCEDURE quoted_later() BEGIN SET SESSION sql_mode = 'ANSI_QUOTES'; DELETE FROM mt WHERE x = "b"; END;
-- skip-prepared
-- refused: a sql_mode set in a stored program
CALL quoted_later();
-- skip-prepared
CREATE PROCEDURE piped_later() BEGIN SET SESSION sql_mode = 'PIPES_AS_CONCAT'; DELETE FROM mt WHERE 0 || 0; END;
-- skip-prepared
-- refused: a sql_mode set in a stored program
CALL piped_later();
-- skip-prepared
CREATE PROCEDURE slashes_later() BEGIN SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT LENGTH('a\\b'); END;
-- skip-prepared
-- refused: a sql_mode set in a stored program
CALL slashes_later();
-- skip-prepared
CREATE PROCEDURE spaced_later() BEGIN SET SESSION sql_mode = 'IGNORE_SPACE'; SELECT COUNT(*) FROM mt WHERE NOT id IS NULL AND NOT EXISTS (SELECT 1) OR id IN (1); SET sql_mode = 'HIGH_NOT_PRECEDENCE'; END;
-- skip-prepared
-- refused: a sql_mode set in a stored program
CALL spaced_later();
-- skip-prepared
CREATE PROCEDURE strict_later() BEGIN SET SESSION sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES,PIPES_AS_CONCAT'; SELECT @@sql_mode; PREPARE p FROM 'SELECT "x", 1 || 0 FROM mt WHERE id = 4'; EXECUTE p; SELECT COUNT(*) FROM mt WHERE x = 'b'; INSERT INTO mt VALUES (5, 'too long for it', 'c'); END;
-- skip-prepared
CALL strict_later();
SELECT @@sql_mode;
SELECT * FROM mt ORDER BY id;
-- What else a procedure sets ends with it, or not.
-- skip-prepared
CREATE PROCEDURE limits() BEGIN SET sql_select_limit = 2; SELECT id FROM mt ORDER BY id; SELECT @@sql_select_limit; END;
-- skip-prepared
CREATE PROCEDURE limits_more() BEGIN SET sql_select_limit = 3; CALL limits(); SELECT @@sql_select_limit; SELECT id FROM mt ORDER BY id; END;
-- skip-prepared
CALL limits();
SELECT @@sql_select_limit;
SELECT id FROM mt ORDER BY id;
-- skip-prepared
CALL limits_more();
SET sql_select_limit = 1;
-- skip-prepared
CALL limits();
SELECT @@sql_select_limit;
SELECT id FROM mt ORDER BY id;
SET sql_select_limit = DEFAULT;
-- skip-prepared
CREATE PROCEDURE sets() BEGIN SET time_zone = '+03:00', foreign_key_checks = 0, group_concat_max_len = 44; SET collation_connection = latin1_bin; SELECT @@collation_connection; END;
-- skip-prepared
CALL sets();
SELECT @@time_zone, @@foreign_key_checks, @@group_concat_max_len, @@collation_connection, @@character_set_connection;
SET time_zone = DEFAULT, foreign_key_checks = 1, group_concat_max_len = DEFAULT;
-- skip-prepared
CREATE PROCEDURE named() BEGIN SET NAMES latin1; SELECT @@character_set_client; END;
-- skip-prepared
CALL named();
SELECT @@character_set_client, @@collation_connection, @@character_set_results;
SET NAMES utf8mb4;
-- skip-prepared
CREATE PROCEDURE unchecks() SET foreign_key_checks = 0;
-- skip-prepared
CREATE TRIGGER mt_unchecks BEFORE INSERT ON mt FOR EACH ROW CALL unchecks();
-- refused: SET foreign_key_checks in what a trigger calls
INSERT INTO mt VALUES (7, 'x', 'y');
-- skip-prepared
DROP TRIGGER mt_unchecks;
SELECT @@foreign_key_checks;
