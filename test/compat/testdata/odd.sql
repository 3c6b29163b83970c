-- Statements that are rare, and right or refused all the same.
CREATE TABLE p (id INT PRIMARY KEY, x INT);
CREATE TABLE v (k VARCHAR(30) PRIMARY KEY, x VARCHAR(40));
CREATE TABLE d (k DATETIME(6) PRIMARY KEY, c DATETIME(6), n INT);
CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, x INT);
CREATE TABLE ux (id INT PRIMARY KEY, x INT, y INT, UNIQUE KEY (x));

-- An expression for a column by which the row is placed is an error, or a warning, as in the INSERT.
INSERT INTO p (id, x) VALUES (CAST('abc' AS SIGNED), 1);
INSERT INTO p (id, x) VALUES ('5' + 'x', 1);
INSERT INTO p (id, x) VALUES (1 / 0, 1);
INSERT INTO p (id, x) VALUES (CAST('12x' AS SIGNED), 1), (900, 1);
REPLACE INTO p SET x = 1, id = '7' + 'x';
INSERT INTO ux (id, x) VALUES (1, '5' + 'x');
INSERT INTO v VALUES (DATE_ADD('2024-99-01', INTERVAL 1 DAY), 'x');
INSERT INTO v VALUES (CAST('2024-99-01' AS DATE), 'x');
INSERT INTO v VALUES (STR_TO_DATE('bad', '%Y'), 'x');
INSERT IGNORE INTO p (id, x) VALUES (CAST('13x' AS SIGNED), 1);
SELECT @@warning_count;
SET sql_mode = '';
INSERT INTO p (id, x) VALUES (CAST('14x' AS SIGNED), 1), (15, 2);
SELECT @@warning_count;
SET sql_mode = DEFAULT;
SELECT * FROM p ORDER BY id;
SELECT * FROM v;
SELECT * FROM ux;
-- Not every warning is an error in a strict sql_mode.
INSERT INTO v VALUES (CONVERT('k' USING utf8), 'x');
SELECT @@warning_count;
INSERT INTO v VALUES (CAST('abc' AS CHAR(2)), 'x');
SELECT @@warning_count;
INSERT INTO v VALUES (CONVERT(X'FFFE' USING utf8mb4), 'x');
INSERT INTO v VALUES (CONCAT(LN(-1), 'a'), 'x');
INSERT INTO v VALUES (ADDTIME('838:59:59', '1:00:00'), 'x');
INSERT INTO v VALUES (LENGTH(REPEAT('a', 1 << 30)), 'x');
SELECT * FROM v ORDER BY k;
-- It is computed at the same time of day as the other values.
INSERT INTO d VALUES (NOW(6), NOW(6), 1);
INSERT INTO d VALUES (NOW(6) + INTERVAL 1 DAY, NOW(6), 2), (NOW(6) + INTERVAL 2 DAY, NOW(6), 3), (NOW(6) + INTERVAL 3 DAY, CURRENT_TIMESTAMP(6), 4);
SELECT n FROM d WHERE k = c + INTERVAL n - 1 DAY ORDER BY n;
SELECT COUNT(DISTINCT c) FROM d WHERE n > 1;
SELECT NOW(6) > MAX(c) FROM d;
-- refused: what it gives would be lost
INSERT INTO p (id, x) VALUES (LAST_INSERT_ID(55), LAST_INSERT_ID());
-- refused: the same
INSERT INTO ux (id, x) VALUES (61, LAST_INSERT_ID(71));
-- refused: another connection would remember it
SET @z = LAST_INSERT_ID(9);
-- refused: the same
DO LAST_INSERT_ID(12);
-- refused: LAST_INSERT_ID() beside LAST_INSERT_ID(expression)
INSERT INTO p (id, x) VALUES (57, LAST_INSERT_ID(58)), (58, LAST_INSERT_ID(59)), (59, 1), (60, LAST_INSERT_ID());
INSERT INTO p (id, x) VALUES (57, LAST_INSERT_ID(58)), (58, LAST_INSERT_ID(59)), (59, 1);
SELECT LAST_INSERT_ID();
INSERT INTO a (x) VALUES (LAST_INSERT_ID(500));
SELECT LAST_INSERT_ID();
INSERT INTO a (id, x) VALUES (1, 0) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), x = 3;
SELECT LAST_INSERT_ID();

