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
