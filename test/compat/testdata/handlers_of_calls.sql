CREATE TABLE t (id INT PRIMARY KEY, v SMALLINT);
CREATE TABLE found (id INT NOT NULL PRIMARY KEY);
-- The warnings of a procedure's last statement are those of its CALL, also where it gives values back.
CREATE PROCEDURE nothing(INOUT n INT) BEGIN SELECT id INTO n FROM found WHERE id = n; END;
CREATE PROCEDURE tells(INOUT n INT) BEGIN DECLARE EXIT HANDLER FOR NOT FOUND SET n = n + 1; CALL nothing(n); END;
CREATE PROCEDURE says() BEGIN DECLARE n, done INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; CALL nothing(n); SELECT n, done; END;
CALL says();
SET @n = 5;
CALL tells(@n);
SELECT @n;
CALL nothing(@n);
SHOW WARNINGS;
SET sql_mode = '';
CREATE PROCEDURE clips(OUT c INT) BEGIN INSERT INTO t VALUES (1, 40000); GET DIAGNOSTICS c = ROW_COUNT; END;
CREATE PROCEDURE clipped() BEGIN DECLARE c INT; DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'handled', c; CALL clips(c); END;
CALL clipped();
-- Any of several warnings finds a handler; notes find those of their numbers and SQLSTATEs only.
CREATE PROCEDURE first_one() BEGIN DECLARE EXIT HANDLER FOR 1264 SELECT 'out of range'; INSERT INTO t VALUES (2, 40000), (3, 'abc'); SELECT 'not handled'; END;
CALL first_one();
CREATE PROCEDURE second() BEGIN DECLARE EXIT HANDLER FOR 1366 SELECT 'no number'; INSERT INTO t VALUES (4, 40000), (5, 'abc'); SELECT 'not handled'; END;
CALL second();
CREATE PROCEDURE any_warning() BEGIN DECLARE EXIT HANDLER FOR SQLWARNING SELECT 'warned'; DROP TABLE IF EXISTS nowhere; SELECT COUNT(*) FROM found; END;
CALL any_warning();
CREATE PROCEDURE by_number() BEGIN DECLARE EXIT HANDLER FOR 1051 SHOW WARNINGS; DROP TABLE IF EXISTS nowhere; SELECT 'not handled'; END;
CALL by_number();
CREATE PROCEDURE by_state() BEGIN DECLARE EXIT HANDLER FOR SQLSTATE '42S02' SELECT 'noted'; DROP TABLE IF EXISTS nowhere; SELECT 'not handled'; END;
CALL by_state();
CREATE PROCEDURE any_error() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 'failed'; DROP TABLE IF EXISTS nowhere; SELECT COUNT(*) FROM found; END;
CALL any_error();
CREATE PROCEDURE prepared() BEGIN DECLARE EXIT HANDLER FOR 1050 SELECT 'noted'; EXECUTE s; SELECT 'not handled'; END;
PREPARE s FROM 'CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY)';
CALL prepared();
-- What a statement before the CALL told.
-- only: mysql
CREATE PROCEDURE silent() BEGIN END;
-- only: mysql
CREATE PROCEDURE shows() SHOW WARNINGS;
-- only: mysql
DROP TABLE nowhere;
-- only: mysql
CALL silent();
-- only: mysql
SHOW WARNINGS;
-- only: mysql
DROP TABLE nowhere;
-- only: mysql
CALL shows();
