-- What a server's own regression tests found, made small.

-- A LIMIT inside parentheses, and one outside.
CREATE TABLE l (a INT PRIMARY KEY);
INSERT INTO l VALUES (1), (2), (3), (4), (5), (6), (7), (8);
(SELECT a FROM l ORDER BY a LIMIT 2) ORDER BY a DESC;
SELECT COUNT(*) FROM ((SELECT a FROM l LIMIT 3) LIMIT 2) AS d;
(SELECT a FROM l ORDER BY a LIMIT 4) LIMIT 1, 2;
(SELECT a FROM l ORDER BY a LIMIT 2) UNION ALL (SELECT a FROM l ORDER BY a DESC LIMIT 1) ORDER BY 1;
SELECT (SELECT MAX(a) FROM l LIMIT 1) AS m ORDER BY m LIMIT 1;
SELECT a FROM l WHERE a IN (SELECT b.a FROM l b) AND a > (SELECT MIN(a) FROM l LIMIT 1) ORDER BY a LIMIT 2;
CREATE VIEW lv AS (SELECT a FROM l ORDER BY a LIMIT 2) ORDER BY a DESC;
SELECT * FROM lv;
DROP VIEW lv;

-- A unique key in place of a primary key.
CREATE TABLE nums (i INT NOT NULL);
INSERT INTO nums VALUES (1), (2), (3);
CREATE TABLE uk (c CHAR(1) NOT NULL, i INT NOT NULL, j INT NOT NULL, UNIQUE KEY k (c, j));
INSERT INTO uk SELECT 'A', i, i FROM nums;
INSERT INTO uk SELECT 'B', i, i FROM nums;
INSERT INTO uk SELECT 'A', i, i FROM nums;
SELECT * FROM uk ORDER BY c, j;
CREATE TABLE both_keys (i INT PRIMARY KEY, UNIQUE KEY u (i));
INSERT INTO both_keys SELECT i FROM nums;
SELECT * FROM both_keys ORDER BY i;

-- A collation of another character set than the client's.
SET NAMES utf8mb4;
SET collation_connection = latin1_swedish_ci;
CREATE TABLE lat (c VARCHAR(10)) CHARACTER SET latin1;
INSERT INTO lat VALUES ('a');
SELECT * FROM lat;
DROP TABLE lat;
SET NAMES utf8mb4;

-- only: mariadb
-- sent: warnings, prepared one server warns when the statement is prepared
-- sent: warning count, prepared one server warns when the statement is prepared
CREATE TABLE yr (id INT PRIMARY KEY, y YEAR(2));
-- only: mariadb
INSERT INTO yr VALUES (1, 98), (2, 0), (3, 2), (4, 60), (5, 70), (6, NULL), (7, 71), (8, 99), (9, 69);
-- only: mariadb
SELECT MIN(y), MAX(y) FROM yr;
-- only: mariadb
SELECT y FROM yr ORDER BY y DESC;
-- only: mariadb
SELECT y, COUNT(*) FROM yr GROUP BY y ORDER BY y;

-- Common table expressions that stand behind those that read them.
-- only: mariadb
WITH RECURSIVE a AS (SELECT i FROM b WHERE i < 3), b AS (SELECT i FROM nums WHERE i > 1) SELECT * FROM a, b WHERE a.i = b.i;
-- only: mariadb
WITH RECURSIVE a AS (SELECT i FROM nums WHERE i = 1 UNION SELECT i FROM b), b AS (SELECT nums.i FROM nums JOIN a ON nums.i = a.i + 1) SELECT * FROM a ORDER BY i;
-- only: mariadb
WITH RECURSIVE a AS (SELECT i FROM nums JOIN b USING (i)), b AS (SELECT i FROM a) SELECT * FROM a;
WITH a AS (SELECT i FROM later), later AS (SELECT i FROM nums) SELECT * FROM a;

