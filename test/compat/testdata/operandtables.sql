-- What MariaDB prepares, or takes for parameters, is computed without tables and stored functions.
-- story: mariadb
CREATE TABLE opt (id INT PRIMARY KEY, v VARCHAR(40));
INSERT INTO opt VALUES (1, 'SELECT 1'), (2, 'two'), (3, 'three');
-- skip-prepared
CREATE FUNCTION op_plain(n INT) RETURNS INT DETERMINISTIC RETURN n + 1;
-- skip-prepared
CREATE FUNCTION op_reads() RETURNS INT READS SQL DATA RETURN (SELECT MAX(id) FROM opt);
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT ?' USING op_reads();
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT ?, ?' USING 1, op_plain(1);
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT ?' USING compat.op_plain(1);
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT ?' USING no_such_function(1);
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT ?' USING (SELECT MAX(id) FROM opt);
EXECUTE IMMEDIATE 'SELECT ?' USING ABS(17);
-- skip-prepared
EXECUTE IMMEDIATE (SELECT v FROM opt WHERE id = 1);
-- skip-prepared
EXECUTE IMMEDIATE CONCAT('SELECT ', op_plain(1));
-- skip-prepared
EXECUTE IMMEDIATE 'SELEC ?' USING op_reads();
-- skip-prepared
PREPARE p FROM CONCAT('SELECT ', op_plain(1));
-- skip-prepared
PREPARE p FROM (SELECT v FROM opt WHERE id = 1);
PREPARE p FROM 'SELECT ?';
-- skip-prepared
EXECUTE p USING op_reads();
-- skip-prepared
EXECUTE nothing USING op_reads();
-- skip-prepared
EXECUTE p USING (SELECT MAX(id) FROM opt);
EXECUTE p USING 7;
-- skip-prepared
CREATE PROCEDURE op_inside() EXECUTE IMMEDIATE 'SELECT ?' USING op_reads();
DROP FUNCTION op_plain;
DROP FUNCTION op_reads;
DROP TABLE opt;
