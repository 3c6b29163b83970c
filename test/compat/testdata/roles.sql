-- Roles.
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER IF EXISTS ro_a, ro_b, ro_c, ro_maker;
-- sent: warnings, as above
-- skip-prepared
DROP ROLE IF EXISTS ro_read, ro_write, ro_all, ro_x, ro_y;
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
CREATE TABLE u (id INT PRIMARY KEY);
CREATE USER ro_a IDENTIFIED BY 'ro_a', ro_b IDENTIFIED BY 'ro_b', ro_c IDENTIFIED BY 'ro_c', ro_maker IDENTIFIED BY 'ro_maker';
-- skip-prepared
CREATE ROLE ro_read, ro_write;
-- skip-prepared
CREATE ROLE ro_read;
-- sent: warnings, as above
-- skip-prepared
CREATE ROLE ro_x, ro_read;
-- skip-prepared
CREATE ROLE IF NOT EXISTS ro_read;
-- sent: warnings, as above
-- skip-prepared
DROP ROLE IF EXISTS ro_y;
-- skip-prepared
DROP ROLE ro_y;
-- sent: warnings, as above
-- skip-prepared
DROP ROLE IF EXISTS ro_x;
-- only: mariadb
-- sent: warnings, a server of MariaDB says the same twice, in other words
-- skip-prepared
CREATE ROLE NONE;
-- only: mariadb
-- sent: warnings, as above
-- skip-prepared
CREATE ROLE `public`;
-- skip-prepared
CREATE ROLE ro_all;
GRANT SELECT ON compat.* TO ro_read;
GRANT INSERT ON compat.t TO ro_write;
-- Who has a role has nothing of it before it is active.
GRANT ro_read TO ro_a;
GRANT ro_read TO ro_a;
-- as: ro_a
SELECT * FROM compat.t;
-- as: ro_a, ro_read
SELECT * FROM compat.t ORDER BY id;
-- as: ro_a, ro_read
INSERT INTO compat.t VALUES (3, 30);
-- as: ro_a, ro_read
-- skip-prepared
-- sent: length, names are as long as they are
SELECT CURRENT_ROLE(), CURRENT_USER();
-- as: ro_a
SELECT CURRENT_ROLE() AS none;
-- only: mariadb
-- as: ro_a, ro_read
-- sent: length, as above
SELECT CONCAT(CURRENT_ROLE, '-', CURRENT_ROLE()) AS d;
-- as: ro_a, ro_write
SELECT CURRENT_ROLE() AS r;
-- as: ro_a
SET ROLE ro_write;
-- as: ro_a
SET ROLE ro_nothing;
-- as: ro_a
SET ROLE NONE;
-- Roles that roles have.
GRANT ro_read TO ro_all;
GRANT ro_write TO ro_all;
GRANT ro_all TO ro_read;
GRANT ro_all TO ro_all;
GRANT ro_nothing TO ro_a;
REVOKE ro_nothing FROM ro_a;
GRANT ro_all TO ro_b;
-- as: ro_b, ro_all
INSERT INTO compat.t VALUES (3, 30);
-- as: ro_b, ro_all
SELECT * FROM compat.t ORDER BY id;
-- as: ro_b
SELECT * FROM compat.t;
-- as: ro_b
SET ROLE ro_read;
-- What is told of them.
SHOW GRANTS FOR ro_a;
SHOW GRANTS FOR ro_b;
SHOW GRANTS FOR ro_read;
SHOW GRANTS FOR ro_nothing;
-- as: ro_a
SHOW GRANTS FOR ro_read;
-- as: ro_a, ro_read
SHOW GRANTS;
-- as: ro_a, ro_read
SHOW GRANTS FOR CURRENT_USER;
-- as: ro_a
SHOW GRANTS;
-- as: ro_b
SHOW GRANTS FOR ro_a;
-- as: ro_b, ro_all
SHOW DATABASES LIKE 'compat';
-- as: ro_b
SHOW DATABASES LIKE 'compat';
-- as: ro_b, ro_all
SELECT table_name AS t FROM information_schema.tables WHERE table_schema = 'compat' ORDER BY 1;
-- as: ro_b
SELECT table_name AS t FROM information_schema.tables WHERE table_schema = 'compat' ORDER BY 1;
-- as: ro_b, ro_all
SELECT COUNT(*) AS n FROM information_schema.schema_privileges;
-- as: ro_b
SELECT * FROM mysql.user;
-- only: mariadb
SELECT CONCAT_WS('|', user, host, is_role, default_role, plugin) AS d FROM mysql.user WHERE user LIKE 'ro\_%' ORDER BY 1;
-- only: mariadb
SELECT CONCAT_WS('|', host, user, role, admin_option) AS d FROM mysql.roles_mapping WHERE user LIKE 'ro\_%' ORDER BY 1;
-- only: mariadb
SELECT CONCAT_WS('|', grantee, table_schema, privilege_type, is_grantable) AS d FROM information_schema.schema_privileges WHERE grantee LIKE '\'ro\_%' ORDER BY 1;
-- only: mariadb
SELECT CONCAT_WS('|', grantee, table_schema, table_name, privilege_type, is_grantable) AS d FROM information_schema.table_privileges WHERE grantee LIKE '\'ro\_%' ORDER BY 1;
-- only: mariadb
SELECT CONCAT_WS('|', grantee, privilege_type) AS d FROM information_schema.user_privileges WHERE grantee LIKE '\'ro\_%' ORDER BY 1;
-- as: ro_b, ro_all
SELECT CONCAT_WS('|', grantee, role_name, is_grantable, IFNULL(is_default, 'null')) AS d FROM information_schema.applicable_roles ORDER BY 1;
-- as: ro_b, ro_all
SELECT CONCAT_WS('|', role_name, 'x') AS d FROM information_schema.enabled_roles ORDER BY 1;
-- as: ro_b
SELECT CONCAT_WS('|', role_name, 'x') AS d FROM information_schema.enabled_roles;
-- only: mysql
SELECT CONCAT_WS('|', user, host, account_locked, password_expired, plugin, authentication_string) AS d FROM mysql.user WHERE user LIKE 'ro\_read';
-- only: mysql
SELECT CONCAT_WS('|', from_host, from_user, to_host, to_user, with_admin_option) AS d FROM mysql.role_edges WHERE to_user LIKE 'ro\_%' ORDER BY 1;
-- only: mysql
-- as: ro_b, ro_all
SELECT CONCAT_WS('|', grantee, table_schema, table_name, privilege_type, is_grantable) AS d FROM information_schema.role_table_grants ORDER BY 1;
-- Who may grant them.
-- as: ro_a
GRANT ro_read TO ro_c;
-- as: ro_a
REVOKE ro_read FROM ro_b;
GRANT ro_read TO ro_a WITH ADMIN OPTION;
SHOW GRANTS FOR ro_a;
-- as: ro_a
GRANT ro_read TO ro_c;
-- as: ro_a
GRANT ro_write TO ro_c;
-- as: ro_c, ro_read
SELECT COUNT(*) AS n FROM compat.t;
-- as: ro_a
REVOKE ro_read FROM ro_c;
-- as: ro_c
SET ROLE ro_read;
-- as: ro_a
-- skip-prepared
CREATE ROLE ro_x;
-- as: ro_a
-- skip-prepared
DROP ROLE ro_read;
-- only: mariadb
REVOKE ro_read FROM ro_c;
-- only: mariadb
REVOKE ro_read FROM ro_nobody;
-- only: mariadb
-- sent: warnings, as above
GRANT ro_read TO ro_nobody;
-- only: mariadb
-- sent: warnings, as above
GRANT ro_read TO ro_write@'%';
-- only: mariadb
REVOKE ADMIN OPTION FOR ro_read FROM ro_a;
-- only: mariadb
-- as: ro_a
GRANT ro_read TO ro_c;
-- only: mysql
GRANT ro_read TO ro_nobody;
-- only: mysql
GRANT ro_read, ro_nothing TO ro_c;
-- only: mysql
REVOKE ro_read, ro_write FROM ro_c, ro_b;
-- Default roles.
-- only: mariadb
SET DEFAULT ROLE ro_all FOR ro_b;
-- only: mysql
SET DEFAULT ROLE ro_all TO ro_b;
-- as: ro_b
-- sent: length, as above
SELECT CONCAT(CURRENT_ROLE(), '') AS r, COUNT(*) AS n FROM compat.t;
-- as: ro_b
SHOW GRANTS;
-- as: ro_b
SELECT CONCAT_WS('|', role_name, is_default) AS d FROM information_schema.applicable_roles ORDER BY 1;
-- only: mariadb
SHOW GRANTS FOR ro_b;
-- only: mariadb
SET DEFAULT ROLE ro_write FOR ro_a;
-- only: mariadb
SET DEFAULT ROLE ro_nothing FOR ro_a;
-- only: mariadb
SET DEFAULT ROLE NONE FOR ro_nobody;
-- only: mariadb
-- as: ro_a
SET DEFAULT ROLE ro_read;
-- only: mariadb
-- as: ro_a
SET DEFAULT ROLE ro_read FOR ro_b;
-- only: mariadb
-- as: ro_a
-- sent: length, as above
SELECT CONCAT(CURRENT_ROLE(), '') AS r;
-- only: mariadb
-- as: ro_a
SET DEFAULT ROLE NONE;
-- only: mysql
SET DEFAULT ROLE ro_write TO ro_a;
-- only: mysql
SET DEFAULT ROLE ALL TO ro_a, ro_b;
-- only: mysql
SELECT CONCAT_WS('|', host, user, default_role_host, default_role_user) AS d FROM mysql.default_roles WHERE user LIKE 'ro\_%' ORDER BY 1;
-- only: mysql
-- as: ro_a
SET DEFAULT ROLE NONE TO ro_a;
-- only: mysql
-- as: ro_a
SET DEFAULT ROLE NONE TO ro_b;
-- only: mysql
ALTER USER ro_a DEFAULT ROLE ro_read;
-- only: mysql
-- as: ro_a
SELECT CURRENT_ROLE();
-- only: mysql
ALTER USER ro_a DEFAULT ROLE ro_write;
-- only: mysql
ALTER USER ro_a DEFAULT ROLE NONE;
-- only: mysql
ALTER USER IF EXISTS ro_nobody DEFAULT ROLE NONE;
-- Several at once.
-- only: mysql
GRANT ro_write, ro_all TO ro_a;
-- only: mysql
-- as: ro_a, ALL
SELECT CURRENT_ROLE();
-- only: mysql
-- as: ro_a, ALL EXCEPT ro_all, ro_write
SELECT CURRENT_ROLE();
-- only: mysql
-- as: ro_a, ro_write, ro_read
SELECT CURRENT_ROLE(), COUNT(*) FROM compat.t;
-- only: mysql
-- as: ro_a, DEFAULT
SELECT CURRENT_ROLE();
-- only: mysql
SHOW GRANTS FOR ro_a USING ro_write;
-- only: mysql
SHOW GRANTS FOR ro_a USING ro_write, ro_read;
-- only: mysql
SHOW GRANTS FOR ro_a USING ro_nothing;
-- only: mysql
CREATE USER ro_x IDENTIFIED BY 'ro_x' DEFAULT ROLE ro_read, ro_write;
-- only: mysql
SHOW GRANTS FOR ro_x;
-- only: mysql
-- as: ro_x
SELECT CURRENT_ROLE(), COUNT(*) FROM compat.t;
-- only: mysql
CREATE USER ro_y IDENTIFIED BY 'ro_y' DEFAULT ROLE ro_nothing;
-- only: mysql
RENAME USER ro_read TO ro_y;
-- Accounts are roles, too.
-- only: mysql
GRANT ro_x TO ro_c;
-- only: mysql
-- as: ro_c, ro_x
SHOW GRANTS;
-- only: mysql
DROP USER ro_x;
-- only: mysql
SHOW GRANTS FOR ro_c;
-- only: mysql
-- refused: who logs in
ALTER USER ro_read IDENTIFIED BY 'x';
-- Views and programs in a definer's name.
-- skip-prepared
CREATE PROCEDURE counts() SELECT CURRENT_ROLE() AS r, COUNT(*) AS n FROM t;
GRANT CREATE VIEW, CREATE ROUTINE, EXECUTE, DROP ON compat.* TO ro_read;
GRANT ro_read TO ro_maker;
-- as: ro_maker, ro_read
CREATE VIEW compat.v AS SELECT id FROM compat.t;
-- as: ro_maker, ro_read
-- skip-prepared
CREATE PROCEDURE compat.mine() SELECT CONCAT(CURRENT_ROLE(), '') AS r, COUNT(*) AS n FROM compat.t;
-- as: ro_maker, ro_read
-- skip-prepared
CREATE PROCEDURE compat.theirs() SQL SECURITY INVOKER SELECT CONCAT(CURRENT_ROLE(), '') AS r, COUNT(*) AS n FROM compat.t;
-- as: ro_maker, ro_read
SELECT * FROM compat.v;
-- as: ro_maker, ro_read
-- sent: length, as above
CALL compat.mine();
-- as: ro_maker, ro_read
CALL compat.counts();
-- as: ro_maker, ro_read
-- sent: length, as above
CALL compat.theirs();
SELECT * FROM v;
CALL mine();
-- only: mariadb
SET DEFAULT ROLE ro_read FOR ro_maker;
-- only: mysql
SET DEFAULT ROLE ro_read TO ro_maker;
SELECT * FROM v ORDER BY id;
CALL mine();
-- as: ro_maker
SELECT * FROM compat.v ORDER BY id;
-- What is taken away counts no more.
REVOKE SELECT ON compat.* FROM ro_read;
-- as: ro_maker
SELECT * FROM compat.t;
SELECT * FROM v;
CALL mine();
GRANT SELECT ON compat.* TO ro_read;
SELECT COUNT(*) FROM t;
REVOKE ro_read FROM ro_maker;
-- as: ro_maker
SELECT CURRENT_ROLE() AS r;
-- as: ro_maker
SELECT * FROM compat.t;
SELECT * FROM v;
CALL mine();
-- The next role of a name is another.
GRANT ro_read TO ro_c;
-- skip-prepared
DROP ROLE ro_read;
SHOW GRANTS FOR ro_all;
-- as: ro_b, ro_all
SELECT * FROM compat.u;
-- skip-prepared
CREATE ROLE ro_read;
GRANT SELECT ON compat.* TO ro_read;
-- as: ro_c
SET ROLE ro_read;
-- as: ro_b, ro_all
SELECT * FROM compat.u;
-- as: ro_b, ro_all
INSERT INTO compat.t VALUES (4, 40);
-- SET ROLE does not commit, and all the others do.
START TRANSACTION;
INSERT INTO t VALUES (5, 50);
SET ROLE NONE;
ROLLBACK;
START TRANSACTION;
INSERT INTO t VALUES (6, 60);
GRANT ro_read TO ro_c;
ROLLBACK;
SELECT * FROM t ORDER BY id;
-- skip-prepared
CREATE PROCEDURE setting() BEGIN SET ROLE NONE; SELECT 1; END;
-- refused: in programs
CALL setting();
DROP PROCEDURE setting;
-- only: mariadb
-- refused: of one name
-- skip-prepared
CREATE ROLE ro_a;
-- only: mariadb
-- refused: of one name
CREATE USER ro_all IDENTIFIED BY 'x';
-- only: mariadb
-- refused: PUBLIC
GRANT SELECT ON compat.* TO PUBLIC;
-- only: mariadb
-- refused: CURRENT_ROLE
GRANT ro_read TO CURRENT_ROLE;
-- only: mariadb
-- refused: a role as the definer
CREATE DEFINER = CURRENT_ROLE VIEW w AS SELECT id FROM t;
-- only: mariadb
-- refused: a role as the definer
CREATE DEFINER = ro_read VIEW w AS SELECT id FROM t;
-- only: mariadb
-- refused: OR REPLACE
CREATE OR REPLACE ROLE ro_read;
-- sent: warnings, a server of MariaDB says 1961 besides
GRANT ro_read TO ro_a@localhost;
-- only: mariadb
-- sent: warnings, a server of MariaDB says 1410 before
ALTER USER ro_read IDENTIFIED BY 'x';
-- only: mariadb
DROP USER ro_read;
-- only: mariadb
RENAME USER ro_read TO ro_y;
-- only: mariadb
-- skip-prepared
DROP ROLE ro_a;
-- only: mariadb
SHOW CREATE USER ro_read;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM ro_b;
SHOW GRANTS FOR ro_b;
-- What is said of none, and of roles that one does not have.
-- only: mariadb
-- as: ro_a
SET ROLE 'none';
-- only: mariadb
-- as: ro_a
SET DEFAULT ROLE `None`;
-- only: mariadb
-- as: ro_c
SET DEFAULT ROLE ro_write;
-- only: mariadb
-- as: ro_c
SET DEFAULT ROLE ro_write FOR ro_c;
-- only: mariadb
SET DEFAULT ROLE ro_write FOR ro_c;
-- What is no SHOW.
SHOW GRANTS FOR ro_a, ro_b;
SHOW GRANTS FOR ro_a ro_b;
SHOW GRANTS FOR CURRENT_USER(;
SHOW CREATE USER ro_a USING ro_read;
SHOW CREATE USER FOR ro_a;
-- only: mariadb
SHOW GRANTS FOR ro_a USING ro_read;
-- only: mysql
SHOW GRANTS FOR CURRENT_ROLE();
-- only: mysql
SHOW CREATE USER;
DROP VIEW v;
DROP PROCEDURE mine;
DROP PROCEDURE theirs;
DROP PROCEDURE counts;
-- sent: warnings, as above
-- skip-prepared
DROP ROLE ro_read, ro_write, ro_all;
-- sent: warnings, as above
DROP USER ro_a, ro_b, ro_c, ro_maker;