-- only: mariadb
CREATE OR REPLACE TABLE cr AS SELECT i, i * 2 AS d FROM nums;
-- only: mariadb
SELECT * FROM cr ORDER BY i;
-- only: mariadb
CREATE OR REPLACE TABLE cr (PRIMARY KEY (i)) SELECT i, 'x' AS s FROM nums WHERE i > 1;
-- only: mariadb
SELECT * FROM cr ORDER BY i;
-- only: mariadb
CREATE OR REPLACE TABLE cr AS SELECT * FROM cr;
-- only: mariadb
CREATE OR REPLACE TABLE cr AS SELECT n.i FROM nums n WHERE n.i IN (SELECT i FROM cr);
-- only: mariadb
CREATE OR REPLACE TABLE cr AS SELECT nosuch FROM nums;
-- only: mariadb
SELECT * FROM cr ORDER BY i;
-- only: mariadb
CREATE OR REPLACE TABLE cr LIKE cr;
-- only: mariadb
CREATE VIEW crv AS SELECT 1 AS x;
-- only: mariadb
CREATE OR REPLACE TABLE crv (a INT PRIMARY KEY);
-- only: mariadb
CREATE OR REPLACE TABLE crv AS SELECT 1;
-- only: mariadb
CREATE OR REPLACE TABLE cr (i INT PRIMARY KEY) AS SELECT 1 AS i UNION ALL SELECT 1;
-- only: mariadb
SELECT * FROM cr;

-- Numbers that are made while they are read.
BEGIN;
-- only: mariadb
INSERT INTO nums SELECT seq FROM seq_4_to_6;
-- only: mariadb
INSERT INTO uk SELECT 'S', seq, n.i FROM seq_1_to_2 JOIN nums n ON n.i = seq;
COMMIT;
-- only: mariadb
SELECT COUNT(*), SUM(i) FROM nums;
-- only: mariadb
SELECT * FROM uk WHERE c = 'S' ORDER BY j;
-- only: mariadb
SELECT CRC32C('MariaDB'), CRC32C(i) FROM nums WHERE i = 1;

-- Both characteristics of transactions at once.
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY;
INSERT INTO nums VALUES (100);
-- only: mariadb
SELECT @@tx_isolation, @@tx_read_only;
SET SESSION TRANSACTION READ WRITE, ISOLATION LEVEL REPEATABLE READ;
-- only: mariadb
SELECT @@tx_isolation, @@tx_read_only;
INSERT INTO nums VALUES (100);

-- OUT parameters of a CALL that is prepared as text, in the client's statement and in a procedure.
CREATE PROCEDURE gives(OUT v TINYINT, IN n INT, INOUT w VARCHAR(10)) SET v = n + 1, w = CONCAT(w, '!');
SET @n = 4, @w = 'hey';
PREPARE giving FROM 'CALL gives(?, ?, ?)';
EXECUTE giving USING @v, @n, @w;
-- only: mariadb
SELECT @v, @n, @w;
EXECUTE giving USING @v, @n, @w;
-- only: mariadb
SELECT @v, @n, @w;
DEALLOCATE PREPARE giving;
-- only: mariadb
EXECUTE IMMEDIATE 'CALL gives(?, ?, ?)' USING @v2, 7, @w;
-- only: mariadb
SELECT @v2, @w;
-- only: mariadb
EXECUTE IMMEDIATE 'CALL gives(?, ?, ?)' USING 1, 7, @w;

