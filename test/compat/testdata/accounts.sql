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
CREATE USER acc_f@localhost IDENTIFIED BY 'x';
-- refused: accounts
CREATE USER acc_f;
-- refused: accounts
CREATE USER acc_f IDENTIFIED BY 'x' REQUIRE SSL;
-- refused: accounts
CREATE USER acc_f IDENTIFIED BY 'x' ACCOUNT LOCK;
CREATE USER acc_g IDENTIFIED BY 'x';
-- refused: accounts
GRANT SELECT (id) ON compat.t TO acc_g;
-- refused: accounts
GRANT SELECT ON `com%`.* TO acc_g;
GRANT SELECT, INSERT, UPDATE, DELETE ON compat.* TO acc_g;
REVOKE UPDATE ON compat.* FROM acc_g;
DROP USER IF EXISTS acc_f, acc_g;