-- Servers find the least member of an ENUM by its number where there is a key, else by its name.
CREATE TABLE ke (k ENUM('z','B','c d') PRIMARY KEY, e ENUM('z','B','c d'), s SET('z','y'), i SET('z','y'), KEY (i));
INSERT INTO ke VALUES ('z', 'z', 'z', 'z'), ('B', 'B', 'y', 'y'), ('c d', 'c d', 'z,y', 'z,y');
SELECT MIN(e), MAX(e), MIN(s), MAX(s) FROM ke;
SELECT MIN(k + 0), MAX(CONCAT(k, '')) FROM ke;
SELECT MIN(k), MAX(k) FROM ke WHERE k = 'B';
-- refused: one server compares numbers
SELECT MIN(k), MAX(k) FROM ke;
-- refused: one server compares numbers
SELECT MAX(i) FROM ke;
-- refused: it depends on the plan
SELECT e, MAX(k) FROM ke GROUP BY e ORDER BY e;
CREATE TABLE ke2 (id INT PRIMARY KEY, n INT, e ENUM('z','B','c d'), s SET('z','y'), KEY (n, e), KEY (n, s));
INSERT INTO ke2 VALUES (1, 1, 'z', 'z'), (2, 2, 'B', 'y'), (3, 1, 'c d', 'z,y'), (4, 3, 'c d', 'y'), (5, 1, NULL, NULL), (6, 2, 'z', '');
SELECT MIN(e), MAX(e), MIN(s), MAX(s) FROM ke2;
SELECT MAX(e) FROM ke2;
SELECT MIN(s) FROM ke2;
SELECT MIN(e), MAX(e) FROM ke2 WHERE id > 1;
-- refused: one server compares numbers
SELECT MAX(e) FROM ke2 WHERE n = 1;
-- refused: it depends on the plan
SELECT n, MIN(e) FROM ke2 GROUP BY n ORDER BY n;

-- Of an INSERT IGNORE of several rows MariaDB leaves out those that a CHECK constraint refuses; of one row it is an error.
CREATE TABLE ck (id INT PRIMARY KEY, a INT CHECK (a > 0), b INT, CONSTRAINT ab CHECK (a < b OR b IS NULL));
-- only: mariadb
INSERT IGNORE INTO ck VALUES (1, 1, 2), (2, 5, 1), (3, -1, NULL), (4, 1, NULL);
-- only: mariadb
SELECT @@warning_count;
-- only: mariadb
INSERT IGNORE INTO ck VALUES (5, 5, 1);
-- only: mariadb
INSERT IGNORE INTO ck VALUES (6, 1, 2), (7, 5, 1);
-- only: mariadb
SELECT * FROM ck ORDER BY id;
CREATE TABLE cu (id INT PRIMARY KEY, a INT CHECK (a > 0), b INT, UNIQUE KEY (b));
-- only: mariadb
INSERT IGNORE INTO cu VALUES (1, 1, 1), (2, 0, 2), (3, 3, 1);
SELECT * FROM cu ORDER BY id;

-- What a session is told holds for its next transaction, too.
SET TRANSACTION READ ONLY;
SET SESSION TRANSACTION READ WRITE;
INSERT INTO p VALUES (1000, 1);
SET TRANSACTION READ ONLY;
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
INSERT INTO p VALUES (1001, 1);
SET SESSION TRANSACTION READ ONLY;
INSERT INTO p VALUES (1001, 1);
SET SESSION TRANSACTION READ WRITE;
INSERT INTO p VALUES (1001, 1);
SELECT id FROM p WHERE id >= 1000 ORDER BY id;