-- Variables of a procedure in the text that it runs; parameters in definitions.
-- only: mariadb
CREATE PROCEDURE makes(t VARCHAR(20)) EXECUTE IMMEDIATE REPLACE('CREATE TABLE made_it (id INT PRIMARY KEY, a TYPE)', 'TYPE', t);
-- only: mariadb
CALL makes('decimal(10,2)');
-- only: mariadb
SHOW CREATE TABLE made_it;
-- only: mariadb
-- skip-prepared
EXECUTE IMMEDIATE 'CREATE TABLE with_default (id INT PRIMARY KEY, a TINYTEXT DEFAULT ?)' USING REPEAT('a', 5);
-- only: mariadb
-- skip-prepared
INSERT INTO with_default (id) VALUES (1);
-- only: mariadb
SELECT * FROM with_default;
-- only: mariadb
-- skip-prepared
-- refused: it can be written in the statement
EXECUTE IMMEDIATE 'INSERT INTO with_default VALUES (2, ?)' USING DEFAULT;

-- Tables that are not there.
DROP TABLE IF EXISTS missing1, missing2;
CHECK TABLE missing1;
REPAIR TABLE missing1, nums;
OPTIMIZE TABLE missing1;

-- A compound statement that begins by a block.
-- only: mariadb
BEGIN NOT ATOMIC IF 1 THEN SELECT COUNT(*) FROM nums; END IF; END;
-- sent: length, MariaDB says 0 of the variable of a FOR loop
-- sent: flags, the same
-- only: mariadb
BEGIN NOT ATOMIC FOR n IN 1 .. 2 DO SELECT n; END FOR; SELECT 'behind'; END;
-- only: mariadb
-- refused: the loop is over rows
BEGIN NOT ATOMIC FOR r IN (SELECT i FROM nums) DO SELECT r.i AS i; END FOR; END;

-- Variables of a procedure in the query that fills a table.
CREATE PROCEDURE keeps(v INT) BEGIN CREATE TEMPORARY TABLE kept AS SELECT i, i * 2 AS d FROM nums WHERE i <= v AND i IN (SELECT uk.i FROM uk WHERE uk.i > v - 2); SELECT * FROM kept ORDER BY i; DROP TEMPORARY TABLE kept; END;
CALL keeps(3);
CREATE PROCEDURE keeps_first(v INT) CREATE TABLE kept_first (PRIMARY KEY (i)) SELECT i FROM nums WHERE i < v ORDER BY i LIMIT v;
CALL keeps_first(2);
SELECT * FROM kept_first;
CREATE PROCEDURE hides(i INT) CREATE TABLE kept_all AS SELECT n.i FROM nums n WHERE i = 2;
CALL hides(2);
SELECT COUNT(*) = (SELECT COUNT(*) FROM nums) AS everything FROM kept_all;
-- skip-prepared
CREATE PROCEDURE keeps_value(v INT) CREATE TABLE kept_value AS SELECT v, i FROM nums;
-- skip-prepared
-- refused: the column would have the type of a number
CALL keeps_value(1);

-- DO succeeds where what it computes fails.
-- only: mariadb
DO (SELECT i FROM nums);
-- only: mariadb
SHOW WARNINGS;
DO (SELECT nosuch FROM nums);

-- A warning has the SQLSTATE of the error of its number, and is none.
SET sql_mode = '';
CREATE TABLE narrow (id INT PRIMARY KEY, a TINYINT NOT NULL, s VARCHAR(2));
CREATE PROCEDURE by_state(n BIGINT) BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'outer'; BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE '22003' SELECT 'inner'; INSERT INTO narrow VALUES (n, n, ''); END; END;
CALL by_state(1234);
CREATE PROCEDURE by_class(n BIGINT) BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'outer'; BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 'inner'; INSERT INTO narrow VALUES (n, n, ''); END; END;
CALL by_class(1235);
SELECT * FROM narrow ORDER BY id;
SET sql_mode = DEFAULT;

