-- Privileges on one function or procedure.
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER IF EXISTS g_caller, g_maker, g_keeper;
CREATE TABLE t (id INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
CREATE PROCEDURE Counts() SELECT COUNT(*) AS n FROM t;
CREATE PROCEDURE other() SELECT 1 AS one;
CREATE FUNCTION counts() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t);
CREATE USER g_caller IDENTIFIED BY 'g_caller', g_maker IDENTIFIED BY 'g_maker', g_keeper IDENTIFIED BY 'g_keeper';
GRANT EXECUTE ON PROCEDURE compat.counts TO g_caller;
GRANT EXECUTE, ALTER ROUTINE, GRANT OPTION ON PROCEDURE counts TO g_keeper;
SHOW GRANTS FOR g_keeper;
-- as: g_caller
SHOW GRANTS;
-- as: g_caller
CALL compat.counts();
-- as: g_caller
CALL compat.COUNTS();
-- as: g_caller
CALL compat.other();
-- as: g_caller
CALL compat.nothing();
-- as: g_caller
SELECT compat.counts() AS n;
-- as: g_caller
SELECT * FROM compat.t;
-- as: g_caller
SHOW DATABASES LIKE 'com%';
-- as: g_caller
SELECT CONCAT_WS(' ', routine_name, routine_type, IFNULL(LEFT(routine_definition, 400), 'hidden')) AS d FROM information_schema.routines WHERE routine_schema = 'compat' ORDER BY 1;
-- as: g_keeper
SELECT CONCAT_WS(' ', routine_name, routine_type) AS d FROM information_schema.routines WHERE routine_schema = 'compat' ORDER BY 1;
-- as: g_caller
DROP PROCEDURE compat.counts;
-- as: g_caller
ALTER PROCEDURE compat.counts COMMENT 'x';
-- as: g_caller
GRANT EXECUTE ON PROCEDURE compat.counts TO g_maker;
-- as: g_keeper
GRANT EXECUTE ON PROCEDURE compat.other TO g_maker;
-- as: g_keeper
GRANT EXECUTE ON PROCEDURE compat.counts TO g_maker;
-- as: g_maker
CALL compat.counts();
-- as: g_keeper
REVOKE EXECUTE ON PROCEDURE compat.counts FROM g_maker;
-- as: g_maker
CALL compat.counts();
-- as: g_keeper
ALTER PROCEDURE compat.counts COMMENT 'kept';
GRANT ALL ON FUNCTION compat.counts TO g_caller WITH GRANT OPTION;
SHOW GRANTS FOR g_caller;
-- as: g_caller
SELECT compat.counts() AS n;
REVOKE GRANT OPTION ON FUNCTION compat.counts FROM g_caller;
SHOW GRANTS FOR g_caller;
REVOKE EXECUTE ON FUNCTION compat.counts FROM g_caller;
SHOW GRANTS FOR g_caller;
REVOKE ALTER ROUTINE ON FUNCTION compat.counts FROM g_caller;
SHOW GRANTS FOR g_caller;
-- What there is not.
GRANT SELECT ON PROCEDURE compat.counts TO g_caller;
GRANT EXECUTE ON PROCEDURE compat.nothing TO g_caller;
GRANT EXECUTE ON FUNCTION compat.other TO g_caller;
-- sent: warnings, as above
REVOKE EXECUTE ON PROCEDURE compat.other FROM g_caller;
GRANT EXECUTE ON PROCEDURE compat.* TO g_caller;
GRANT EXECUTE ON TABLE compat.t TO g_caller;
-- A view, and a function behind it.
CREATE VIEW v AS SELECT id, counts() AS n FROM t;
GRANT SELECT ON compat.v TO g_maker;
-- as: g_maker
SELECT * FROM compat.v ORDER BY id;
-- Privileges go with what they are on.
GRANT EXECUTE ON FUNCTION compat.counts TO g_maker;
DROP VIEW v;
DROP FUNCTION counts;
DROP PROCEDURE counts;
SHOW GRANTS FOR g_maker;
SHOW GRANTS FOR g_caller;
SHOW GRANTS FOR g_keeper;
CREATE PROCEDURE counts() SELECT 2 AS two;
-- as: g_caller
CALL compat.counts();
-- Whoever makes one.
GRANT CREATE ROUTINE ON compat.* TO g_maker;
-- as: g_maker
CREATE PROCEDURE compat.mine() SELECT 3 AS three;
-- as: g_maker
CALL compat.mine();
-- as: g_maker
CALL compat.counts();
-- as: g_maker
ALTER PROCEDURE compat.mine COMMENT 'mine';
-- as: g_maker
DROP PROCEDURE compat.counts;
-- as: g_maker
DROP PROCEDURE compat.mine;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM g_maker;
-- sent: warnings, as above
DROP USER g_caller, g_maker, g_keeper;
