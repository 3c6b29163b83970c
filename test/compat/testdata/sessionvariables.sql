-- What a SET of some session variables does besides, or must not do.
CREATE TABLE sv (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
SET autocommit = 0;
INSERT INTO sv (v) VALUES (1), (2), (3);
-- refused: use two statements
SET autocommit = 1, autocommit = 0;
-- refused: use two statements
SET @@session.autocommit = 1, @x = 1, SESSION autocommit = 0;
SET autocommit = 1;
ROLLBACK;
SELECT COUNT(*) FROM sv;
-- refused: the cluster gives the numbers
SET auto_increment_increment = 5;
-- refused: the cluster gives the numbers
SET SESSION auto_increment_offset = 2, auto_increment_increment = 5;
SET auto_increment_increment = 1, auto_increment_offset = 1;
SELECT @@auto_increment_increment, @@auto_increment_offset;
INSERT INTO sv (v) VALUES (4);
SELECT id - (SELECT MAX(id) FROM sv WHERE v < 4) FROM sv WHERE v = 4;
-- The collation of the default database.
CREATE DATABASE svdb CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE svdb;
SELECT @@character_set_database, @@collation_database;
-- skip-prepared
ALTER DATABASE svdb CHARACTER SET latin1;
SELECT @@character_set_database, @@collation_database;
-- skip-prepared
ALTER DATABASE COLLATE utf8mb4_bin;
SELECT @@character_set_database, @@collation_database;
SET @c = @@collation_database;
SELECT @c;
BEGIN;
SELECT @@collation_database;
ROLLBACK;
USE compat;
-- skip-prepared
ALTER DATABASE svdb CHARACTER SET latin1;
USE svdb;
SELECT @@character_set_database, @@collation_database;
USE compat;
DROP DATABASE svdb;
CREATE DATABASE svdb CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE svdb;
SELECT @@character_set_database, @@collation_database;
USE compat;
DROP DATABASE svdb;
CREATE DATABASE IF NOT EXISTS compat;
-- only: mariadb
CREATE TABLE asof_default (id INT PRIMARY KEY);
-- only: mariadb
INSERT INTO asof_default VALUES (1), (2), (3), (4);
-- only: mariadb
SET system_versioning_asof = DEFAULT;
-- only: mariadb
SELECT @@system_versioning_asof, COUNT(*) FROM asof_default;
-- only: mariadb
SET system_versioning_asof = '2020-01-01 00:00:00';
-- only: mariadb
SELECT @@system_versioning_asof, COUNT(*) FROM asof_default;
-- only: mariadb
SET @@session.system_versioning_asof = 'all', @x = 1;
-- only: mariadb
SELECT @@system_versioning_asof, COUNT(*) FROM asof_default;
-- only: mariadb
SET SESSION system_versioning_asof = DEFAULT;
-- only: mariadb
SELECT @@system_versioning_asof, COUNT(*) FROM asof_default;
-- Messages are read.
SET lc_messages = 'en_GB';
SELECT @@lc_messages;
-- refused: SET lc_messages = 'de_DE'
SET lc_messages = 'de_DE';
SELECT @@lc_messages;
SET lc_messages = 'nowhere';
SET lc_messages = 'en_US';
-- A SET that is refused leaves all of its variables as they were.
-- refused: character set utf16 of results
SET autocommit = 0, character_set_results = 'utf16';
INSERT INTO sv (v) VALUES (900);
ROLLBACK;
SELECT COUNT(*), @@autocommit FROM sv WHERE v = 900;
-- only: mariadb
-- refused: DROP and ALTER are not read as if they said IF EXISTS
SET sql_if_exists = 1;