-- A warning that a handler raises again stays a warning.
CREATE PROCEDURE rewarn() BEGIN DECLARE warn CONDITION FOR SQLSTATE '01234'; DECLARE CONTINUE HANDLER FOR 1012 BEGIN SELECT 'called'; RESIGNAL; END; SIGNAL warn SET MESSAGE_TEXT = 'a warning', MYSQL_ERRNO = 1012; END;
CALL rewarn();
CREATE PROCEDURE rewarn2() BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING BEGIN RESIGNAL SET MESSAGE_TEXT = 'told otherwise', MYSQL_ERRNO = 5555; END; SIGNAL SQLSTATE '01234' SET MESSAGE_TEXT = 'a warning', MYSQL_ERRNO = 1012; END;
CALL rewarn2();
SHOW WARNINGS;
CREATE PROCEDURE rewarn3() BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING BEGIN SELECT 'seen'; RESIGNAL; END; SELECT 10 + 'a'; END;
CALL rewarn3();
CREATE PROCEDURE rewarn4() BEGIN DECLARE EXIT HANDLER FOR SQLWARNING SELECT 'outer'; BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING BEGIN SELECT 'inner'; RESIGNAL; END; SELECT 10 + 'a'; END; SELECT 'not here'; END;
CALL rewarn4();
CREATE PROCEDURE rewarn5() BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING BEGIN RESIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an error now'; END; SELECT 10 + 'a'; END;
CALL rewarn5();

-- Aggregates of the query outside, in the ORDER BY of a set operation and in VALUES.
SELECT (SELECT 1 AS x UNION SELECT 2 ORDER BY COUNT(a) LIMIT 1) AS x FROM l;
-- only: mysql
SELECT (VALUES ROW(SUM(a))) AS x FROM l;
-- only: mysql
SELECT COALESCE((SELECT 1 AS foo UNION SELECT 2 ORDER BY SUM(a) LIMIT 1), 2) AS x FROM l;

-- GROUP_CONCAT sorted by a parameter, which MySQL does not describe.
-- only: mysql
-- skip-prepared
-- refused: MySQL does not describe it
PREPARE gc FROM 'SELECT GROUP_CONCAT(DISTINCT ?, ? ORDER BY 1, (?) DESC SEPARATOR ",")';
-- only: mysql
PREPARE gc FROM 'SELECT GROUP_CONCAT(DISTINCT ? ORDER BY ? + 1), (SELECT 1 ORDER BY ?)';

-- An index over an expression has no column's name, also in a table whose key nobody sees.
-- only: mysql
CREATE TABLE fx (a INT, s VARCHAR(20), KEY fa ((ABS(a))), KEY fs (s));
-- only: mysql
SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, EXPRESSION FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'fx' ORDER BY INDEX_NAME;
-- only: mysql
DROP TABLE fx;

-- Groups by expressions of strings, whose weights the node groups tell for a client with another character set, under ONLY_FULL_GROUP_BY.
CREATE TABLE lgroups (f1 longtext, fl FLOAT, e ENUM('b','a'), id INT PRIMARY KEY);
INSERT INTO lgroups VALUES ('123', 1.1, 'a', 1), ('456', 2.2, 'b', 2), ('126', 1.1, 'a', 3), ('47', 2.2, 'b', 4), ('5', -1, NULL, 5);
SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';
SET NAMES latin1;
SELECT SUBSTRING(f1, 1, 1) FROM lgroups GROUP BY 1;
SELECT SUBSTRING(f1, 1, 1) AS s, COUNT(*) FROM lgroups GROUP BY s;
SELECT SUBSTRING(f1, 1, 1) AS s, COUNT(*) FROM lgroups GROUP BY s ORDER BY s DESC;
SELECT COUNT(*) FROM lgroups GROUP BY SUBSTRING(f1, 1, 1) ORDER BY SUBSTRING(f1, 1, 1) DESC;
SELECT SUBSTRING(f1, 1, 1) AS s, MAX(f1) AS m FROM lgroups GROUP BY s ORDER BY MAX(f1);
SELECT SUBSTRING(f1, 1, 1) AS s, f1 FROM lgroups GROUP BY s;
SELECT SUBSTRING(f1, 1, 1) AS s FROM lgroups GROUP BY s ORDER BY f1;
SELECT CONCAT(e, 'x') AS s, COUNT(*) FROM lgroups GROUP BY s;
SET NAMES utf8mb4;
SELECT -fl AS x, COUNT(*) FROM lgroups GROUP BY 1;
SELECT IF(id > 2, fl, fl) AS x, COUNT(*) FROM lgroups GROUP BY x ORDER BY x DESC;
SELECT CAST(id AS FLOAT) AS x FROM lgroups GROUP BY x ORDER BY x LIMIT 2;
SELECT SUBSTRING(f1, 1, 1) AS s, COUNT(*) FROM lgroups GROUP BY s;
SELECT e, COUNT(*) FROM lgroups GROUP BY e ORDER BY e;
SELECT fl, COUNT(*) FROM lgroups GROUP BY fl ORDER BY fl;
SELECT SUBSTRING(f1, 1, 1) COLLATE utf8mb4_icelandic_ci AS s, COUNT(*) FROM lgroups GROUP BY s;
SELECT SUBSTRING(f1, 1, 1) COLLATE utf8mb4_icelandic_ci AS s, COUNT(*) FROM lgroups GROUP BY s WITH ROLLUP;
SET sql_mode = DEFAULT;
DROP TABLE lgroups;

