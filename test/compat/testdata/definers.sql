-- In whose name views and programs read and write. Each statement is run on a new connection.
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER IF EXISTS d_maker, d_reader, d_weak, d_writer, d_gone;
CREATE TABLE t (id INT PRIMARY KEY, secret INT);
CREATE TABLE u (id INT PRIMARY KEY, x INT);
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO u VALUES (1, 100), (2, 200);
CREATE USER d_maker IDENTIFIED BY 'd_maker', d_reader IDENTIFIED BY 'd_reader', d_weak IDENTIFIED BY 'd_weak', d_writer IDENTIFIED BY 'd_writer', d_gone IDENTIFIED BY 'd_gone';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE VIEW, DROP, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, TRIGGER ON compat.* TO d_maker;
GRANT SELECT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, EXECUTE ON compat.* TO d_weak;
GRANT SELECT, EXECUTE ON compat.* TO d_gone;
-- as: d_maker
CREATE VIEW compat.v_own AS SELECT id, secret FROM compat.t WHERE id < 10;
-- as: d_maker
CREATE SQL SECURITY INVOKER VIEW compat.v_invoker AS SELECT id, secret FROM compat.t;
-- as: d_maker
CREATE VIEW compat.v_over_invoker AS SELECT id, secret FROM compat.v_invoker;
-- as: d_maker
CREATE SQL SECURITY INVOKER VIEW compat.v_invoker_over AS SELECT id, secret FROM compat.v_own;
-- as: d_maker
CREATE VIEW compat.v_join AS SELECT t.id, t.secret, u.x FROM compat.t JOIN compat.u ON u.id = t.id;
-- as: d_maker
CREATE VIEW compat.v_grouped AS SELECT COUNT(*) AS n, SUM(secret) AS s FROM compat.t;
-- as: d_weak
CREATE VIEW compat.v_weak AS SELECT id, secret FROM compat.t;
-- as: d_weak
CREATE VIEW compat.v_weak_over AS SELECT id, secret FROM compat.v_own;
CREATE DEFINER = d_maker FUNCTION compat.f_most() RETURNS INT READS SQL DATA RETURN (SELECT MAX(secret) FROM t);
CREATE DEFINER = d_maker FUNCTION compat.f_invoker() RETURNS INT READS SQL DATA SQL SECURITY INVOKER RETURN (SELECT MAX(secret) FROM t);
CREATE DEFINER = d_maker FUNCTION compat.f_calls() RETURNS INT READS SQL DATA RETURN f_most() + 1;
CREATE DEFINER = d_maker VIEW compat.v_function AS SELECT id, compat.f_most() AS most FROM compat.u;
-- as: d_maker
CREATE PROCEDURE compat.p_reads() SELECT COUNT(*) AS n, SUM(secret) AS s, CURRENT_USER() AS who, SUBSTRING_INDEX(USER(), '@', 1) AS client FROM t;
-- as: d_maker
CREATE PROCEDURE compat.p_invoker() SQL SECURITY INVOKER SELECT COUNT(*) AS n FROM t;
-- as: d_maker
CREATE PROCEDURE compat.p_writes() BEGIN INSERT INTO t VALUES (50, 1); UPDATE t SET secret = 2 WHERE id = 50; DELETE FROM t WHERE id = 50; SELECT ROW_COUNT() AS n; END;
-- as: d_maker
CREATE PROCEDURE compat.p_calls() BEGIN CALL p_reads(); CALL p_invoker(); END;
-- as: d_weak
CREATE PROCEDURE compat.p_weak() UPDATE t SET secret = 3 WHERE id = 1;
-- as: d_weak
CREATE PROCEDURE compat.p_weak_prepared() BEGIN SET @q = 'DELETE FROM compat.t'; PREPARE s FROM @q; EXECUTE s; END;
GRANT SELECT ON compat.v_own TO d_reader;
GRANT SELECT ON compat.v_invoker TO d_reader;
GRANT SELECT ON compat.v_over_invoker TO d_reader;
GRANT SELECT ON compat.v_invoker_over TO d_reader;
GRANT SELECT ON compat.v_join TO d_reader;
GRANT SELECT ON compat.v_grouped TO d_reader;
GRANT SELECT ON compat.v_weak TO d_reader;
GRANT SELECT ON compat.v_weak_over TO d_reader;
GRANT SELECT ON compat.v_function TO d_reader;
GRANT EXECUTE ON compat.* TO d_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON compat.v_own TO d_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON compat.v_join TO d_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON compat.v_weak TO d_writer;
GRANT UPDATE ON compat.v_over_invoker TO d_writer;
-- Reading.
-- as: d_reader
SELECT * FROM compat.v_own ORDER BY id;
-- as: d_reader
SELECT secret FROM compat.v_own WHERE id = 2;
-- as: d_reader
SELECT a.id FROM compat.v_own a JOIN compat.v_own b ON a.id = b.secret / 10 ORDER BY 1;
-- as: d_reader
SELECT COUNT(DISTINCT secret) AS n FROM compat.v_own;
-- as: d_reader
SELECT * FROM compat.v_invoker;
-- as: d_reader
SELECT * FROM compat.v_over_invoker ORDER BY id;
-- as: d_reader
SELECT * FROM compat.v_invoker_over ORDER BY id;
-- as: d_reader
SELECT * FROM compat.v_join ORDER BY id;
-- as: d_reader
SELECT * FROM compat.v_grouped;
-- as: d_reader
SELECT * FROM compat.v_function ORDER BY id;
-- as: d_reader
SELECT * FROM compat.v_weak ORDER BY id;
-- as: d_reader
SELECT * FROM compat.t;
-- as: d_reader
SELECT * FROM compat.v_own JOIN compat.t USING (id);
-- as: d_reader
SELECT * FROM compat.v_own WHERE id IN (SELECT id FROM compat.u);
-- as: d_reader
SELECT compat.f_most() AS n;
-- as: d_reader
SELECT compat.f_calls() AS n;
-- sent: warnings, with the client's host and where it is
-- as: d_reader
SELECT compat.f_invoker() AS n;
-- as: d_reader
SET @n = compat.f_most();
-- as: d_reader
SELECT id FROM compat.v_own WHERE secret = compat.f_most();
-- Programs.
-- sent: length, a session knows its names
-- as: d_reader
CALL compat.p_reads();
-- sent: warnings, as above
-- as: d_reader
CALL compat.p_invoker();
-- as: d_reader
CALL compat.p_writes();
-- as: d_reader
CALL compat.p_weak();
-- as: d_reader
CALL compat.p_weak_prepared();
-- as: d_maker
CALL compat.p_weak();
CALL compat.p_weak();
SELECT * FROM t ORDER BY id;
-- Writing.
-- as: d_writer
UPDATE compat.v_own SET secret = 11 WHERE id = 1;
-- as: d_writer
INSERT INTO compat.v_own (id, secret) VALUES (4, 40);
-- as: d_writer
DELETE FROM compat.v_own WHERE id = 4;
-- as: d_writer
INSERT INTO compat.v_join (id, secret) VALUES (6, 60);
-- as: d_writer
UPDATE compat.v_weak SET secret = 12 WHERE id = 1;
-- as: d_writer
DELETE FROM compat.v_weak WHERE id = 1;
-- as: d_writer
INSERT INTO compat.v_weak (id, secret) VALUES (9, 9);
-- as: d_writer
UPDATE compat.t SET secret = 12 WHERE id = 1;
-- as: d_writer
UPDATE compat.v_over_invoker SET secret = 31;
-- as: d_reader
UPDATE compat.v_own SET secret = 12 WHERE id = 1;
-- as: d_reader
INSERT INTO compat.v_own (id, secret) VALUES (5, 5);
SELECT * FROM t ORDER BY id;
SELECT * FROM u ORDER BY id;
-- What is told.
-- as: d_reader
EXPLAIN SELECT * FROM compat.v_own;
-- as: d_reader
SHOW CREATE VIEW compat.v_own;
-- as: d_reader
SHOW COLUMNS FROM compat.v_own;
SHOW CREATE VIEW compat.v_own;
SHOW CREATE VIEW compat.v_invoker;
SHOW CREATE TABLE compat.v_weak;
-- sent: CREATE PROCEDURE
SHOW CREATE PROCEDURE compat.p_invoker;
SHOW CREATE FUNCTION compat.f_most;
SELECT table_name, CONCAT_WS(' ', definer, security_type) AS d FROM information_schema.views WHERE table_schema = 'compat' ORDER BY 1;
SELECT routine_name, CONCAT_WS(' ', definer, security_type) AS d FROM information_schema.routines WHERE routine_schema = 'compat' ORDER BY 1;
-- Whose definitions may be changed by whom.
-- as: d_weak
CREATE DEFINER = d_maker VIEW compat.v_stolen AS SELECT id FROM compat.t;
-- as: d_weak
CREATE DEFINER = d_maker PROCEDURE compat.p_stolen() SELECT 1;
-- as: d_weak
CREATE DEFINER = d_weak VIEW compat.v_mine AS SELECT id FROM compat.t;
-- as: d_weak
CREATE DEFINER = CURRENT_USER VIEW compat.v_mine2 AS SELECT id FROM compat.t;
-- as: d_weak
CREATE DEFINER = nobody VIEW compat.v_stolen AS SELECT id FROM compat.t;
GRANT DROP ON compat.* TO d_weak;
-- as: d_weak
ALTER VIEW compat.v_own AS SELECT id, secret FROM compat.t;
-- as: d_weak
ALTER VIEW compat.v_weak AS SELECT id, secret FROM compat.t WHERE id > 1;
-- as: d_weak
CREATE OR REPLACE VIEW compat.v_own AS SELECT id, secret FROM compat.t WHERE id < 11;
SELECT table_name, CONCAT_WS(' ', definer, security_type) AS d FROM information_schema.views WHERE table_schema = 'compat' ORDER BY 1;
ALTER SQL SECURITY INVOKER VIEW v_weak AS SELECT id, secret FROM t WHERE id > 2;
ALTER DEFINER = d_maker VIEW v_join AS SELECT t.id, t.secret, u.x FROM t JOIN u ON u.id = t.id WHERE t.id > 0;
ALTER PROCEDURE p_reads SQL SECURITY INVOKER;
RENAME TABLE v_grouped TO v_counted;
SELECT table_name, CONCAT_WS(' ', definer, security_type) AS d FROM information_schema.views WHERE table_schema = 'compat' ORDER BY 1;
SELECT routine_name, CONCAT_WS(' ', definer, security_type) AS d FROM information_schema.routines WHERE routine_schema = 'compat' ORDER BY 1;
-- sent: warnings, as above
-- as: d_reader
CALL compat.p_reads();
-- A temporary table that has the name of what a view reads, which it is not.
CREATE TABLE late (id INT PRIMARY KEY);
INSERT INTO late VALUES (1);
CREATE TEMPORARY TABLE late (id INT PRIMARY KEY);
-- as: d_maker
CREATE VIEW compat.v_late AS SELECT id FROM compat.late;
-- refused: a temporary table hides what the view reads
SELECT * FROM v_late;
-- refused: a temporary table hides what the view reads
UPDATE v_late SET id = 2;
DROP TEMPORARY TABLE late;
SELECT * FROM v_late;
DROP VIEW v_late;
DROP TABLE late;
-- What there is and what there is not: who has no privileges learns neither.
-- as: d_reader
SELECT * FROM compat.nope;
-- as: d_reader
SELECT nope FROM compat.t;
-- as: d_reader
SELECT * FROM compat.v_own JOIN compat.nope;
-- as: d_reader
INSERT INTO compat.nope VALUES (1);
-- as: d_reader
REPLACE INTO compat.t (nope) VALUES (1);
-- as: d_reader
UPDATE compat.nope SET x = 1;
-- as: d_reader
UPDATE compat.v_own SET nope = 1;
-- as: d_reader
DELETE FROM compat.nope WHERE id = 1;
-- as: d_reader
SELECT * FROM nosuch.nope;
-- as: d_reader
SELECT nope FROM compat.v_own;
-- as: d_gone
SELECT nope FROM compat.t;
-- as: d_gone
SELECT * FROM compat.nope;
-- Rights that definers lose, and definers that go.
CREATE DEFINER = d_gone VIEW v_gone AS SELECT id, secret FROM t;
CREATE DEFINER = d_gone PROCEDURE p_gone() SELECT COUNT(*) AS n FROM t;
CREATE DEFINER = d_gone FUNCTION f_gone() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t);
GRANT SELECT ON compat.v_gone TO d_reader;
-- as: d_reader
SELECT * FROM compat.v_gone ORDER BY id;
-- as: d_reader
SELECT compat.f_gone() AS n;
-- sent: warnings, as above
REVOKE SELECT ON compat.* FROM d_gone;
-- as: d_reader
SELECT * FROM compat.v_gone ORDER BY id;
-- as: d_reader
CALL compat.p_gone();
-- as: d_reader
SELECT compat.f_gone() AS n;
SELECT * FROM v_gone;
EXPLAIN SELECT * FROM v_gone;
-- sent: warnings, as above
REVOKE EXECUTE ON compat.* FROM d_maker;
-- as: d_reader
SELECT * FROM compat.v_function;
DROP USER d_gone;
-- as: d_reader
SELECT * FROM compat.v_gone;
-- as: d_reader
CALL compat.p_gone();
SELECT * FROM v_gone;
CALL p_gone();
SELECT f_gone();
CREATE OR REPLACE VIEW v_gone AS SELECT id, secret FROM t;
-- as: d_reader
SELECT * FROM compat.v_gone ORDER BY id;
-- A view's functions are those of its database, whatever the reader's is.
CREATE FUNCTION mask(a INT) RETURNS INT DETERMINISTIC RETURN 0;
CREATE VIEW v_mask AS SELECT id, mask(secret) AS s FROM t WHERE id > mask(1);
CREATE DATABASE compat_own;
GRANT ALL ON compat_own.* TO d_weak;
CREATE DEFINER = d_weak FUNCTION compat_own.mask(a INT) RETURNS INT DETERMINISTIC RETURN a;
GRANT SELECT, UPDATE ON compat.v_mask TO d_weak;
-- as: d_weak
SELECT s, COUNT(*) AS n FROM compat.v_mask GROUP BY s;
USE compat_own;
SELECT s, COUNT(*) AS n FROM compat.v_mask GROUP BY s;
SELECT * FROM compat.v_mask ORDER BY id;
UPDATE compat.v_mask SET id = id + 100 WHERE id = 1;
SELECT id FROM compat.t ORDER BY id;
USE compat;
DROP VIEW v_mask;
DROP FUNCTION mask;
DROP DATABASE compat_own;
-- Whose password it is that a program changes, and whose grants it shows.
CREATE DEFINER = d_weak PROCEDURE p_password() ALTER USER d_maker IDENTIFIED BY 'stolen';
CREATE DEFINER = d_weak PROCEDURE p_grants() SHOW GRANTS;
CREATE DEFINER = d_weak PROCEDURE p_others() SHOW GRANTS FOR root@localhost;
GRANT EXECUTE ON compat.* TO d_maker;
-- as: d_maker
CALL compat.p_password();
CALL p_password();
CALL p_grants();
CALL p_others();
-- Writing into a view from itself.
CREATE USER d_into IDENTIFIED BY 'd_into';
CREATE VIEW v_into AS SELECT id, secret FROM t;
GRANT INSERT ON compat.v_into TO d_into;
-- as: d_into
INSERT INTO compat.v_into (id, secret) VALUES (60, 1);
-- as: d_into
INSERT INTO compat.v_into (id, secret) SELECT 61, MAX(secret) FROM compat.v_into;
-- as: d_into
INSERT INTO compat.v_into (id, secret) SELECT 61, MAX(secret) FROM compat.t;
-- What an administrator has defined.
CREATE PROCEDURE p_root() SELECT 1 AS one;
CREATE VIEW v_root AS SELECT 1 AS one;
GRANT ALL ON compat.* TO d_into;
-- as: d_into
ALTER PROCEDURE compat.p_root COMMENT 'mine';
-- as: d_into
DROP PROCEDURE compat.p_root;
-- as: d_into
ALTER VIEW compat.v_root AS SELECT 2 AS two;
-- as: d_into
CREATE OR REPLACE VIEW compat.v_root AS SELECT 2 AS two;
-- as: d_into
DROP VIEW compat.v_root;
-- sent: warnings, as above
DROP USER d_into;
-- Views that read nothing, of a definer who is gone.
GRANT SELECT ON compat.* TO d_reader;
CREATE USER d_gone IDENTIFIED BY 'd_gone';
CREATE DEFINER = d_gone VIEW v_nothing AS SELECT 1 AS a;
CREATE VIEW v_of_nothing AS SELECT a + 1 AS b FROM v_nothing;
CREATE DEFINER = d_gone SQL SECURITY INVOKER VIEW v_mine AS SELECT 1 AS a;
SELECT * FROM v_of_nothing;
-- sent: warnings, as above
DROP USER d_gone;
SELECT * FROM v_nothing;
SELECT * FROM v_of_nothing;
SELECT * FROM v_mine;
EXPLAIN SELECT * FROM v_nothing;
-- as: d_reader
SELECT * FROM compat.v_nothing;
-- as: d_reader
SELECT * FROM compat.v_mine;
-- as: d_reader
SELECT * FROM compat.v_of_nothing;
-- What the definer of a trigger needs.
CREATE TABLE fired (id INT PRIMARY KEY);
CREATE TABLE noted (id INT PRIMARY KEY);
CREATE DEFINER = d_weak TRIGGER fired_ai AFTER INSERT ON fired FOR EACH ROW INSERT INTO noted VALUES (1);
GRANT INSERT ON compat.noted TO d_weak;
INSERT INTO fired VALUES (1);
GRANT TRIGGER ON compat.fired TO d_weak;
INSERT INTO fired VALUES (1);
REVOKE TRIGGER ON compat.fired FROM d_weak;
INSERT INTO fired VALUES (2);
SELECT (SELECT COUNT(*) FROM fired) AS f, (SELECT COUNT(*) FROM noted) AS n;
-- sent: warnings, as above
DROP USER d_maker, d_reader, d_weak, d_writer;