-- A SELECT from tables ends the warnings of the statement before, also one from the servers' own.
SELECT nosuch FROM p;
SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'compat';
SHOW WARNINGS;

-- Weights of PAD SPACE collations with expansions are not padded to one length.
CREATE TABLE cs (id INT PRIMARY KEY, a VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_german2_ci, b VARCHAR(2) CHARACTER SET utf8mb4 COLLATE utf8mb4_czech_ci);
INSERT INTO cs VALUES (1, 'ä', 'ßx'), (2, 'ae', 'ßa'), (3, 'ß', 'ss'), (4, 'ss', 'ß'), (5, 'Ä', 'ch'), (6, 'ae ', 'cz'), (7, NULL, ''), (8, 'af', 'h'), (9, 'ad', 'ßb');
SELECT id FROM cs ORDER BY a, id;
SELECT id FROM cs ORDER BY b, id;
SELECT COUNT(*), MIN(id) FROM cs GROUP BY a ORDER BY 2;
SELECT COUNT(*), MIN(id) FROM cs GROUP BY b ORDER BY 2;
SELECT COUNT(*) FROM (SELECT DISTINCT a FROM cs) x;
SELECT COUNT(DISTINCT a), COUNT(DISTINCT b) FROM cs;

-- What the connection's character set does not have is another character for a server: it is stored as a question mark.
CREATE TABLE cc (k VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, n INT);
SET character_set_connection = latin1;
INSERT INTO cc VALUES ('é', 1), ('я', 2), ('z', 3);
INSERT INTO cc VALUES ('яя', 4);
SELECT n FROM cc WHERE k = '?';
SELECT n FROM cc WHERE k = 'ж';
SELECT n FROM cc WHERE k = 'é';
UPDATE cc SET k = 'яяя' WHERE n = 3;
SET NAMES utf8mb4;
SELECT n FROM cc WHERE k = '?';
SELECT n FROM cc WHERE k = '??';
SELECT n FROM cc WHERE k = '???';
SELECT n FROM cc WHERE k = 'é';
SELECT n FROM cc WHERE k = 'я';
DELETE FROM cc WHERE k = '?';
SET collation_connection = utf8mb3_general_ci;
INSERT INTO cc VALUES ('😀q', 5);
SET NAMES utf8mb4;
SELECT n FROM cc WHERE k = '?q';
SELECT n FROM cc WHERE k = '😀q';
SELECT n, HEX(k) FROM cc ORDER BY n;
SET NAMES ascii;
SELECT n FROM cc WHERE k = '??';
SET NAMES utf8mb4;

-- The parameters of LIMIT need not be integers: each server has its own way to make them some.
CREATE TABLE li (id INT PRIMARY KEY, a INT);
INSERT INTO li VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8);
-- args: ["5"]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: ["3abc"]
SELECT id FROM li ORDER BY id LIMIT ?;
SELECT @@warning_count;
-- args: ["abc"]
SELECT id FROM li ORDER BY id LIMIT ?;
SHOW WARNINGS;
-- args: ["-1"]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: [" 4"]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: ["9223372036854775808"]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: ["99999999999999999999999"]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: [null]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: [-1]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: [2.5]
SELECT id FROM li ORDER BY id LIMIT ?;
-- args: ["3", "2"]
SELECT id FROM li ORDER BY id LIMIT ? OFFSET ?;
-- args: ["3", null]
SELECT id FROM li ORDER BY id LIMIT ? OFFSET ?;
-- args: [-3, 1]
SELECT id FROM li ORDER BY id LIMIT ? OFFSET ?;
-- args: ["5"]
SELECT a, COUNT(*) FROM li GROUP BY a ORDER BY a LIMIT ?;
-- args: ["2"]
SELECT DISTINCT a FROM li ORDER BY a LIMIT ?;
-- args: ["3"]
SELECT id FROM li UNION ALL SELECT a FROM li ORDER BY 1 LIMIT ?;
-- args: ["2"]
SELECT d.id, e.a FROM (SELECT id FROM li ORDER BY id LIMIT ?) d JOIN li e ON e.a = d.id ORDER BY d.id;
-- args: ["3"]
UPDATE li SET a = a + 1 ORDER BY id LIMIT ?;
SET @three = '3', @none = NULL, @word = 'abc', @less = -1, @half = 2.5, @most = 18446744073709551615;
PREPARE l FROM 'SELECT id FROM li ORDER BY id LIMIT ?';
EXECUTE l USING @three;
EXECUTE l USING @none;
EXECUTE l USING @word;
SELECT @@warning_count;
EXECUTE l USING @less;
EXECUTE l USING @half;
EXECUTE l USING @most;
PREPARE l FROM 'UPDATE li SET a = 0 ORDER BY id LIMIT ?';
EXECUTE l USING @three;
EXECUTE l USING @less;
EXECUTE l USING @none;
SELECT * FROM li ORDER BY id;
DEALLOCATE PREPARE l;
-- only: mariadb
EXECUTE IMMEDIATE 'SELECT id FROM li ORDER BY id LIMIT ?' USING '3x';
-- only: mariadb
SHOW WARNINGS;
SELECT id FROM li LIMIT -1;
SELECT id FROM li LIMIT 0x3;