-- What a function returns, with a character set that is said by CHARACTER SET.
-- skip-prepared
CREATE FUNCTION fcs(a VARCHAR(20) CHARACTER SET ucs2) RETURNS VARCHAR(64) CHARACTER SET latin1 DETERMINISTIC BEGIN DECLARE b VARCHAR(64) CHARACTER SET utf8mb4; SET b = CONCAT(a, 'x'); RETURN b; END;
SELECT fcs('a'), CHARSET(fcs('a'));
-- skip-prepared
CREATE FUNCTION fcs2(a INT) RETURNS CHAR(9) CHAR SET latin1 COLLATE latin1_bin DETERMINISTIC BEGIN IF a > 1 THEN RETURN 'more'; END IF; RETURN 'one'; END;
SELECT fcs2(2), fcs2(1), COLLATION(fcs2(1));
-- skip-prepared
DROP FUNCTION fcs;
-- skip-prepared
DROP FUNCTION fcs2;

-- SHOW CREATE TABLE without quotes around names.
CREATE TABLE unquoted (my_row_id2 INT, a INT);
SET SESSION sql_quote_show_create = 0;
SHOW CREATE TABLE unquoted;
SET SESSION sql_mode = 'ANSI_QUOTES';
SHOW CREATE TABLE unquoted;
SET SESSION sql_quote_show_create = 1;
SHOW CREATE TABLE unquoted;
SET SESSION sql_mode = DEFAULT;
DROP TABLE unquoted;

-- Schema changes of a client whose connection has a character set that is no UTF-8.
SET time_zone = '+00:00';
SET collation_connection = ucs2_general_ci;
CREATE TABLE uc (id INT PRIMARY KEY, a VARCHAR(20) DEFAULT 'ab', e ENUM('x', 'y'), CHECK (a <> 'q'));
SHOW CREATE TABLE uc;
INSERT INTO uc VALUES (1, 'x', 'x'), (2, 'b', 'y');
ALTER TABLE uc ADD COLUMN f VARCHAR(9) DEFAULT 'ñandú', ADD KEY (a);
SELECT * FROM uc ORDER BY id;
CREATE VIEW ucv AS SELECT CONCAT(a, 'x') AS x FROM uc;
DROP VIEW ucv;
-- skip-prepared
CREATE PROCEDURE ucp() SELECT COUNT(*), 'x' FROM uc;
CREATE INDEX i ON uc (f);
ALTER TABLE uc MODIFY a VARCHAR(30) DEFAULT 'zz';
SHOW CREATE TABLE uc;
SET NAMES utf8mb4;
SHOW CREATE TABLE uc;
DROP TABLE uc;
SET time_zone = DEFAULT;
