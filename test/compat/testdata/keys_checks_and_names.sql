CREATE TABLE t (id INT PRIMARY KEY, v INT);
ALTER TABLE t DISABLE KEYS;
-- only: mysql
ALTER TABLE t ENABLE KEYS;
ALTER TABLE nowhere DISABLE KEYS;
ALTER TABLE nowhere ENABLE KEYS;
CREATE VIEW w AS SELECT * FROM t;
ALTER TABLE w DISABLE KEYS;
-- A copy that rows of one node group hinder changes nothing, also where only a CHECK's DEFAULT() says so.
-- only: mysql
CREATE TABLE checked (id INT PRIMARY KEY, v INT CHECK (v = DEFAULT(v)));
-- only: mysql
INSERT INTO checked VALUES (1, 10);
-- only: mysql
ALTER TABLE checked MODIFY COLUMN v INT DEFAULT 20, ALGORITHM=COPY;
-- only: mysql
SHOW CREATE TABLE checked;
-- only: mysql
-- refused: servers store ? in place of characters of four bytes
CREATE TABLE `🐬` (id INT PRIMARY KEY);
-- only: mysql
SET enable_cascade_triggers = OFF;
-- only: mysql
-- refused: rows that foreign keys change on other node groups fire no triggers
SET enable_cascade_triggers = ON;
-- only: mysql
SET enable_cascade_triggers = DEFAULT;
SET sql_notes = 1;
ALTER TABLE t DISABLE KEYS;
SHOW WARNINGS;
ALTER TABLE t ENABLE KEYS;
SHOW WARNINGS;
DROP VIEW IF EXISTS t, neither;
SHOW WARNINGS;
-- MariaDB says that InnoDB has no such option where there is a key that is not unique.
CREATE TABLE kcn (id INT PRIMARY KEY, n INT, u INT, UNIQUE (u));
ALTER TABLE kcn DISABLE KEYS;
SHOW WARNINGS;
ALTER TABLE kcn ADD KEY (n);
ALTER TABLE kcn DISABLE KEYS;
SHOW WARNINGS;
DROP TABLE kcn;
-- Names of primary keys are ignored, of which MariaDB warns.
CREATE TABLE kcn (id INT NOT NULL, n INT);
INSERT INTO kcn VALUES (1, 2), (3, 4);
ALTER TABLE kcn ADD CONSTRAINT bar PRIMARY KEY (id);
SHOW WARNINGS;
DROP TABLE kcn;
CREATE TABLE kcn (id INT NOT NULL, n INT, CONSTRAINT bar PRIMARY KEY (id)) SELECT 1 AS id UNION SELECT 2;
SHOW WARNINGS;
DROP TABLE kcn;
-- Variables that there are not.
SET @@global.nosuch = 1;
SET GLOBAL nosuch = 1;
SET @@global.`nosuch` = 1;
-- refused: settings of the servers
SET GLOBAL max_connections = 100;
-- refused: settings of the servers
SET @@global.max_connections = 100;
-- refused: settings of the servers
SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- refused: structured
SET GLOBAL nosuch.key_buffer_size = 1;
