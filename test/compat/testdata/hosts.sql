-- Accounts for hosts. Clients are on the servers' machine: localhost, and 127.0.0.1.
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER IF EXISTS ho_a, ho_a@localhost, ho_a@'_%', ho_a@'10.0.0.1', ho_b, ho_b@localhost, ho_c@localhost, ho_d@'10.0.%', ho_e, ho_e@localhost, ho_n, ho_n@'10.0.0.0/255.0.0.0';
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10));
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(10));
INSERT INTO t VALUES (1, 'a'), (2, 'b');
INSERT INTO u VALUES (1, 'x');
CREATE USER ho_a IDENTIFIED BY 'elsewhere', 'ho_a'@'localhost' IDENTIFIED BY 'ho_a', ho_a@'_%' IDENTIFIED BY 'near', ho_a@10.0.0.1 IDENTIFIED BY 'far';
SELECT GROUP_CONCAT(User, '@', Host ORDER BY Host) FROM mysql.user WHERE User LIKE 'ho\_%';
CREATE USER ho_a@localhost IDENTIFIED BY 'again';
CREATE USER HO_A@LOCALHOST IDENTIFIED BY 'again';
CREATE USER IF NOT EXISTS ho_a@LocalHost IDENTIFIED BY 'again';
SELECT GROUP_CONCAT(CONCAT(User, '@', Host) ORDER BY 1) AS a FROM mysql.user WHERE User LIKE 'ho\_%';
DROP USER HO_A@localhost;
-- as: ho_a
-- sent: length, the account's name is a literal
SELECT CURRENT_USER(), USER(), SESSION_USER();
-- as: ho_a
SHOW GRANTS;
-- as: ho_a
SHOW GRANTS FOR CURRENT_USER();
-- as: ho_a
SHOW GRANTS FOR ho_a@localhost;
-- as: ho_a
SHOW GRANTS FOR ho_a;
-- as: ho_a
SHOW GRANTS FOR ho_a@'_%';
SHOW GRANTS FOR ho_a;
SHOW GRANTS FOR ho_a@'_%';
SHOW GRANTS FOR ho_a@'127.0.%';
SHOW GRANTS FOR ho_a@'10.0.0.1';
SHOW CREATE USER ho_a@'127.0.%';
-- only: mariadb
SHOW CREATE USER ho_a@localhost;
-- What is granted to the one and to the other.
-- as: ho_a
SELECT * FROM compat.t;
GRANT SELECT ON compat.* TO ho_a@localhost;
-- as: ho_a
SELECT * FROM compat.t;
-- as: ho_a
INSERT INTO compat.t VALUES (3, 'c');
GRANT INSERT ON compat.* TO ho_a;
-- as: ho_a
INSERT INTO compat.t VALUES (3, 'c');
GRANT INSERT ON compat.t TO ho_a;
-- as: ho_a
INSERT INTO compat.t VALUES (3, 'c');
GRANT SELECT ON compat.t TO ho_a@localhost;
-- as: ho_a
INSERT INTO compat.t VALUES (4, 'd');
REVOKE SELECT ON compat.t FROM ho_a@localhost;
REVOKE SELECT ON compat.* FROM ho_a@localhost;
-- as: ho_a
SELECT * FROM compat.t;
-- as: ho_a
INSERT INTO compat.t VALUES (5, 'e');
-- as: ho_a
INSERT INTO compat.u VALUES (5, 'e');
GRANT DELETE ON compat.* TO ho_a@'_%';
-- as: ho_a
DELETE FROM compat.u;
-- as: ho_a
INSERT INTO compat.u VALUES (6, 'f');
GRANT SELECT ON compat.* TO ho_a@10.0.0.1;
-- as: ho_a
SELECT id FROM compat.u;
GRANT SELECT ON *.* TO ho_a;
-- as: ho_a
SELECT id FROM compat.u;
-- as: ho_a
SHOW GRANTS;
SHOW GRANTS FOR ho_a;
SELECT CONCAT_WS('|', user, host, db, select_priv, insert_priv, delete_priv) AS p FROM mysql.db WHERE user = 'ho_a' ORDER BY 1;
SELECT CONCAT_WS('|', user, host, db, table_name, table_priv) AS p FROM mysql.tables_priv WHERE user = 'ho_a' ORDER BY 1;
SELECT CONCAT_WS('|', grantee, table_schema, privilege_type, is_grantable) AS p FROM information_schema.schema_privileges WHERE grantee LIKE '%ho\_a%' ORDER BY 1;
-- as: ho_a
SELECT CONCAT_WS('|', grantee, privilege_type, is_grantable) AS p FROM information_schema.user_privileges ORDER BY 1;
REVOKE SELECT ON *.* FROM ho_a;
REVOKE SELECT ON compat.* FROM ho_a@'127.0.%';
-- sent: warnings, as above
REVOKE INSERT ON compat.u FROM ho_a@'_%';
-- To give on what one has of another account.
GRANT SELECT ON compat.u TO ho_a WITH GRANT OPTION;
-- as: ho_a
GRANT SELECT ON compat.u TO ho_a@'_%';
-- as: ho_a
GRANT SELECT ON compat.t TO ho_a@'_%';
-- as: ho_a
GRANT SELECT ON *.* TO ho_a@'_%';
-- as: ho_a
DROP USER ho_a;
-- as: ho_a
ALTER USER ho_a IDENTIFIED BY 'x';
-- as: ho_a
CREATE DATABASE ho_own;
-- Passwords and names.
-- only: mariadb
SET PASSWORD FOR ho_a@localhost = PASSWORD('ho_a');
-- only: mysql
SET PASSWORD FOR ho_a@localhost = 'ho_a';
-- only: mariadb
SET PASSWORD FOR ho_a@'127.0.%' = PASSWORD('x');
-- only: mysql
SET PASSWORD FOR ho_a@'127.0.%' = 'x';
-- as: ho_a
-- sent: length, as above
SELECT CURRENT_USER();
-- only: mysql
ALTER USER ho_a@localhost IDENTIFIED BY 'ho_a' ACCOUNT UNLOCK, ho_a@'127.1.%' IDENTIFIED BY 'x';
RENAME USER ho_a@localhost TO ho_b@localhost;
RENAME USER ho_a@localhost TO ho_b@localhost;
RENAME USER ho_a TO ho_b@localhost;
-- only: mariadb
SET PASSWORD FOR ho_b@localhost = PASSWORD('ho_b');
-- only: mysql
SET PASSWORD FOR ho_b@localhost = 'ho_b';
-- as: ho_b
SHOW GRANTS;
-- as: ho_b
-- sent: length, as above
SELECT CURRENT_USER();
RENAME USER ho_b@localhost TO ho_b;
-- as: ho_b
-- sent: length, as above
SELECT CURRENT_USER(), USER();
SELECT CONCAT_WS('|', user, host, db, select_priv, insert_priv, delete_priv) AS p FROM mysql.db WHERE user LIKE 'ho\_%' ORDER BY 1;
DROP USER ho_b@localhost;
-- sent: warnings, as above
DROP USER ho_b, ho_a@'127.0.%';
DROP USER IF EXISTS ho_a@'127.0.%';
DROP USER ho_a@'_%', ho_a, ho_a@'10.0.0.1';
-- To nobody.
CREATE USER ho_c@localhost IDENTIFIED BY 'ho_c';
GRANT SELECT ON compat.* TO ho_c;
GRANT SELECT ON compat.* TO ho_c@'127.0.0.1';
REVOKE SELECT ON compat.* FROM ho_c;
-- sent: warnings, as above
REVOKE ALL PRIVILEGES, GRANT OPTION FROM ho_c;
GRANT ALL ON compat.* TO ho_c@localhost WITH GRANT OPTION;
-- as: ho_c
GRANT SELECT ON compat.* TO ho_c;
-- as: ho_c
-- sent: length, as above
SELECT id, CURRENT_USER() FROM compat.t ORDER BY id;
-- Networks, and IPv6.
CREATE USER ho_e@'127.0.0.0/255.255.255.0' IDENTIFIED BY 'ho_e', ho_e@'2001:DB8::%' IDENTIFIED BY 'x';
-- only: mysql
CREATE USER ho_e@'127.0.0.0/8' IDENTIFIED BY 'x';
SELECT GROUP_CONCAT(CONCAT(User, '@', Host) ORDER BY 1) AS a FROM mysql.user WHERE User LIKE 'ho\_e%';
SHOW GRANTS FOR ho_e@'127.0.0.0/255.255.255.0';
SHOW GRANTS FOR ho_e@'2001:db8::%';
-- only: mysql
DROP USER ho_e@'127.0.0.0/8';
DROP USER ho_e@'127.0.0.0/255.255.255.0', ho_e@'2001:db8::%';
-- only: mariadb
CREATE USER ho_e@'' IDENTIFIED BY 'ho_e';
-- only: mariadb
DROP USER ho_e;
-- Names of machines, and what is no network.
-- refused: accounts
CREATE USER ho_e@'web1.example.com' IDENTIFIED BY 'x';
-- refused: accounts
CREATE USER ho_e@'%.example.com' IDENTIFIED BY 'x';
-- refused: accounts
CREATE USER ho_e@'10.0.0.1/255.0.0.0' IDENTIFIED BY 'x';
DROP USER IF EXISTS ho_e@'web1.example.com', ho_e@'%.example.com', ho_e@'10.0.0.1/255.0.0.0';
-- Definers.
CREATE USER ho_d@'10.0.%' IDENTIFIED BY 'x', ho_d@localhost IDENTIFIED BY 'ho_d';
GRANT SELECT ON compat.* TO ho_d@'10.0.%';
CREATE DEFINER = ho_d@'10.0.%' SQL SECURITY DEFINER VIEW v_far AS SELECT id FROM t WHERE id < 3;
CREATE DEFINER = 'ho_d'@'localhost' SQL SECURITY DEFINER VIEW v_near AS SELECT id FROM t WHERE id < 3;
CREATE DEFINER = ho_d SQL SECURITY DEFINER VIEW v_none AS SELECT id FROM t WHERE id < 3;
CREATE DEFINER = ho_d@10.0.0.7 PROCEDURE p_none() SELECT 1;
CREATE DEFINER = ho_d@10.0.0.7 SQL SECURITY DEFINER VIEW v_one AS SELECT id FROM t WHERE id < 3;
SELECT * FROM v_one ORDER BY id;
-- as: ho_c
SELECT * FROM compat.v_one ORDER BY id;
CREATE DEFINER = `ho_d`@`10.0.%` PROCEDURE p_far() SELECT CURRENT_USER(), COUNT(*) FROM t;
CREATE DEFINER = ho_d@localhost PROCEDURE p_near() SELECT CURRENT_USER(), COUNT(*) FROM t;
GRANT EXECUTE ON compat.* TO ho_d@localhost, ho_d@'10.0.%';
SHOW CREATE VIEW v_far;
SHOW CREATE PROCEDURE p_far;
SELECT table_name, CONCAT(definer) AS definer FROM information_schema.views WHERE table_schema = 'compat' ORDER BY 1;
SELECT routine_name, CONCAT(definer) AS definer FROM information_schema.routines WHERE routine_schema = 'compat' ORDER BY 1;
SELECT * FROM v_far ORDER BY id;
SELECT * FROM v_near;
SELECT * FROM v_none;
CALL p_none();
-- sent: length, as above
CALL p_far();
-- sent: length, as above
CALL p_near();
-- as: ho_c
SELECT * FROM compat.v_far ORDER BY id;
-- as: ho_c
SELECT * FROM compat.v_near;
-- as: ho_c
SELECT * FROM compat.v_none;
-- as: ho_c
CREATE DEFINER = ho_d@localhost VIEW compat.v_other AS SELECT 1 AS a;
-- as: ho_c
CREATE DEFINER = ho_c VIEW compat.v_other AS SELECT 1 AS a;
-- as: ho_c
CREATE DEFINER = ho_c@localhost VIEW compat.v_own AS SELECT id FROM compat.t;
-- as: ho_c
SELECT COUNT(*) FROM compat.v_own;
-- as: ho_d
SELECT * FROM compat.v_far;
GRANT SELECT, EXECUTE ON compat.* TO ho_d@localhost;
SELECT * FROM v_near ORDER BY id;
-- sent: length, as above
CALL p_near();
-- as: ho_d
-- sent: length, as above
CALL compat.p_near();
CREATE DEFINER = ho_d@'10.0.%' TRIGGER tr BEFORE INSERT ON u FOR EACH ROW SET NEW.v = 'tr';
GRANT TRIGGER, UPDATE ON compat.* TO ho_d@'10.0.%';
INSERT INTO u VALUES (20, 'y');
SELECT * FROM u WHERE id = 20;
DROP USER ho_d@'10.0.%';
SELECT * FROM v_far;
CALL p_far();
-- A definer whose host has no account of its own is of the one that a client from there would have.
CREATE USER ho_b IDENTIFIED BY 'x';
GRANT SELECT, EXECUTE ON compat.* TO ho_b;
CREATE DEFINER = ho_b@localhost PROCEDURE p_any() SELECT CURRENT_USER(), COUNT(*) FROM t;
-- sent: length, as above
CALL p_any();
-- as: ho_c
-- sent: length, as above
CALL compat.p_any();
DROP USER ho_b;
DROP PROCEDURE p_any;
-- One whose host is a network acts as himself.
CREATE USER ho_n@'10.0.0.0/255.0.0.0' IDENTIFIED BY 'x', ho_n IDENTIFIED BY 'x';
GRANT SELECT ON *.* TO ho_n;
GRANT EXECUTE ON compat.* TO ho_n@'10.0.0.0/255.0.0.0';
CREATE DEFINER = ho_n@'10.0.0.0/255.0.0.0' PROCEDURE p_net() SELECT CURRENT_USER(), COUNT(*) FROM t;
CALL p_net();
GRANT SELECT ON compat.t TO ho_n@'10.0.0.0/255.0.0.0';
-- sent: length, as above
CALL p_net();
DROP USER ho_n, ho_n@'10.0.0.0/255.0.0.0';
DROP PROCEDURE p_net;
DROP VIEW v_one, v_far, v_near, v_none, v_own;
DROP PROCEDURE p_far;
DROP PROCEDURE p_near;
DROP PROCEDURE p_none;
DROP TRIGGER tr;
-- sent: warnings, as above
DROP USER IF EXISTS ho_c@localhost, ho_d@localhost;
-- Roles, and what is granted on single programs.
-- sent: warnings, as above
DROP ROLE IF EXISTS ho_r;
CREATE USER ho_a@localhost IDENTIFIED BY 'ho_a', ho_a IDENTIFIED BY 'x';
CREATE ROLE ho_r;
GRANT DELETE ON compat.* TO ho_r;
GRANT ho_r TO ho_a@localhost;
GRANT SELECT ON compat.* TO ho_a;
CREATE PROCEDURE p_count() SELECT COUNT(*) FROM u;
GRANT EXECUTE ON PROCEDURE compat.p_count TO ho_a;
-- as: ho_a
SELECT id FROM compat.u ORDER BY id;
-- as: ho_a
CALL compat.p_count();
-- as: ho_a, ho_r
SELECT id FROM compat.u ORDER BY id;
-- as: ho_a, ho_r
CALL compat.p_count();
-- as: ho_a, ho_r
DELETE FROM compat.u;
-- as: ho_a
DELETE FROM compat.u;
-- as: ho_a
SHOW GRANTS;
-- as: ho_a, ho_r
SHOW GRANTS;
SHOW GRANTS FOR ho_a;
-- as: ho_a
-- only: mariadb
SELECT CONCAT_WS('|', GRANTEE, ROLE_NAME, IS_GRANTABLE, IS_DEFAULT) AS r FROM information_schema.applicable_roles;
-- as: ho_a
-- only: mysql
SELECT user, host, grantee, grantee_host, role_name, role_host, is_grantable FROM information_schema.applicable_roles;
GRANT ho_r TO ho_a WITH ADMIN OPTION;
-- as: ho_a
GRANT ho_r TO ho_a;
-- only: mariadb
SELECT CONCAT_WS('|', User, Host, Role, Admin_option) AS m FROM mysql.roles_mapping WHERE User = 'ho_a' ORDER BY 1;
-- only: mysql
SELECT CONCAT_WS('|', from_host, from_user, to_host, to_user, with_admin_option) AS m FROM mysql.role_edges WHERE to_user = 'ho_a' ORDER BY 1;
-- only: mariadb
SET DEFAULT ROLE ho_r FOR ho_a@localhost;
-- only: mysql
SET DEFAULT ROLE ho_r TO ho_a@localhost;
-- as: ho_a
-- skip-prepared
-- sent: length, as above
SELECT CURRENT_ROLE() AS r;
-- as: ho_a
SELECT id FROM compat.u;
REVOKE ho_r FROM ho_a@localhost;
-- as: ho_a
SELECT id FROM compat.u;
-- only: mysql
CREATE ROLE ho_r@localhost;
-- only: mysql
GRANT UPDATE ON compat.* TO ho_r@localhost;
-- only: mysql
GRANT ho_r@localhost, ho_r TO ho_a@localhost;
-- only: mysql
SHOW GRANTS FOR ho_a@localhost USING ho_r@localhost, ho_r;
-- only: mysql
SHOW GRANTS FOR ho_a@localhost USING ho_r@'10.%';
-- only: mysql
GRANT ho_r@'10.%' TO ho_a@localhost;
-- only: mysql
DROP ROLE ho_r@localhost;
-- only: mysql
CREATE USER ho_r@localhost IDENTIFIED BY 'ho_r';
-- as: ho_r
-- only: mysql
DELETE FROM compat.u;
-- only: mysql
DROP USER ho_r@localhost;
DROP PROCEDURE p_count;
DROP ROLE ho_r;
-- sent: warnings, as above
DROP USER ho_a, ho_a@localhost;
