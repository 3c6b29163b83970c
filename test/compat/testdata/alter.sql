CREATE TABLE n (a INT, b VARCHAR(10));
INSERT INTO n VALUES (1, 'x'), (1, 'x'), (2, NULL);
ALTER TABLE n ADD COLUMN c INT DEFAULT 7;
ALTER TABLE n ADD COLUMN d INT, ADD e VARCHAR(5) NOT NULL DEFAULT 'q' FIRST, ADD KEY (b);
SELECT * FROM n ORDER BY a;
INSERT INTO n VALUES ('e', 3, 'y', 8, 9), (DEFAULT, 4, 'z', DEFAULT, NULL);
INSERT INTO n (d, a) VALUES (1, 5);
INSERT INTO n SELECT * FROM n WHERE a > 2;
SELECT * FROM n ORDER BY a, c, d;
UPDATE n SET d = a + c WHERE d IS NULL;
DELETE FROM n WHERE a = 1 LIMIT 1;
SELECT * FROM n ORDER BY a, c, d;
ALTER TABLE n DROP COLUMN c;
SELECT * FROM n ORDER BY a, d;
DESCRIBE n;
CREATE TABLE m LIKE n;
INSERT INTO m SELECT * FROM n;
SELECT COUNT(*), SUM(d) FROM m;
CREATE TABLE q AS SELECT a, COUNT(*) AS n FROM n GROUP BY a;
ALTER TABLE q ADD COLUMN z INT DEFAULT 7, ADD INDEX (n);
SELECT * FROM q ORDER BY a;
-- What an ALTER has done to rows is told for all of them.
CREATE TABLE many (id INT PRIMARY KEY, c VARCHAR(10), n INT);
INSERT INTO many VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', 4), (5, 'e', 5), (6, 'f', 6), (7, 'g', 7), (8, 'h', 8);
ALTER TABLE many MODIFY c CHAR(5);
ALTER TABLE many MODIFY c VARCHAR(12) CHARACTER SET latin1, ADD x INT;
ALTER TABLE many MODIFY n BIGINT;
-- A column that is dropped and made anew has no old values, which says where rows lie and what number they get.
CREATE TABLE counted (i INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY);
INSERT INTO counted VALUES (NULL), (NULL), (NULL), (NULL), (NULL);
ALTER TABLE counted DROP i, ADD i INT UNSIGNED NOT NULL AUTO_INCREMENT, DROP PRIMARY KEY, ADD PRIMARY KEY (i);
SELECT * FROM counted ORDER BY i;
ALTER TABLE many DROP id, ADD id INT NOT NULL DEFAULT 3;
-- What a server says to an ALTER must not depend on the key that it gave a table without one.
CREATE TABLE keyless (v VARCHAR(10));
INSERT INTO keyless VALUES ('x'), ('y'), ('z');
ALTER TABLE keyless ORDER BY no_such;
-- sent: warnings, the hidden key of a table without one is the index by which MariaDB ignores ORDER BY
-- sent: warning count, the same
-- sent: information, the same
ALTER TABLE keyless ORDER BY v;
ALTER TABLE keyless DROP PRIMARY KEY;
ALTER TABLE keyless ADD KEY (v), ADD w INT;
SELECT * FROM keyless ORDER BY v;
-- A connection's collation may be of another character set than what it sends.
SET NAMES utf8mb4;
SET collation_connection = latin1_swedish_ci;
CREATE TABLE sent (a INT PRIMARY KEY, b VARCHAR(5) DEFAULT 'Ã¤');
SELECT COLUMN_DEFAULT FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'sent' AND column_name = 'b';
SET NAMES utf8mb3;
SET character_set_client = utf8mb4, character_set_connection = utf8mb4;
SELECT @@character_set_connection, @@collation_connection;
ALTER TABLE sent ADD c INT;
DROP TABLE sent, many, counted;
SET NAMES utf8mb4;
-- A definition in another character set than UTF-8.
SET NAMES latin1;
CREATE TABLE narrow (id INT PRIMARY KEY, e ENUM('été', 'über') CHARACTER SET latin1, s VARCHAR(10) CHARACTER SET utf8mb4 DEFAULT 'åäö') COMMENT 'åäö';
INSERT INTO narrow (id, e) VALUES (1, 'été'), (2, 'über');
SELECT id, HEX(e), HEX(s) FROM narrow ORDER BY id;
ALTER TABLE narrow ADD t VARCHAR(10) DEFAULT 'æ';
SET NAMES utf8mb4;
SELECT id, e, s, t FROM narrow ORDER BY id;
-- ANSI quotes do not show the key of a table without one.
SET sql_mode = 'ANSI_QUOTES';
SHOW CREATE TABLE keyless;
SET sql_mode = DEFAULT;
DROP TABLE narrow, keyless;
CREATE TABLE narrow (id INT PRIMARY KEY, a VARCHAR(50), v VARCHAR(50) AS (CONCAT(a, 'x')) VIRTUAL, w VARCHAR(50) AS (a) VIRTUAL);
INSERT INTO narrow (id, a) VALUES (1, '1'), (2, '2'), (3, 'looooong'), (4, '4'), (5, '5');
-- sent: message, the row is one of those of a node group
-- sent: warnings, the row is one of those of a node group
ALTER TABLE narrow MODIFY v VARCHAR(3) AS (CONCAT(a, 'x')) VIRTUAL;
-- sent: message, the row is one of those of a node group
-- sent: warnings, the row is one of those of a node group
ALTER TABLE narrow MODIFY v INT AS (a) VIRTUAL;
SHOW CREATE TABLE narrow;
UPDATE narrow SET a = 3 WHERE id = 3;
ALTER TABLE narrow MODIFY v VARCHAR(3) AS (CONCAT(a, 'x')) VIRTUAL, MODIFY w INT AS (a) VIRTUAL;
SELECT * FROM narrow ORDER BY id;
DROP TABLE narrow;
-- Values of a distribution key stay what they are, for rows lie where these say.
CREATE TABLE clamped (id INT PRIMARY KEY, v INT);
INSERT INTO clamped VALUES (300, 1), (400, 2), (5, 3);
-- sent: message, the row is one of those of a node group
-- sent: warnings, the row is one of those of a node group
ALTER TABLE clamped MODIFY id TINYINT;
SET sql_mode = '';
-- sent: warnings, those of values that were changed on other node groups are not told
ALTER TABLE clamped MODIFY id TINYINT;
ALTER TABLE clamped CHANGE id i INT UNSIGNED NOT NULL;
ALTER TABLE clamped MODIFY id BIGINT, MODIFY v TINYINT NOT NULL;
INSERT INTO clamped VALUES (5, 4);
SELECT * FROM clamped ORDER BY id;
CREATE TABLE clampednull (a INT, v INT) PARTITION BY KEY (a);
INSERT INTO clampednull VALUES (NULL, 1), (0, 2);
-- sent: warnings, the row is one of those of a node group
ALTER TABLE clampednull MODIFY a INT NOT NULL;
SET sql_mode = DEFAULT;
-- sent: message, the row is one of those of a node group
-- sent: warnings, the row is one of those of a node group
ALTER TABLE clampednull MODIFY a INT NOT NULL;
UPDATE clampednull SET a = 1 WHERE a IS NULL;
ALTER TABLE clampednull MODIFY a INT NOT NULL;
SELECT * FROM clampednull ORDER BY a, v;
SELECT v FROM clampednull WHERE a = 0 ORDER BY v;
-- Rows that are dropped have entries in indexes of the cluster.
CREATE TABLE ignored (id INT, g INT, a INT, b INT, PRIMARY KEY (id, g), UNIQUE ub (b)) COMMENT 'skarv:key=g';
INSERT INTO ignored VALUES (1, 1, 1, 10), (2, 1, 1, 20);
-- only: mariadb
-- refused: it drops row 2, whose entry stays
ALTER IGNORE TABLE ignored ADD UNIQUE ua (g, a);
-- only: mysql
ALTER IGNORE TABLE ignored ADD UNIQUE ua (g, a);
INSERT IGNORE INTO ignored VALUES (3, 2, 5, 20);
SELECT * FROM ignored ORDER BY id;
DROP TABLE clamped, clampednull, ignored;
-- The time and chance in new columns: all servers have the same, that of the statement.
CREATE TABLE filledref (id INT PRIMARY KEY) COMMENT 'skarv:reference';
CREATE TABLE filled (id INT PRIMARY KEY);
INSERT INTO filledref VALUES (1), (2);
INSERT INTO filled VALUES (1), (2), (3), (4), (5);
ALTER TABLE filledref ADD c TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6);
ALTER TABLE filled ADD c TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6);
SELECT COUNT(DISTINCT c) FROM filled;
SELECT COUNT(DISTINCT c) FROM filledref;
SELECT COUNT(*) FROM filled f JOIN filledref r ON r.id = 1 WHERE r.c BETWEEN NOW() - INTERVAL 1 HOUR AND f.c;
SET timestamp = 1577880000.25;
ALTER TABLE filled ADD d DATETIME(3) DEFAULT NOW(3);
ALTER TABLE filledref ADD d DATETIME(3) DEFAULT NOW(3);
SET timestamp = DEFAULT;
SELECT id, d FROM filled ORDER BY id;
SELECT id, d FROM filledref ORDER BY id;
-- only: mariadb
-- refused: each server would make numbers of its own
ALTER TABLE filledref ADD u CHAR(36) DEFAULT (uuid());
ALTER TABLE filledref ADD u CHAR(36) DEFAULT 'uuid()';
-- only: mariadb
ALTER TABLE filledref ALTER u SET DEFAULT (CONCAT(uuid(), ''));
SELECT id, u FROM filledref ORDER BY id;
DROP TABLE filledref, filled;
-- A database that is held by foreign keys of another one.
CREATE DATABASE held;
CREATE TABLE held.a (id INT PRIMARY KEY);
CREATE TABLE held.p (id INT PRIMARY KEY);
CREATE TABLE holding (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES held.p (id));
-- only: mariadb
-- refused: one server drops held.a and then fails
DROP DATABASE held;
-- only: mysql
DROP DATABASE held;
SHOW TABLES FROM held;
DROP TABLE holding;
DROP DATABASE held;