-- Diagnostics: of all rows of an INSERT, as many as max_error_count keeps, without notes where nobody wants them.
SET sql_mode = '';
INSERT INTO li (id, a) VALUES (11, 'x'), (12, 'y'), (13, 3), (14, 99999999999);
-- skip-prepared
SHOW WARNINGS;
SELECT FOUND_ROWS();
INSERT INTO li (id, a) SELECT id + 20, CONCAT(a, 'x') FROM li WHERE id < 3;
-- skip-prepared
SHOW WARNINGS;
SET max_error_count = 2;
INSERT INTO li (id, a) VALUES (31, 'x'), (32, 'y'), (33, 'z'), (34, 'z');
-- skip-prepared
SHOW WARNINGS;
SELECT @@warning_count;
INSERT INTO li (id, a) VALUES (35, 'x');
SELECT @@warning_count;
SET max_error_count = 0;
SELECT nosuch FROM li;
-- skip-prepared
SHOW WARNINGS;
SET max_error_count = DEFAULT, sql_notes = 0;
DROP TABLE IF EXISTS nosuch;
-- skip-prepared
SHOW WARNINGS;
SELECT @@warning_count;
SET sql_notes = DEFAULT, sql_mode = DEFAULT;
DROP TABLE IF EXISTS nosuch;
-- skip-prepared
SHOW WARNINGS;
SELECT 1 UNION SELECT 2;
-- skip-prepared
SHOW WARNINGS;
SELECT FOUND_ROWS();

-- SET TRANSACTION waits for the next transaction: what has no tables is none, and what it forbids is none either.
SET TRANSACTION READ ONLY;
SELECT 1;
UPDATE li SET a = 1 WHERE id = 1;
UPDATE li SET a = 1;
INSERT INTO li VALUES (50, 1), (51, 1), (52, 1);
UPDATE li x JOIN li y ON x.a = y.id SET x.a = 5;
SELECT COUNT(*) FROM li WHERE id = 1;
UPDATE li SET a = 1 WHERE id = 1;
-- skip-prepared
-- only: mariadb
SET TRANSACTION READ ONLY;
-- skip-prepared
-- only: mariadb
SELECT nosuch FROM li;
UPDATE li SET a = 1 WHERE id = 1;
-- skip-prepared
SET TRANSACTION READ ONLY;
-- skip-prepared
CREATE TABLE li2 (id INT PRIMARY KEY);
UPDATE li SET a = 1 WHERE id = 1;

-- What says who asks is in the character set of names.
SELECT CHARSET(USER()), COLLATION(CURRENT_USER), COERCIBILITY(SESSION_USER()), CHARSET(CONCAT(USER(), 'é'));

