-- Accounts: they are the cluster's, and what is said of them is what one server says.
CREATE USER acc_a IDENTIFIED BY 'one';
CREATE USER 'acc_b'@'%' IDENTIFIED BY 'two', acc_c@'%' IDENTIFIED BY 'three';
CREATE USER acc_a IDENTIFIED BY 'again';
CREATE USER IF NOT EXISTS acc_a IDENTIFIED BY 'again', acc_d IDENTIFIED BY 'four';
SELECT GROUP_CONCAT(User, '@', Host ORDER BY User) FROM mysql.user WHERE User LIKE 'acc\_%';
-- only: mariadb
SHOW CREATE USER acc_a;
SHOW CREATE USER acc_none;
ALTER USER acc_a IDENTIFIED BY 'new';
ALTER USER IF EXISTS acc_a IDENTIFIED BY 'newer';
-- only: mysql
ALTER USER acc_none IDENTIFIED BY 'new';
-- only: mysql
ALTER USER IF EXISTS acc_none IDENTIFIED BY 'new';
-- only: mariadb
-- sent: warnings, a server of MariaDB warns of 1410 besides
ALTER USER acc_none IDENTIFIED BY 'new';
-- only: mariadb
-- sent: warnings, a server of MariaDB warns of 1410 besides
-- sent: warning count, the same
ALTER USER IF EXISTS acc_none IDENTIFIED BY 'new';
-- only: mariadb
SET PASSWORD FOR acc_a = PASSWORD('newest');
-- only: mariadb
SET PASSWORD FOR acc_a = 'no hash';
-- only: mariadb
SET PASSWORD FOR acc_none = PASSWORD('newest');
-- only: mysql
SET PASSWORD FOR acc_a = 'newest';
-- only: mysql
SET PASSWORD FOR acc_none = 'newest';
GRANT SELECT ON compat.* TO acc_a;
GRANT INSERT, UPDATE, DELETE ON `compat`.* TO acc_a;
GRANT SELECT, INSERT, UPDATE, DELETE ON compat.* TO acc_b, acc_c;
GRANT ALL PRIVILEGES ON compat.* TO acc_c;
GRANT ALL ON *.* TO acc_d WITH GRANT OPTION;
GRANT USAGE ON *.* TO acc_a;
GRANT EXECUTE ON compat.* TO acc_c;
GRANT SELECT ON compat.* TO acc_none;
-- only: mariadb
GRANT SELECT ON compat.* TO acc_e IDENTIFIED BY 'five';
REVOKE INSERT, UPDATE, DELETE ON compat.* FROM acc_b;
REVOKE SELECT ON compat.* FROM acc_b;
-- only: mysql
REVOKE SELECT ON compat.* FROM acc_b;
-- only: mariadb
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
REVOKE SELECT ON compat.* FROM acc_b;
REVOKE SELECT ON compat.* FROM acc_none;
REVOKE ALL PRIVILEGES ON compat.* FROM acc_c;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM acc_d;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM acc_none;
RENAME USER acc_c TO acc_z;
RENAME USER acc_c TO acc_y;
RENAME USER acc_z TO acc_a;
SELECT GROUP_CONCAT(User, '@', Host ORDER BY User) FROM mysql.user WHERE User LIKE 'acc\_%';
CREATE TABLE t (id INT PRIMARY KEY);
-- A statement about accounts commits.
START TRANSACTION;
INSERT INTO t VALUES (1);
DROP USER acc_z;
ROLLBACK;
SELECT * FROM t;
-- One with a mistake does not.
START TRANSACTION;
INSERT INTO t VALUES (2);
CREATE USER acc_q IDENTIFED BY 'x';
ROLLBACK;
SELECT * FROM t;
-- Where nothing may be written.
SET SESSION TRANSACTION READ ONLY;
CREATE USER acc_w IDENTIFIED BY 'x';
START TRANSACTION;
GRANT USAGE ON *.* TO acc_a;
ROLLBACK;
SET SESSION TRANSACTION READ WRITE;
START TRANSACTION READ ONLY;
GRANT USAGE ON *.* TO acc_a;
ROLLBACK;
DROP USER IF EXISTS acc_w;
DROP USER acc_none;
DROP USER IF EXISTS acc_none, acc_a;
-- only: mysql
DROP USER acc_b, acc_none, acc_d;
-- only: mariadb
-- sent: warnings, a server of MariaDB notes that its tables of accounts know no rollback (4173)
DROP USER acc_b, acc_none, acc_d;
SELECT GROUP_CONCAT(User, '@', Host ORDER BY User) FROM mysql.user WHERE User LIKE 'acc\_%';
DROP USER IF EXISTS acc_b, acc_d, acc_e;
-- What accounts of a cluster do not have.
-- refused: accounts
CREATE USER acc_f@'web1.example.com' IDENTIFIED BY 'x';
-- refused: accounts
CREATE USER acc_f;
-- refused: accounts
CREATE USER acc_f IDENTIFIED BY 'x' REQUIRE X509;
CREATE USER acc_g IDENTIFIED BY 'x';
-- refused: accounts
GRANT SELECT (id) ON compat.t TO acc_g;
-- refused: accounts
GRANT SELECT ON `com%`.* TO acc_g;
GRANT SELECT, INSERT, UPDATE, DELETE ON compat.* TO acc_g;
REVOKE UPDATE ON compat.* FROM acc_g;
DROP USER IF EXISTS acc_f, acc_g;
-- Locked accounts, and those that must use TLS.
CREATE USER acc_lock IDENTIFIED BY 'x' ACCOUNT LOCK;
CREATE USER acc_ssl IDENTIFIED BY 'x' REQUIRE SSL;
CREATE USER acc_both IDENTIFIED BY 'x' REQUIRE SSL ACCOUNT LOCK;
CREATE USER acc_bare ACCOUNT LOCK;
SELECT GROUP_CONCAT(User, ssl_type ORDER BY User) FROM mysql.user WHERE User LIKE 'acc\_%';
-- only: mysql
SELECT GROUP_CONCAT(User, account_locked ORDER BY User) FROM mysql.user WHERE User LIKE 'acc\_%';
-- only: mariadb
SELECT CONCAT(User) AS name, JSON_VALUE(Priv, '$.account_locked') AS locked, JSON_VALUE(Priv, '$.ssl_type') AS tls FROM mysql.global_priv WHERE User LIKE 'acc\_%' ORDER BY User;
SHOW CREATE USER acc_bare;
-- only: mariadb
SHOW CREATE USER acc_both;
SHOW GRANTS FOR acc_bare;
-- only: mariadb
SHOW GRANTS FOR acc_ssl;
-- only: mariadb
GRANT SELECT ON *.* TO acc_lock REQUIRE SSL;
-- only: mariadb
SHOW GRANTS FOR acc_lock;
ALTER USER acc_lock, acc_ssl REQUIRE NONE ACCOUNT UNLOCK;
ALTER USER acc_ssl ACCOUNT LOCK;
RENAME USER acc_ssl TO acc_renamed;
-- only: mariadb
SHOW CREATE USER acc_renamed;
-- only: mariadb
SHOW CREATE USER acc_lock;
-- A definer who is locked goes on.
CREATE USER acc_defines ACCOUNT LOCK;
GRANT SELECT ON compat.* TO acc_defines;
CREATE DEFINER = acc_defines SQL SECURITY DEFINER VIEW of_locked AS SELECT id FROM t;
CREATE USER acc_reads IDENTIFIED BY 'acc_reads';
GRANT SELECT ON compat.of_locked TO acc_reads;
-- as: acc_reads
SELECT id FROM compat.of_locked;
-- as: acc_reads
ALTER USER CURRENT_USER() ACCOUNT LOCK;
-- as: acc_reads
ALTER USER acc_lock ACCOUNT UNLOCK;
-- as: acc_reads
ALTER USER acc_reads REQUIRE SSL;
-- refused: accounts
ALTER USER acc_bare ACCOUNT UNLOCK;
DROP VIEW of_locked;
DROP USER acc_lock, acc_renamed, acc_both, acc_bare, acc_defines, acc_reads;
