-- What assigning the arguments of a CALL warns of is told by the CALL, before what its last statement warns of.
CREATE TABLE ca (id INT PRIMARY KEY, v TINYINT);
INSERT INTO ca VALUES (1, 1), (2, 2), (3, 3), (4, 4);
SET sql_mode = '';
-- skip-prepared
CREATE PROCEDURE ca_n(IN a CHAR(3)) SET @n = 1;
-- skip-prepared
CREATE PROCEDURE ca_s(IN a CHAR(3)) SELECT a;
-- skip-prepared
CREATE PROCEDURE ca_t(IN a TINYINT) SELECT v FROM ca WHERE id = 1;
-- skip-prepared
CREATE PROCEDURE ca_u(IN a TINYINT) UPDATE ca SET v = 2 WHERE id > 1;
-- skip-prepared
CREATE PROCEDURE ca_i(IN a TINYINT) BEGIN IF a > 1 THEN SET @n = 2; END IF; END;
-- skip-prepared
CREATE PROCEDURE ca_two(IN a TINYINT, IN b CHAR(2)) BEGIN SET @n = 1; END;
-- skip-prepared
CREATE PROCEDURE ca_four(IN a TINYINT) BEGIN DECLARE x TINYINT; SET x = 'abc'; SET @n = 1; END;
-- skip-prepared
CREATE PROCEDURE ca_io(INOUT a TINYINT) BEGIN SET @n = 1; END;
-- skip-prepared
CREATE PROCEDURE ca_h(IN a TINYINT) BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'handled'; SELECT 1; END;
-- skip-prepared
CREATE PROCEDURE ca_c() BEGIN CALL ca_n('abcdef'); END;
-- skip-prepared
CREATE PROCEDURE ca_c2() BEGIN CALL ca_n('abcdef'); SELECT 1; END;
-- skip-prepared
CREATE PROCEDURE ca_ch() BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'h'; CALL ca_n('abcdef'); SELECT 2; END;
-- skip-prepared
CREATE PROCEDURE ca_sel(IN a CHAR(3)) BEGIN SELECT CAST('x' AS SIGNED); END;
-- skip-prepared
CREATE PROCEDURE ca_sel2(IN a CHAR(3)) BEGIN SELECT CAST('x' AS SIGNED); SET @n = 3; END;
-- skip-prepared
CREATE PROCEDURE ca_sig(IN a CHAR(3)) BEGIN SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'mine'; END;
-- skip-prepared
CREATE PROCEDURE ca_out(IN a CHAR(3), OUT b TINYINT) BEGIN SET b = 3; END;
-- skip-prepared
CREATE PROCEDURE ca_def(IN a CHAR(3)) BEGIN DECLARE x TINYINT DEFAULT 1000; END;
CALL ca_n('abcdef');
CALL ca_s('abcdef');
CALL ca_t(1000);
CALL ca_u(1000);
CALL ca_i(1000);
CALL ca_two(1000, 'abc');
CALL ca_four(1000);
SET @i = 1000;
CALL ca_io(@i);
CALL ca_h(1000);
CALL ca_c();
CALL ca_c2();
CALL ca_ch();
CALL ca_sel('abcdef');
CALL ca_sel2('abcdef');
CALL ca_sig('abcdef');
CALL ca_out('abcdef', @b);
CALL ca_def('abcdef');
CALL ca_n((SELECT 'abcdef'));
CALL ca_n((SELECT CONCAT(MAX(id), 'abcdef') FROM ca));
CALL ca_n(CONCAT(CAST('x' AS SIGNED), 'abc'));
SELECT CAST('y' AS SIGNED);
CALL ca_n('abc');
CALL ca_n('abcdef');
SET sql_mode = 'STRICT_TRANS_TABLES';
CALL ca_n('abcdef');
CALL ca_t(1000);
SET sql_mode = DEFAULT;
-- skip-prepared
DROP PROCEDURE ca_n;
-- skip-prepared
DROP PROCEDURE ca_s;
-- skip-prepared
DROP PROCEDURE ca_t;
-- skip-prepared
DROP PROCEDURE ca_u;
-- skip-prepared
DROP PROCEDURE ca_i;
-- skip-prepared
DROP PROCEDURE ca_two;
-- skip-prepared
DROP PROCEDURE ca_four;
-- skip-prepared
DROP PROCEDURE ca_io;
-- skip-prepared
DROP PROCEDURE ca_h;
-- skip-prepared
DROP PROCEDURE ca_c;
-- skip-prepared
DROP PROCEDURE ca_c2;
-- skip-prepared
DROP PROCEDURE ca_ch;
-- skip-prepared
DROP PROCEDURE ca_sel;
-- skip-prepared
DROP PROCEDURE ca_sel2;
-- skip-prepared
DROP PROCEDURE ca_sig;
-- skip-prepared
DROP PROCEDURE ca_out;
-- skip-prepared
DROP PROCEDURE ca_def;
DROP TABLE ca;