-- Common table expressions of subqueries.
CREATE TABLE w (id INT PRIMARY KEY, a INT);
INSERT INTO w VALUES (1, 1), (2, 2), (3, 1), (4, 3);
SELECT id FROM w WHERE a IN (WITH c AS (SELECT id FROM w WHERE id < 3) SELECT id FROM c) ORDER BY id;
SELECT id FROM w WHERE a = (WITH c AS (SELECT id FROM w WHERE id < 3) SELECT MAX(id) FROM c) ORDER BY id;
SELECT (WITH c AS (SELECT a FROM w) SELECT COUNT(*) FROM c) n;
SELECT id, (WITH c AS (SELECT a FROM w) SELECT COUNT(*) FROM c WHERE c.a = w.id) n FROM w ORDER BY id;
SELECT id FROM w WHERE EXISTS (WITH c AS (SELECT a FROM w) SELECT 1 FROM c WHERE c.a = w.id) ORDER BY id;
WITH o AS (SELECT * FROM w) SELECT id FROM o WHERE a IN (WITH c AS (SELECT 1 id UNION SELECT 2) SELECT id FROM c) ORDER BY id;
SELECT id FROM w WHERE id IN (WITH w AS (SELECT 1 id) SELECT id FROM w) ORDER BY id;
SELECT c.id FROM w c WHERE c.a IN (WITH c AS (SELECT id FROM w WHERE id < 3) SELECT id FROM c) ORDER BY 1;
SELECT * FROM (WITH RECURSIVE c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c WHERE n < 3) SELECT n, id FROM c JOIN w ON w.a = n) x ORDER BY 1, 2;
SELECT * FROM (WITH a AS (WITH b AS (SELECT id FROM w) SELECT id FROM b), b AS (SELECT a FROM w) SELECT a.id, b.a FROM a JOIN b ON a.id = b.a) x ORDER BY 1, 2;
-- The number of MIN and MAX of members.
CREATE TABLE members (id INT PRIMARY KEY, g INT, st SET('a','b','c'), en ENUM('red','green','Blue'));
INSERT INTO members VALUES (1, 1, 'b', 'red'), (2, 1, 'a,b', 'green'), (3, 1, 'c', 'Blue'), (4, 2, 'b', 'red'), (5, 3, 'a,b', 'green'), (6, 4, NULL, NULL);
SELECT MIN(st) AS m, id, g FROM members WHERE id IN (4, NULL, NULL, 5) GROUP BY id, g ORDER BY 1, 2 DESC;
SELECT MAX(en) AS m, id, g FROM members WHERE id IN (2, 4, 5, 6) GROUP BY id, g ORDER BY 1 DESC, 2 DESC;
SELECT g, MIN(st), MAX(en) FROM members GROUP BY g ORDER BY MIN(st), g;
SELECT id, st FROM members ORDER BY st DESC, id;
SELECT id FROM members ORDER BY en, id;
DROP TABLE members;
-- Rows that IGNORE leaves out for a constraint, of a table whose rows are written one by one: of a single row it is an error on MariaDB.
CREATE TABLE cj (id INT AUTO_INCREMENT PRIMARY KEY, doc JSON, qty INT UNSIGNED CHECK (qty >= 10), k VARCHAR(10), UNIQUE KEY (k));
INSERT IGNORE INTO cj (doc, qty, k) VALUES ('{"a": 1}', 10, 'a'), ('{"a": 2}', 9, 'b'), ('{"a": 3}', 11, 'a'), (NULL, NULL, 'c'), ('[]', 8, 'c'), ('[1]', 12, 'd');
-- only: mariadb
INSERT IGNORE INTO cj (doc, qty, k) VALUES ('[2]', 10, 'f'), ('{"a": 1', 10, 'e');
SELECT doc, qty, k FROM cj ORDER BY k;
-- only: mariadb
INSERT IGNORE INTO cj (doc, qty, k) VALUES ('[3]', 1, 'g');
-- only: mariadb
INSERT IGNORE INTO cj (doc, qty, k) VALUES ('{}', 1, 'g'), ('{}', 100, 'a'), ('{}', 100, 'h') RETURNING qty, k;
DROP TABLE cj;
