CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10));
INSERT INTO a (v) VALUES ('a');
SELECT LAST_INSERT_ID();
INSERT INTO a (v) VALUES ('b'), ('c'), ('d');
SELECT LAST_INSERT_ID();
INSERT INTO a VALUES (NULL, 'e');
INSERT INTO a VALUES (0, 'f');
INSERT INTO a VALUES (100, 'g');
SELECT LAST_INSERT_ID();
INSERT INTO a (v) VALUES ('h');
SELECT LAST_INSERT_ID() AS l;
SELECT * FROM a WHERE id = LAST_INSERT_ID();
SELECT * FROM a ORDER BY id;
INSERT INTO a SET v = 'i';
SELECT id, v FROM a ORDER BY id DESC LIMIT 1;
INSERT INTO a VALUES (DEFAULT, 'j');
SELECT MAX(id) FROM a;
CREATE TABLE n (x INT, y VARCHAR(10));
INSERT INTO n VALUES (1, 'a'), (2, 'b'), (2, 'b'), (NULL, NULL);
INSERT INTO n (y) VALUES ('c');
SELECT * FROM n;
SELECT x, COUNT(*) FROM n GROUP BY x ORDER BY x;
UPDATE n SET y = 'z' WHERE x = 2;
DELETE FROM n WHERE x = 1;
SELECT * FROM n;
SHOW COLUMNS FROM n;
SHOW INDEX FROM n;
-- The end of a column.
CREATE TABLE narrow (id TINYINT AUTO_INCREMENT PRIMARY KEY, v INT);
-- only: mariadb
INSERT INTO narrow VALUES (125, 1), (NULL, 2);
-- only: mariadb
INSERT INTO narrow VALUES (NULL, 3);
-- only: mariadb
INSERT INTO narrow VALUES (NULL, 4);
-- only: mariadb
INSERT INTO narrow VALUES (-1, 5), (NULL, 6);
-- only: mariadb
INSERT INTO narrow (v) VALUES (7);
SELECT * FROM narrow ORDER BY id;
-- A number that an UPDATE gives is not given out again.
CREATE TABLE renumbered (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO renumbered (v) VALUES (1), (2), (3);
UPDATE renumbered SET id = 10 WHERE id = 2;
INSERT INTO renumbered (v) VALUES (4);
UPDATE renumbered SET id = id + 20 WHERE v > 3;
INSERT INTO renumbered (v) VALUES (5);
SELECT * FROM renumbered ORDER BY v;
-- Numbers that the rows of a query bring.
CREATE TABLE copied (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10));
INSERT INTO copied SELECT * FROM a;
INSERT INTO copied (v) VALUES ('next');
SELECT COUNT(*), MAX(id) FROM copied;
CREATE TABLE copied_ref (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10)) COMMENT 'skarv:reference';
CREATE TABLE plain_ref (id INT PRIMARY KEY, v VARCHAR(10)) COMMENT 'skarv:reference';
INSERT INTO plain_ref VALUES (5, 'x'), (9, 'y');
INSERT INTO copied_ref SELECT * FROM plain_ref;
INSERT INTO copied_ref (v) VALUES ('next');
SELECT id, v FROM copied_ref ORDER BY id;
INSERT INTO copied SELECT id + 1000, v FROM plain_ref;
INSERT INTO copied (v) VALUES ('next');
SELECT MAX(id) FROM copied;
BEGIN;
INSERT INTO copied SELECT id, v FROM a WHERE id = -1;
INSERT INTO copied SELECT 3000 AS id, v FROM a WHERE id = 1;
INSERT INTO copied (v) VALUES ('next');
COMMIT;
SELECT MAX(id) FROM copied;
-- Numbers taken for rows that come to nothing are not given to another statement, and not to another table.
CREATE TABLE refused (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE taking (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CREATE TABLE given (v INT PRIMARY KEY);
INSERT INTO given VALUES (1), (2), (3);
INSERT INTO taking (v) VALUES (10), (20);
INSERT INTO refused VALUES (NULL, 1), ('x', 2);
INSERT INTO taking (v) SELECT v FROM given ORDER BY v;
SELECT * FROM taking ORDER BY id;
INSERT INTO refused VALUES (NULL, 1), ('x', 2);
REPLACE INTO taking (v) SELECT v + 10 FROM given ORDER BY v;
SELECT * FROM taking ORDER BY id;
INSERT INTO refused VALUES (NULL, 1), ('x', 2);
INSERT INTO refused (v) SELECT v FROM given ORDER BY v;
SELECT * FROM refused ORDER BY id;
-- A number that the column cannot hold is refused, and uses nothing up.
CREATE TABLE beyond (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO beyond VALUES (99999999999, 1);
INSERT INTO beyond VALUES (1, 1), ('99999999999999999999999', 2), (2147483648, 3);
INSERT INTO beyond VALUES (2147483647.5, 1);
INSERT INTO beyond VALUES (3e9, 1);
INSERT INTO beyond (v) VALUES (2);
SELECT COUNT(*), MAX(id) < 10 FROM beyond;
CREATE TABLE beyond_big (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO beyond_big VALUES (18446744073709551616, 1);
INSERT INTO beyond_big (v) VALUES (2);
SELECT COUNT(*), MAX(id) < 10 FROM beyond_big;
-- skip-prepared
INSERT IGNORE INTO beyond VALUES (99999999999, 3);
SELECT MAX(id) FROM beyond;
-- only: mariadb
INSERT INTO beyond (v) VALUES (4);

-- Negative values become 0 in an UNSIGNED column, where a statement is not strict: the next number.
CREATE TABLE ai (c1 TINYINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, c2 VARCHAR(10));
INSERT INTO ai VALUES (1, NULL);
INSERT IGNORE INTO ai VALUES (-1, 'innodb');
INSERT IGNORE INTO ai VALUES (-127, 'innodb');
INSERT INTO ai VALUES (NULL, NULL);
SELECT * FROM ai ORDER BY c1, c2;
SELECT * FROM ai WHERE c1 = 1;
SELECT * FROM ai WHERE c1 = 2;
SELECT * FROM ai WHERE c1 = 3;
SELECT * FROM ai WHERE c1 = 4;
CREATE TABLE ni (c1 TINYINT UNSIGNED PRIMARY KEY, c2 VARCHAR(10));
INSERT IGNORE INTO ni VALUES (-1, 'a');
INSERT IGNORE INTO ni VALUES (300, 'b');
INSERT IGNORE INTO ni VALUES (-3, 'c');
SELECT * FROM ni ORDER BY c1;
SELECT * FROM ni WHERE c1 = 0;
SELECT * FROM ni WHERE c1 = 255;
SET sql_mode = '';
CREATE TABLE an (c1 TINYINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, c2 VARCHAR(10));
INSERT INTO an VALUES (-1, 'a');
INSERT INTO an VALUES ('x', 'b');
INSERT INTO an VALUES ('-5', 'b');
INSERT INTO an VALUES (-0.3, 'b');
INSERT INTO an VALUES (0.3, 'b');
INSERT INTO an VALUES ('', 'b'), ('0', 'b'), (0e0, 'b');
INSERT INTO an VALUES (NULL, 'c');
SELECT * FROM an ORDER BY c1;
SELECT * FROM an WHERE c1 = 1;
SELECT * FROM an WHERE c1 = 2;
SELECT * FROM an WHERE c1 = 3;
INSERT INTO an (c2) VALUES ('d');
SELECT COUNT(*), COUNT(DISTINCT c1) FROM an;
SET sql_mode = DEFAULT;
INSERT INTO an VALUES (-0.3, 'strict');
INSERT INTO an VALUES (0.3, 'strict');
INSERT INTO an VALUES (-0.7, 'strict');
INSERT INTO an VALUES (-0, 'strict'), (NULL, 'x');
INSERT INTO an VALUES (-7, 'strict');
INSERT INTO an VALUES (-0e0, 'strict'), (-0.0, 'y');
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
DELETE FROM an;
INSERT INTO an VALUES (-7, 'zero');
SELECT LAST_INSERT_ID() > 1, COUNT(*) FROM an WHERE c1 = 0;
INSERT IGNORE INTO an VALUES (-9, 'dup'), (NULL, 'next'), (-1, 'dup');
SELECT c1 = 0, c2 FROM an ORDER BY c1;
SET sql_mode = DEFAULT;
INSERT IGNORE INTO an SELECT -id, 'sel' FROM (SELECT 3 AS id UNION SELECT 4) AS d;
SELECT COUNT(*), COUNT(DISTINCT c1), MIN(c1) FROM an;
DROP TABLE an;
DROP TABLE ai;
DROP TABLE ni;
-- values near the end of the type, which leave nothing behind them
CREATE TABLE lastbut (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO lastbut VALUES (18446744073709551614, 1);
INSERT INTO lastbut VALUES (18446744073709551613, 2), (1, 3);
SELECT * FROM lastbut ORDER BY id;
