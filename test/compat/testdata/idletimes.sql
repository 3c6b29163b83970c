-- How long a client may be silent is minded by Skarv, not by the servers, which are told other values of wait_timeout and its like.
CREATE TABLE itp (id INT PRIMARY KEY, v INT);
INSERT INTO itp VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6);
SELECT @@wait_timeout, @@session.wait_timeout, @@global.wait_timeout, @@interactive_timeout;
SET wait_timeout = 70, @itx = @@wait_timeout;
SELECT @itx, @@wait_timeout, @@local.wait_timeout + 1 AS n;
SET @itx = @@wait_timeout, wait_timeout = @@wait_timeout + 1, @ity = @@wait_timeout;
SELECT @itx, @ity, @@WAIT_TIMEOUT, @@session.`wait_timeout`;
SELECT @@wait_timeout, id FROM itp ORDER BY id;
SELECT COUNT(*) FROM itp WHERE id < @@wait_timeout - 68;
SELECT @@wait_timeout INTO @itx;
SELECT @itx;
INSERT INTO itp VALUES (@@wait_timeout, @@session.wait_timeout);
SELECT * FROM itp WHERE v > 6;
UPDATE itp SET v = @@wait_timeout + id WHERE id < 4;
SELECT SUM(v) FROM itp;
SHOW VARIABLES LIKE 'wait_timeout';
SHOW SESSION VARIABLES WHERE Variable_name = 'wait_timeout' AND Value = '71';
SHOW GLOBAL VARIABLES LIKE 'wait_timeout';
BEGIN;
UPDATE itp SET v = v + 1;
SET wait_timeout = 80;
SHOW VARIABLES LIKE 'wait_timeout';
SELECT @@wait_timeout, SUM(v) FROM itp;
SELECT @@wait_timeout, v FROM itp WHERE id = 3;
ROLLBACK;
SELECT @@wait_timeout, SUM(v) FROM itp;
SET wait_timeout = 0;
SHOW WARNINGS;
SELECT @@wait_timeout;
SET wait_timeout = 31536000;
SELECT @@wait_timeout;
SET wait_timeout = 99999999;
SHOW WARNINGS;
SELECT @@wait_timeout;
SET wait_timeout = 'a';
SET @itx = 5, wait_timeout = -1;
SELECT @itx, @@wait_timeout;
SET wait_timeout = 90, sql_mode = 'nonsense';
SELECT @@wait_timeout;
SET SESSION wait_timeout = DEFAULT;
SELECT @@wait_timeout;
SET wait_timeout = 100;
CREATE TEMPORARY TABLE itt (id INT PRIMARY KEY);
INSERT INTO itt VALUES (1);
SET wait_timeout = 110;
SELECT @@wait_timeout, id FROM itt;
SHOW VARIABLES LIKE 'wait_timeout';
DROP TEMPORARY TABLE itt;
-- only: mysql
SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'wait_timeout';
-- only: mariadb
SELECT VARIABLE_VALUE FROM information_schema.session_variables WHERE VARIABLE_NAME = 'wait_timeout';
-- only: mariadb
SELECT SESSION_VALUE FROM information_schema.system_variables WHERE VARIABLE_NAME = 'wait_timeout';
-- only: mariadb
-- skip-prepared
SET STATEMENT idle_transaction_timeout = 3 FOR SELECT @@idle_transaction_timeout;
-- only: mariadb
SELECT @@idle_transaction_timeout;
-- only: mariadb
SELECT @@idle_transaction_timeout, @@idle_readonly_transaction_timeout, @@idle_write_transaction_timeout;
-- only: mariadb
SET idle_transaction_timeout = 50, idle_write_transaction_timeout = 60;
-- only: mariadb
BEGIN;
-- only: mariadb
UPDATE itp SET v = v + 1;
-- only: mariadb
SELECT @@idle_transaction_timeout, @@idle_readonly_transaction_timeout, @@idle_write_transaction_timeout, @@wait_timeout, COUNT(*) FROM itp;
-- only: mariadb
SET idle_transaction_timeout = 0;
-- only: mariadb
SHOW VARIABLES LIKE 'idle%';
-- only: mariadb
ROLLBACK;
-- skip-prepared
CREATE PROCEDURE itr(IN n INT) SELECT n, @@wait_timeout, COUNT(*) FROM itp;
CALL itr(@@wait_timeout);
-- skip-prepared
DROP PROCEDURE itr;
-- skip-prepared
CREATE PROCEDURE itr(IN n INT) SELECT n, LAST_INSERT_ID(), COUNT(*) FROM itp;
CALL itr(110);
-- skip-prepared
DROP PROCEDURE itr;
DROP TABLE itp;
-- For how long answers may wait for one another is the same.
CREATE TABLE itn (id INT PRIMARY KEY, v INT);
INSERT INTO itn VALUES (1, 1), (2, 2), (3, 3), (4, 4);
SELECT @@net_read_timeout, @@net_write_timeout, @@session.net_write_timeout, @@global.net_write_timeout, @@global.net_read_timeout;
SHOW VARIABLES LIKE 'net\_%\_timeout';
SET net_write_timeout = 70, @itw = @@net_write_timeout, net_read_timeout = @@net_read_timeout + 5;
SELECT @itw, @@net_write_timeout, @@local.net_read_timeout + 1 AS n, SUM(v) FROM itn;
SELECT @@net_write_timeout, id FROM itn ORDER BY id;
SELECT @@net_write_timeout, id FROM itn WHERE id = 3;
SHOW VARIABLES LIKE 'net\_%\_timeout';
SHOW GLOBAL VARIABLES LIKE 'net\_%\_timeout';
BEGIN;
UPDATE itn SET v = v + @@net_read_timeout;
SET SESSION net_write_timeout = 31536000, SESSION net_read_timeout = 0;
SHOW WARNINGS;
SELECT @@net_write_timeout, @@net_read_timeout, SUM(v) FROM itn;
ROLLBACK;
SET net_write_timeout = 'a';
SET net_write_timeout = -1, net_read_timeout = 99999999;
SHOW WARNINGS;
SELECT @@net_write_timeout, @@net_read_timeout;
SET net_write_timeout = 50, sql_mode = 'nonsense';
SELECT @@net_write_timeout;
-- only: mariadb
-- skip-prepared
SET STATEMENT net_write_timeout = 3 FOR SELECT @@net_write_timeout;
SET net_write_timeout = DEFAULT, net_read_timeout = DEFAULT;
SELECT @@net_read_timeout, @@net_write_timeout;
-- only: mysql
SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'net_write_timeout';
-- only: mariadb
SELECT SESSION_VALUE FROM information_schema.system_variables WHERE VARIABLE_NAME = 'net_write_timeout';
DROP TABLE itn;
