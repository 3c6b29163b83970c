-- What accounts may do that have some privileges on some things. Each statement is run on a new connection.
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER IF EXISTS p_none, p_read, p_insert, p_table, p_ddl, p_lender, p_monitor, p_routine, p_new, p_adds, p_changes, p_both, p_views;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10), n INT, KEY (n));
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(10), n INT);
INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
INSERT INTO u VALUES (1, 'x', 1), (2, 'y', 2);
CREATE VIEW w AS SELECT id, v FROM t;
CREATE USER p_none IDENTIFIED BY 'p_none', p_read IDENTIFIED BY 'p_read', p_insert IDENTIFIED BY 'p_insert', p_table IDENTIFIED BY 'p_table', p_ddl IDENTIFIED BY 'p_ddl', p_lender IDENTIFIED BY 'p_lender', p_monitor IDENTIFIED BY 'p_monitor', p_routine IDENTIFIED BY 'p_routine';
GRANT SELECT ON compat.* TO p_read;
GRANT SELECT, INSERT, UPDATE ON compat.* TO p_insert;
GRANT SELECT ON compat.t TO p_table;
GRANT SELECT, INSERT, DELETE ON compat.u TO p_table;
GRANT CREATE, ALTER, INDEX, SELECT, INSERT ON compat.* TO p_ddl;
GRANT SELECT, INSERT ON compat.* TO p_lender WITH GRANT OPTION;
GRANT UPDATE ON compat.u TO p_lender WITH GRANT OPTION;
GRANT PROCESS, RELOAD, SHOW DATABASES ON *.* TO p_monitor;
GRANT EXECUTE, CREATE ROUTINE ON compat.* TO p_routine;
GRANT SELECT ON compat.nothing TO p_read;
GRANT SELECT, CREATE ON compat.later TO p_read;
REVOKE ALL ON compat.later FROM p_read;
-- sent: warnings, as above
REVOKE SELECT ON compat.t FROM p_read;
-- sent: warnings, as above
GRANT PROCESS ON compat.* TO p_read;
GRANT LOCK TABLES ON compat.t TO p_read;
-- What SHOW GRANTS says.
SHOW GRANTS FOR p_none;
SHOW GRANTS FOR p_read;
SHOW GRANTS FOR p_insert;
SHOW GRANTS FOR p_table;
SHOW GRANTS FOR p_ddl;
SHOW GRANTS FOR p_lender;
SHOW GRANTS FOR p_monitor;
SHOW GRANTS FOR p_routine;
-- as: p_table
SHOW GRANTS;
SELECT CONCAT_WS('|', grantee, table_schema, table_name, privilege_type, is_grantable) AS p FROM information_schema.table_privileges WHERE table_schema = 'compat' ORDER BY 1;
SELECT CONCAT_WS('|', grantee, table_schema, privilege_type, is_grantable) AS p FROM information_schema.schema_privileges WHERE table_schema = 'compat' ORDER BY 1;
SELECT CONCAT_WS('|', user, db, table_name, table_priv, column_priv) AS p FROM mysql.tables_priv WHERE db = 'compat' ORDER BY 1;
SELECT CONCAT_WS('|', user, db, select_priv, insert_priv, update_priv, delete_priv, create_priv, drop_priv, grant_priv, index_priv, alter_priv, create_tmp_table_priv, execute_priv, create_routine_priv) AS p FROM mysql.db WHERE db = 'compat' ORDER BY 1;
-- What an account may do with columns, and what replicas are there, is told to who may know.
-- as: p_table
SHOW FULL COLUMNS FROM compat.t;
-- as: p_table
SHOW FULL COLUMNS FROM compat.u LIKE 'v';
-- as: p_insert
SHOW FULL COLUMNS FROM compat.t;
SHOW FULL COLUMNS FROM compat.t;
-- as: p_table
SELECT CONCAT_WS('|', table_name, column_name, privileges) AS p FROM information_schema.columns WHERE table_schema = 'compat' ORDER BY 1;
-- as: p_insert
SELECT CONCAT_WS('|', table_name, column_name, privileges) AS p FROM information_schema.columns WHERE table_schema = 'compat' ORDER BY 1;
-- as: p_insert
SELECT DISTINCT CONCAT(privileges) AS p FROM information_schema.columns WHERE table_schema = 'information_schema';
-- as: p_monitor
SHOW REPLICA STATUS;
SHOW REPLICA STATUS;
-- No privilege.
-- as: p_none
SELECT * FROM compat.t;
-- as: p_none
INSERT INTO compat.t VALUES (9, 'z', 9);
-- as: p_none
UPDATE compat.t SET v = 'z';
-- as: p_none
DELETE FROM compat.t;
-- as: p_none
USE compat;
-- as: p_none
SHOW TABLES FROM compat;
-- as: p_none
SHOW CREATE TABLE compat.t;
-- as: p_none
CREATE TABLE compat.x (id INT PRIMARY KEY);
-- as: p_none
DROP TABLE compat.t;
-- as: p_none
SELECT 1;
-- as: p_none
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'compat';
-- as: p_none
CREATE DATABASE p_own;
-- as: p_none
CREATE USER p_new IDENTIFIED BY 'x';
-- as: p_none
FLUSH TABLES;
-- as: p_none
GRANT SELECT ON compat.* TO p_read;
-- To read.
-- as: p_read
SELECT COUNT(*) FROM compat.t JOIN compat.u ON t.id = u.id;
-- as: p_read
SELECT COUNT(*) FROM compat.w;
-- as: p_read
INSERT INTO compat.t VALUES (9, 'z', 9);
-- as: p_read
UPDATE compat.t SET v = 'z' WHERE id = 1;
-- as: p_read
DELETE FROM compat.t WHERE id = 1;
-- as: p_read
REPLACE INTO compat.t VALUES (1, 'z', 9);
-- as: p_read
TRUNCATE TABLE compat.t;
-- as: p_read
LOCK TABLES compat.t READ;
-- as: p_read
CREATE TEMPORARY TABLE compat.x (id INT);
-- as: p_read
CREATE VIEW compat.x AS SELECT 1 AS a;
-- as: p_read
SHOW CREATE VIEW compat.w;
-- as: p_read
CREATE PROCEDURE compat.x() SELECT 1;
-- as: p_read
ALTER TABLE compat.t ADD COLUMN x INT;
-- as: p_read
CREATE INDEX x ON compat.t (v);
-- as: p_read
ANALYZE TABLE compat.t;
-- as: p_read
SELECT table_name FROM information_schema.tables WHERE table_schema = 'compat' ORDER BY 1;
-- To read and to add, but not to take away.
-- as: p_insert
INSERT INTO compat.t VALUES (10, 'i', 10);
-- as: p_insert
INSERT INTO compat.t VALUES (10, 'j', 10) ON DUPLICATE KEY UPDATE v = 'k';
-- as: p_insert
UPDATE compat.t SET n = n + 1 WHERE id = 10;
-- as: p_insert
DELETE FROM compat.t WHERE id = 10;
-- as: p_insert
REPLACE INTO compat.t VALUES (10, 'i', 10);
-- as: p_insert
INSERT INTO compat.t SELECT id + 20, v, n FROM compat.u;
-- as: p_insert
UPDATE compat.t JOIN compat.u ON t.id = u.id SET t.v = u.v;
-- as: p_insert
DELETE compat.t FROM compat.t JOIN compat.u ON t.id = u.id;
SELECT * FROM t ORDER BY id;
-- Some tables only.
-- as: p_table
SELECT COUNT(*) FROM compat.t JOIN compat.u ON t.id = u.id;
-- as: p_table
SELECT * FROM compat.w;
-- as: p_table
INSERT INTO compat.t VALUES (11, 'z', 9);
-- as: p_table
INSERT INTO compat.u VALUES (11, 'z', 9);
-- as: p_table
INSERT INTO compat.u SELECT id + 30, v, n FROM compat.t WHERE id = 3;
-- as: p_table
INSERT INTO compat.u VALUES (11, 'z', 9) ON DUPLICATE KEY UPDATE v = 'y';
-- as: p_table
REPLACE INTO compat.u VALUES (11, 'r', 9);
-- as: p_table
DELETE FROM compat.u WHERE id = 11;
-- as: p_table
UPDATE compat.u SET v = 'z' WHERE id = 1;
-- as: p_table
SHOW TABLES FROM compat;
-- as: p_table
SHOW COLUMNS FROM compat.u;
-- as: p_table
SHOW CREATE TABLE compat.t;
-- as: p_table
SHOW CREATE TABLE compat.w;
-- as: p_table
SELECT table_name FROM information_schema.tables WHERE table_schema = 'compat' ORDER BY 1;
-- as: p_table
SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'compat';
-- as: p_table
SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'compat';
-- as: p_table
SHOW DATABASES LIKE 'comp%';
-- as: p_none
SHOW DATABASES;
-- as: p_table
USE compat;
-- as: p_table
CREATE TABLE compat.x (id INT PRIMARY KEY);
-- Schema changes, but nothing dropped.
-- as: p_ddl
CREATE TABLE compat.made (id INT PRIMARY KEY, v INT);
-- as: p_ddl
CREATE TABLE compat.made2 AS SELECT id, v FROM compat.u;
-- as: p_ddl
ALTER TABLE compat.made ADD COLUMN n INT;
-- as: p_ddl
CREATE INDEX k ON compat.made (n);
-- as: p_ddl
ALTER TABLE compat.made RENAME TO compat.moved;
-- as: p_ddl
RENAME TABLE compat.made TO compat.moved;
-- as: p_ddl
TRUNCATE TABLE compat.made;
-- as: p_ddl
DROP TABLE compat.made;
-- as: p_ddl
DROP INDEX k ON compat.made;
-- as: p_ddl
CREATE VIEW compat.x AS SELECT 1 AS a;
-- as: p_ddl
ANALYZE TABLE compat.made;
-- as: p_ddl
CREATE TABLE compat.liked LIKE compat.t;
-- Whoever may give others what he has.
-- as: p_lender
GRANT SELECT ON compat.* TO p_none;
-- as: p_lender
GRANT DELETE ON compat.* TO p_none;
-- as: p_lender
GRANT UPDATE ON compat.u TO p_none;
-- as: p_lender
GRANT DELETE ON compat.u TO p_none;
-- as: p_lender
GRANT ALL ON compat.u TO p_none;
-- as: p_lender
GRANT SELECT ON *.* TO p_none;
-- as: p_lender
GRANT PROCESS ON *.* TO p_none;
-- as: p_lender
REVOKE SELECT ON compat.* FROM p_none;
SHOW GRANTS FOR p_none;
-- gap: 1143 there, which names the column
-- as: p_none
UPDATE compat.u SET v = v LIMIT 0;
-- as: p_none
UPDATE compat.u SET v = 'all' LIMIT 0;
-- Privileges that there are everywhere only.
-- as: p_monitor
SELECT COUNT(*) > 1 FROM information_schema.processlist;
-- as: p_monitor
SELECT COUNT(*) FROM compat.t;
-- as: p_monitor
SHOW DATABASES LIKE 'comp%';
-- as: p_monitor
FLUSH STATUS;
-- Programs.
CREATE PROCEDURE shows() SELECT 1 AS one;
-- as: p_routine
CALL compat.shows();
-- as: p_read
CALL compat.shows();
-- as: p_read
SHOW CREATE PROCEDURE compat.shows;
-- as: p_read
SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = 'compat';
-- as: p_read
SHOW PROCEDURE STATUS WHERE db = 'compat';
-- as: p_routine
SELECT routine_name, routine_definition IS NULL FROM information_schema.routines WHERE routine_schema = 'compat';
-- as: p_routine
SHOW TABLES FROM compat;
-- as: p_routine
SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'compat';
-- as: p_routine
CREATE PROCEDURE compat.made() SELECT 2 AS two;
-- skip-prepared
-- as: p_read
DROP PROCEDURE compat.made;
-- Tables whose rows have company: a UNIQUE key over node groups, foreign keys, triggers that write.
CREATE TABLE mails (id INT PRIMARY KEY, mail VARCHAR(20), n INT, UNIQUE KEY (mail));
CREATE TABLE parent (id INT PRIMARY KEY, v INT);
CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE);
CREATE TABLE noted (id INT PRIMARY KEY, v INT);
CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TRIGGER noted_ai AFTER INSERT ON noted FOR EACH ROW INSERT INTO notes (what) VALUES (CONCAT('new ', NEW.id));
CREATE TRIGGER noted_au AFTER UPDATE ON noted FOR EACH ROW INSERT INTO notes (what) VALUES (CONCAT('changed ', NEW.id));
INSERT INTO mails VALUES (1, 'a', 1), (2, 'b', 2);
INSERT INTO parent VALUES (1, 1), (2, 2);
INSERT INTO child VALUES (1, 1), (2, 2);
CREATE USER p_adds IDENTIFIED BY 'p_adds', p_changes IDENTIFIED BY 'p_changes';
GRANT INSERT ON compat.* TO p_adds;
CREATE USER p_both IDENTIFIED BY 'p_both';
GRANT INSERT, UPDATE ON compat.* TO p_both;
GRANT SELECT, UPDATE, DELETE ON compat.mails TO p_changes;
GRANT SELECT, DELETE ON compat.parent TO p_changes;
GRANT SELECT, UPDATE ON compat.noted TO p_changes;
-- as: p_adds
INSERT INTO compat.mails VALUES (3, 'c', 3);
-- as: p_adds
INSERT INTO compat.mails VALUES (4, 'c', 3);
-- as: p_adds
INSERT INTO compat.mails VALUES (5, 'e', 3), (6, 'f', 3), (7, 'g', 4);
-- only: mariadb
-- gap: 1143 there, which names the column
-- as: p_adds
INSERT INTO compat.mails VALUES (60, 'returned', 3) RETURNING id;
-- gap: 1143 there, which names the column
-- as: p_both
INSERT INTO compat.mails VALUES (1, 'k', 3) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1;
-- gap: 1143 there, which names the column
-- as: p_both
INSERT INTO compat.mails VALUES (1, 'k', 3) ON DUPLICATE KEY UPDATE n = n + 1;
-- as: p_adds
INSERT INTO compat.child VALUES (3, 1), (4, 2);
-- as: p_adds
INSERT INTO compat.child VALUES (5, 7);
-- as: p_adds
INSERT INTO compat.noted VALUES (1, 1), (2, 2), (3, 3);
-- as: p_adds
INSERT INTO compat.notes (what) VALUES ('by hand');
-- as: p_adds
INSERT IGNORE INTO compat.mails VALUES (8, 'a', 3), (9, 'i', 3);
-- as: p_adds
REPLACE INTO compat.mails VALUES (8, 'a', 3);
-- as: p_adds
INSERT INTO compat.mails SELECT id + 10, v, n FROM compat.t;
-- as: p_changes
UPDATE compat.mails SET mail = 'z' WHERE id = 3;
-- as: p_changes
UPDATE compat.mails SET id = 30 WHERE id = 3;
-- as: p_changes
DELETE FROM compat.mails WHERE mail = 'b';
-- as: p_changes
DELETE FROM compat.parent WHERE id = 1;
-- as: p_changes
UPDATE compat.noted SET v = v + 1 WHERE id < 3;
-- as: p_changes
UPDATE compat.noted SET v = v + 1 ORDER BY id LIMIT 1;
-- What is written in a trigger, an event or a view is not for everybody.
-- as: p_read
SHOW TRIGGERS FROM compat;
-- as: p_read
SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'compat' AND action_statement IS NOT NULL;
-- as: p_read
SELECT COUNT(*) FROM information_schema.events WHERE event_schema = 'compat';
-- as: p_read
SELECT view_definition = '' FROM information_schema.views WHERE table_schema = 'compat' AND table_name = 'w';
-- as: p_read
DROP TEMPORARY TABLE IF EXISTS compat.gone, compat.gone2;
SELECT * FROM mails ORDER BY id;
SELECT * FROM child ORDER BY id;
SELECT * FROM noted ORDER BY id;
SELECT what FROM notes ORDER BY what;
-- Through views: whoever reads or writes through one needs what it needs, too.
CREATE USER p_views IDENTIFIED BY 'p_views';
GRANT SELECT, UPDATE, DELETE ON compat.w TO p_views;
GRANT SELECT, UPDATE ON compat.t TO p_views;
-- as: p_views
SELECT COUNT(*) FROM compat.w;
-- as: p_views
UPDATE compat.w SET v = 'through' WHERE id = 2;
-- as: p_views
DELETE FROM compat.w WHERE id = 999;
-- as: p_views
INSERT INTO compat.w VALUES (50, 'x');
REVOKE UPDATE ON compat.w FROM p_views;
-- as: p_views
UPDATE compat.w SET v = 'again' WHERE id = 1;
SELECT id, v FROM t WHERE id = 1;
SELECT id, v FROM t ORDER BY id;
-- Databases.
-- as: p_ddl
CREATE DATABASE p_own;
-- as: p_ddl
DROP DATABASE compat;
-- skip-prepared
-- as: p_ddl
ALTER DATABASE compat CHARACTER SET utf8mb4;
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER p_none, p_read, p_insert, p_table, p_ddl, p_lender, p_monitor, p_routine, p_adds, p_changes, p_both, p_views;
