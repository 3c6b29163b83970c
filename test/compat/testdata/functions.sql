CREATE TABLE t (id INT PRIMARY KEY, g INT, v VARCHAR(20), d DECIMAL(10,2));
INSERT INTO t VALUES (1, 1, 'a', 1.50), (2, 1, 'b', 2.25), (3, 2, 'C', 3.00), (4, 2, NULL, NULL), (5, 3, 'e', -1.10);
-- skip-prepared
CREATE FUNCTION plus(a INT, b INT) RETURNS INT DETERMINISTIC RETURN a + b;
-- skip-prepared
CREATE FUNCTION plus(a INT, b INT) RETURNS INT DETERMINISTIC RETURN a - b;
-- skip-prepared
CREATE FUNCTION IF NOT EXISTS plus(a INT, b INT) RETURNS INT DETERMINISTIC RETURN a - b;
SELECT plus(1, 2), PLUS(3, 4), compat.plus(5, 6);
SELECT id, plus(id, g) FROM t ORDER BY id;
SELECT id, plus(id, g) FROM t WHERE id = 3;
SELECT id FROM t WHERE plus(id, g) > 4 ORDER BY plus(id, g) DESC;
SELECT plus(g, 1), COUNT(*), SUM(d) FROM t GROUP BY plus(g, 1) ORDER BY 1;
SELECT SUM(plus(id, 10)), MAX(plus(g, 0)) FROM t;
SELECT DISTINCT plus(g, g) FROM t ORDER BY 1;
SELECT a.id, b.id FROM t a JOIN t b ON b.id = plus(a.id, 1) ORDER BY 1;
SELECT id FROM t WHERE id IN (SELECT plus(id, 1) FROM t) ORDER BY id;
SELECT id, SUM(plus(id, 0)) OVER (ORDER BY id) FROM t ORDER BY id;
UPDATE t SET g = plus(g, 10) WHERE id = 1;
UPDATE t SET g = plus(g, 10) WHERE plus(id, 0) > 3;
SELECT * FROM t ORDER BY id;
INSERT INTO t VALUES (plus(5, 1), plus(1, 1), 'f', 0);
INSERT INTO t VALUES (7, plus(1, 1), 'g', 0), (8, plus(2, 2), 'h', 0);
INSERT INTO t SELECT plus(id, 100), g, v, d FROM t WHERE id < 3;
DELETE FROM t WHERE id = plus(3, 4);
SELECT * FROM t ORDER BY id;
SET @x = plus(20, 2);
SELECT @x;
DO plus(1, 1);
-- skip-prepared
CREATE FUNCTION classify(x INT) RETURNS VARCHAR(10) DETERMINISTIC BEGIN DECLARE r VARCHAR(10) DEFAULT 'none'; IF x IS NULL THEN RETURN NULL; ELSEIF x < 2 THEN SET r = 'low'; ELSE CASE x WHEN 2 THEN SET r = 'two'; ELSE SET r = CONCAT('n', x); END CASE; END IF; RETURN r; END;
SELECT id, classify(id), classify(g) FROM t ORDER BY id;
SELECT classify(g) c, COUNT(*) FROM t GROUP BY c ORDER BY c;
SELECT MIN(classify(id)), MAX(classify(id)) FROM t;
SELECT id FROM t ORDER BY classify(id), id;
-- skip-prepared
CREATE FUNCTION fact(n INT) RETURNS BIGINT DETERMINISTIC BEGIN DECLARE r BIGINT DEFAULT 1; l: WHILE n > 1 DO SET r = r * n, n = n - 1; IF r > 1000 THEN LEAVE l; END IF; END WHILE l; RETURN r; END;
SELECT id, fact(id) FROM t WHERE id < 9 ORDER BY id;
-- skip-prepared
CREATE FUNCTION twice(n INT) RETURNS BIGINT DETERMINISTIC RETURN plus(n, n) + fact(3);
SELECT twice(4), twice(id) FROM t ORDER BY id;
-- skip-prepared
CREATE FUNCTION must(n INT) RETURNS INT DETERMINISTIC BEGIN IF n > 5 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too many', MYSQL_ERRNO = 4711; END IF; RETURN n; END;
SELECT must(3);
SELECT must(9);
SELECT must(id) FROM t WHERE id < 3 ORDER BY id;
UPDATE t SET g = must(id);
SELECT * FROM t ORDER BY id;
CREATE VIEW w AS SELECT id, plus(id, 1) AS n FROM t;
SELECT * FROM w ORDER BY id;
SELECT * FROM w WHERE n = 3;
-- refused: it writes
-- skip-prepared
CREATE FUNCTION writes() RETURNS INT BEGIN INSERT INTO t VALUES (1, 1, 1, 1); RETURN 1; END;
-- refused: the session's state
-- skip-prepared
CREATE FUNCTION counter() RETURNS INT NO SQL BEGIN SET @n = @n + 1; RETURN @n; END;
-- refused: the session's state
-- skip-prepared
CREATE FUNCTION who() RETURNS VARCHAR(100) NO SQL RETURN USER();
-- skip-prepared
CREATE FUNCTION bad(a INT) RETURNS INT DETERMINISTIC RETURN a +;
-- refused: no variable of the function
-- skip-prepared
CREATE FUNCTION bad(a INT) RETURNS INT DETERMINISTIC BEGIN SET b = 1; END;
-- skip-prepared
CREATE FUNCTION nothere.plus(a INT) RETURNS INT DETERMINISTIC RETURN a;
SELECT nothere(1);
SELECT plus(1);
SELECT routine_name, routine_type, data_type, is_deterministic, routine_definition FROM information_schema.routines WHERE routine_schema = 'compat' ORDER BY 1;
SELECT specific_name, ordinal_position, parameter_name, data_type FROM information_schema.parameters WHERE specific_schema = 'compat' ORDER BY 1, 2;
-- skip-prepared
ALTER FUNCTION plus COMMENT 'adds';
SELECT routine_comment FROM information_schema.routines WHERE routine_schema = 'compat' AND routine_name = 'plus';
-- skip-prepared
ALTER FUNCTION nothing COMMENT 'x';
SELECT plus(2, 2);
-- only: mariadb
-- skip-prepared
CREATE OR REPLACE FUNCTION plus(a INT, b INT) RETURNS INT DETERMINISTIC RETURN a + b + 100;
-- only: mariadb
SELECT plus(2, 2), id, plus(id, 0) FROM t WHERE id < 3 ORDER BY id;
-- skip-prepared
DROP FUNCTION twice;
-- skip-prepared
DROP FUNCTION twice;
-- skip-prepared
DROP FUNCTION IF EXISTS twice;
SELECT twice(1);
-- skip-prepared
CREATE FUNCTION rnd() RETURNS DOUBLE NOT DETERMINISTIC NO SQL RETURN RAND() * 0;
SELECT COUNT(*) FROM t WHERE rnd() = 0;
-- skip-prepared
CREATE FUNCTION today() RETURNS INT NOT DETERMINISTIC NO SQL RETURN NOW() IS NOT NULL;
SELECT id, today() FROM t WHERE id < 3 ORDER BY id;
-- skip-prepared
CREATE FUNCTION `odd name`(`a b` INT) RETURNS INT DETERMINISTIC RETURN `a b` * 2;
SELECT `odd name`(id) FROM t WHERE id < 3 ORDER BY 1;
-- The version of the servers is no setting.
-- skip-prepared
CREATE FUNCTION is_maria() RETURNS BOOL DETERMINISTIC READS SQL DATA BEGIN DECLARE is_it BOOL; DECLARE major VARCHAR(16); SELECT LOCATE('MariaDB', @@version) > 0 INTO is_it; SELECT SUBSTRING_INDEX(@@GLOBAL.VERSION, '.', 1) INTO major; RETURN is_it AND major > 9; END;
SELECT is_maria() = (VERSION() LIKE '%MariaDB%');
SELECT COUNT(*) FROM t WHERE is_maria() = (@@version LIKE '%MariaDB%');
-- refused: sessions set it
-- skip-prepared
CREATE FUNCTION mode() RETURNS VARCHAR(255) DETERMINISTIC RETURN CONCAT(@@version, @@sql_mode);
