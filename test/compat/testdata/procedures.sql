CREATE TABLE t (id INT PRIMARY KEY, g INT, v VARCHAR(20), d DECIMAL(10,2));
INSERT INTO t VALUES (1, 1, 'a', 1.50), (2, 1, 'b', 2.25), (3, 2, 'C', 3.00), (4, 2, NULL, NULL), (5, 3, 'e', -1.10);
-- skip-prepared
CREATE PROCEDURE nothing() BEGIN END;
CALL nothing();
CALL nothing;
CALL nothing(1);
CALL missing();
-- skip-prepared
CREATE PROCEDURE one(p INT) SELECT * FROM t WHERE id = p;
CALL one(3);
CALL one(1 + 1);
CALL one('4');
CALL compat.one(NULL);
-- skip-prepared
PREPARE st FROM 'CALL one(?)';
SET @p = 2;
-- skip-prepared
EXECUTE st USING @p;
-- skip-prepared
DEALLOCATE PREPARE st;
-- skip-prepared
CREATE PROCEDURE several(lo INT, hi INT) BEGIN SELECT id, v FROM t WHERE id BETWEEN lo AND hi ORDER BY id; SELECT COUNT(*), SUM(d) FROM t WHERE id >= lo; END;
CALL several(2, 4);
-- skip-prepared
CREATE PROCEDURE vals(a INT, b VARCHAR(10), c DECIMAL(8,3), e DATE, f DATETIME, g DOUBLE, h BIGINT UNSIGNED) SELECT a, b, c, e, f, g, h, a + 1 AS n, CONCAT(b, '!'), a * 2;
CALL vals(1, 'x', 1.5, '2026-01-31', '2026-01-31 10:20:30', 1.25, 18446744073709551615);
CALL vals(NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CALL vals('abc', 'x', 1.5, '2026-01-31', '2026-01-31 10:20:30', 1.25, 1);
CALL vals(1, 'longer than ten', 1.5, '2026-01-31', '2026-01-31 10:20:30', 1.25, 1);
-- skip-prepared
CREATE PROCEDURE outs(IN a INT, OUT b INT, INOUT c VARCHAR(20)) BEGIN SET b = a * 2; SET c = CONCAT(c, '-', a); END;
SET @b = 7, @c = 'start';
CALL outs(5, @b, @c);
SELECT @b, @c;
CALL outs(5, 6, @c);
-- skip-prepared
CREATE PROCEDURE pages(x INT, y INT) BEGIN SELECT id FROM t ORDER BY id LIMIT x OFFSET y; SELECT id FROM t WHERE g > 0 ORDER BY id LIMIT y, x; END;
CALL pages(2, 1);
CALL pages(NULL, 1);
CALL pages(2, NULL);
CALL pages(-1, 2);
CALL pages(2, -1);
-- skip-prepared
CREATE PROCEDURE first_rows(x INT) UPDATE t SET g = g + 1 ORDER BY id LIMIT x;
CALL first_rows(NULL);
CALL first_rows(2);
CALL first_rows(-1);
SELECT * FROM t ORDER BY id;
-- skip-prepared
CREATE PROCEDURE nulls(OUT a BIGINT, OUT b DECIMAL(8,2), OUT c VARCHAR(10), OUT d DATE, OUT e DOUBLE, OUT f INT UNSIGNED, OUT g VARBINARY(6), INOUT h TINYINT) BEGIN END;
SET @h = NULL;
CALL nulls(@a, @b, @c, @d, @e, @f, @g, @h);
SELECT @a, @b, @c, @d, @e, @f, @g, @h;
-- skip-prepared
CREATE PROCEDURE counts(OUT n INT, OUT m DECIMAL(10,2)) BEGIN SELECT COUNT(*), MAX(d) INTO n, m FROM t; END;
CALL counts(@n, @m);
SELECT @n, @m;
-- skip-prepared
CREATE PROCEDURE fill(n INT) BEGIN DECLARE i INT DEFAULT 0; WHILE i < n DO SET i = i + 1; INSERT INTO t (id, g, v) VALUES (100 + i, i % 3, CONCAT('f', i)); END WHILE; END;
CALL fill(7);
SELECT * FROM t WHERE id > 100 ORDER BY id;
-- skip-prepared
CREATE PROCEDURE branch(x INT) BEGIN IF x < 0 THEN SELECT 'negative'; ELSEIF x = 0 THEN SELECT 'zero'; ELSE CASE x WHEN 1 THEN SELECT 'one'; WHEN 2 THEN SELECT 'two'; ELSE BEGIN DECLARE y INT DEFAULT x * x; SELECT y; END; END CASE; END IF; END;
CALL branch(-3);
CALL branch(0);
CALL branch(2);
CALL branch(9);
CALL branch(NULL);
-- skip-prepared
CREATE PROCEDURE nocase(x INT) CASE WHEN x = 1 THEN SELECT 1; WHEN x = 2 THEN SELECT 2; END CASE;
CALL nocase(2);
CALL nocase(3);
-- skip-prepared
CREATE PROCEDURE loops() BEGIN DECLARE i INT DEFAULT 0; DECLARE s VARCHAR(100) DEFAULT ''; a: LOOP SET i = i + 1; IF i = 3 THEN ITERATE a; END IF; IF i > 6 THEN LEAVE a; END IF; SET s = CONCAT(s, i); END LOOP a; REPEAT SET s = CONCAT(s, '.'), i = i - 2; UNTIL i <= 0 END REPEAT; SELECT s, i; END;
CALL loops();
-- skip-prepared
CREATE PROCEDURE cursors() BEGIN DECLARE done INT DEFAULT FALSE; DECLARE a INT; DECLARE b VARCHAR(20); DECLARE s VARCHAR(200) DEFAULT ''; DECLARE c CURSOR FOR SELECT id, v FROM t WHERE id < 100 ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE; OPEN c; r: LOOP FETCH c INTO a, b; IF done THEN LEAVE r; END IF; SET s = CONCAT(s, a, COALESCE(b, '-'), ';'); END LOOP; CLOSE c; SELECT s; END;
CALL cursors();
-- skip-prepared
CREATE PROCEDURE handled() BEGIN DECLARE m VARCHAR(50) DEFAULT 'none'; BEGIN DECLARE EXIT HANDLER FOR 1062 SET m = 'duplicate'; INSERT INTO t (id) VALUES (1); SET m = 'not reached'; END; SELECT m; BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET m = CONCAT(m, '+'); INSERT INTO t (id) VALUES (2); INSERT INTO t (id, g) VALUES (3, 3), (200, 200); SET m = CONCAT(m, 'on'); END; SELECT m; END;
CALL handled();
SELECT COUNT(*) FROM t WHERE id = 200;
-- skip-prepared
CREATE PROCEDURE unhandled() BEGIN INSERT INTO t (id) VALUES (300); INSERT INTO t (id) VALUES (1); INSERT INTO t (id) VALUES (301); END;
CALL unhandled();
SELECT id FROM t WHERE id >= 300 ORDER BY id;
-- skip-prepared
CREATE PROCEDURE signals(x INT) BEGIN DECLARE bad CONDITION FOR SQLSTATE '45001'; DECLARE EXIT HANDLER FOR bad BEGIN GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE, @text = MESSAGE_TEXT; SELECT 'caught', x; END; IF x = 1 THEN SIGNAL bad SET MESSAGE_TEXT = 'first'; END IF; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'second', MYSQL_ERRNO = 4712; END;
CALL signals(1);
SELECT @state, @text;
CALL signals(2);
-- skip-prepared
CREATE PROCEDURE again() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 'cleaning'; RESIGNAL; END; INSERT INTO t (id) VALUES (1); END;
CALL again();
-- skip-prepared
CREATE PROCEDURE diag() BEGIN DECLARE n INT; DECLARE m TEXT; DECLARE s CHAR(5); DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 n = MYSQL_ERRNO, m = MESSAGE_TEXT, s = RETURNED_SQLSTATE; SELECT n, s; END; INSERT INTO nothere VALUES (1); END;
CALL diag();
-- skip-prepared
CREATE PROCEDURE moves(a INT, b INT) BEGIN DECLARE x DECIMAL(10,2); START TRANSACTION; SELECT d INTO x FROM t WHERE id = a FOR UPDATE; UPDATE t SET d = d - x WHERE id = a; UPDATE t SET d = d + x WHERE id = b; IF x > 2 THEN ROLLBACK; ELSE COMMIT; END IF; END;
CALL moves(1, 3);
SELECT id, d FROM t WHERE id < 6 ORDER BY id;
CALL moves(2, 3);
SELECT id, d FROM t WHERE id < 6 ORDER BY id;
BEGIN;
CALL fill(0);
INSERT INTO t (id) VALUES (400);
-- skip-prepared
CREATE PROCEDURE ins(p INT) INSERT INTO t (id, g) VALUES (p, p);
SELECT COUNT(*) FROM t WHERE id = 400;
BEGIN;
CALL ins(401);
ROLLBACK;
SELECT COUNT(*) FROM t WHERE id = 401;
-- skip-prepared
CREATE PROCEDURE inner_(IN a INT, OUT b INT) BEGIN SELECT MAX(id) INTO b FROM t WHERE id < a; END;
-- skip-prepared
CREATE PROCEDURE outer_(IN a INT) BEGIN DECLARE r INT; CALL inner_(a * 10, r); SELECT r, a; CALL inner_(r, r); SELECT r; END;
CALL outer_(10);
-- skip-prepared
CREATE PROCEDURE recurse(n INT) BEGIN IF n > 0 THEN CALL recurse(n - 1); END IF; END;
CALL recurse(0);
CALL recurse(1);
-- skip-prepared
CREATE PROCEDURE names(id INT) BEGIN SELECT COUNT(*) FROM t WHERE t.id = id; SELECT v AS id FROM t WHERE t.id = 1; UPDATE t SET g = id WHERE t.id = 2; INSERT INTO t (id, g) VALUES (id + 500, id); END;
CALL names(2);
SELECT * FROM t WHERE id IN (2, 502) ORDER BY id;
-- skip-prepared
CREATE PROCEDURE uservars() BEGIN SET @k = 5; SET @k = @k + 1; SELECT @k; SET @z = (SELECT MAX(id) FROM t WHERE id < 100); END;
CALL uservars();
SELECT @k, @z;
-- skip-prepared
CREATE PROCEDURE exprs() BEGIN DECLARE x INT DEFAULT (SELECT COUNT(*) FROM t WHERE id < 6); IF EXISTS (SELECT 1 FROM t WHERE id = x) THEN SELECT 'there', x; END IF; SET x = (SELECT MIN(id) FROM t WHERE id > x); SELECT x; END;
CALL exprs();
-- skip-prepared
CREATE PROCEDURE toomany() BEGIN DECLARE x INT; SELECT id INTO x FROM t; END;
CALL toomany();
-- skip-prepared
CREATE PROCEDURE nodata() BEGIN DECLARE x INT DEFAULT 5; SELECT id INTO x FROM t WHERE id = -1; SELECT x; END;
-- sent: warning count, of a handler that continues
-- sent: warnings, the same
CALL nodata();
-- skip-prepared
CREATE PROCEDURE rc() BEGIN UPDATE t SET g = 77 WHERE id < 4; SELECT ROW_COUNT(); END;
CALL rc();
-- skip-prepared
CREATE PROCEDURE lid() BEGIN INSERT INTO ai (v) VALUES (1); SELECT LAST_INSERT_ID() > 0; END;
CREATE TABLE ai (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CALL lid();
-- skip-prepared
CREATE PROCEDURE bad() BEGIN SELECT FROM; END;
-- skip-prepared
CREATE PROCEDURE bad() BEGIN LEAVE nowhere; END;
-- skip-prepared
CREATE PROCEDURE bad() BEGIN DECLARE x INT; DECLARE x INT; END;
-- skip-prepared
CREATE PROCEDURE one() SELECT 1;
-- skip-prepared
CREATE PROCEDURE IF NOT EXISTS one() SELECT 1;
SELECT routine_name, routine_type, routine_definition FROM information_schema.routines WHERE routine_schema = 'compat' AND routine_name IN ('one', 'nothing') ORDER BY 1;
-- skip-prepared
ALTER PROCEDURE one COMMENT 'a row';
SELECT routine_comment FROM information_schema.routines WHERE routine_schema = 'compat' AND routine_name = 'one';
-- skip-prepared
DROP PROCEDURE one;
CALL one(1);
-- skip-prepared
DROP PROCEDURE one;
-- skip-prepared
DROP PROCEDURE IF EXISTS one;
-- skip-prepared
CREATE PROCEDURE warns() BEGIN DECLARE w INT DEFAULT 0; DECLARE x TINYINT; DECLARE CONTINUE HANDLER FOR SQLWARNING SET w = w + 1; SET x = '12abc'; SELECT w; SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'careful'; SELECT w; END;
CALL warns();
-- skip-prepared
CREATE PROCEDURE range_() BEGIN DECLARE x TINYINT DEFAULT 5; DECLARE CONTINUE HANDLER FOR 1264 SELECT 'range', x; SET x = 1000; SELECT x; END;
CALL range_();
-- skip-prepared
CREATE PROCEDURE nested() BEGIN DECLARE s VARCHAR(50) DEFAULT ''; DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT CONCAT(s, 'outer'); BEGIN DECLARE EXIT HANDLER FOR 1062 BEGIN SET s = 'inner,'; SIGNAL SQLSTATE '45000'; END; INSERT INTO t (id) VALUES (1); END; SELECT 'not reached'; END;
CALL nested();
-- skip-prepared
CREATE PROCEDURE two() BEGIN DECLARE a, b INT DEFAULT 3; DECLARE x CURSOR FOR SELECT id FROM t WHERE id < 4 AND id <> b ORDER BY id; DECLARE y CURSOR FOR SELECT g FROM t WHERE id < 3 ORDER BY g, id; OPEN x; OPEN y; FETCH x INTO a; FETCH y INTO b; SELECT a, b; FETCH x INTO a; SELECT a; CLOSE x; FETCH y INTO b; SELECT b; FETCH y INTO b; END;
CALL two();
-- skip-prepared
CREATE PROCEDURE twice_open() BEGIN DECLARE c CURSOR FOR SELECT 1; OPEN c; OPEN c; END;
CALL twice_open();
-- skip-prepared
CREATE PROCEDURE ddl() BEGIN CREATE TABLE made (id INT PRIMARY KEY, v INT); INSERT INTO made VALUES (1, 2), (3, 4); SELECT SUM(v) FROM made; DROP TABLE made; END;
CALL ddl();
-- skip-prepared
CREATE PROCEDURE joins(k INT) BEGIN SELECT a.id, b.v FROM t a JOIN t b ON b.id = a.id + 1 WHERE a.id < k AND b.id IN (SELECT id FROM t WHERE id <= k) ORDER BY a.id; WITH w AS (SELECT id, g FROM t WHERE id < k) SELECT COUNT(*), MAX(w.id) FROM w; END;
CALL joins(4);
-- skip-prepared
CREATE PROCEDURE dates(d DATE, dt DATETIME, n DECIMAL(6,2)) BEGIN DECLARE next DATE; SET next = d + INTERVAL 1 DAY; SELECT next, dt < next, n / 3, YEAR(d); SELECT COUNT(*) FROM t WHERE d > 0 OR next IS NULL; END;
CALL dates('2026-02-28', '2026-03-01 12:00:00', 10);
-- skip-prepared
CREATE PROCEDURE quotes(s VARCHAR(50)) BEGIN INSERT INTO t (id, v) VALUES (900, s) ON DUPLICATE KEY UPDATE v = s; SELECT v, LENGTH(s), s = v FROM t WHERE id = 900; END;
CALL quotes('it''s \\ "x" ä');
CALL quotes(NULL);
-- skip-prepared
CREATE PROCEDURE hides() BEGIN DECLARE x INT DEFAULT 1; BEGIN DECLARE x INT DEFAULT 2; SELECT x; END; SELECT x; END;
-- refused: a variable that hides another
CALL hides();
-- only: mariadb
-- skip-prepared
CREATE PROCEDURE loops2(a INT, b INT) BEGIN DECLARE s VARCHAR(100) DEFAULT ''; FOR i IN a .. b + 1 DO SET s = CONCAT(s, i, ','); END FOR; outer_loop: FOR i IN REVERSE 1..3 DO FOR j IN 1..3 DO IF j = 2 THEN ITERATE outer_loop; END IF; SET s = CONCAT(s, i, '-', j, ';'); END FOR; IF i = 2 THEN LEAVE outer_loop; END IF; END FOR; SELECT s; END;
-- only: mariadb
CALL loops2(1, 3);
-- only: mariadb
CALL loops2(3, 1);
-- only: mariadb
CALL loops2(NULL, 1);
-- only: mariadb
-- refused: loops over rows
-- skip-prepared
CREATE PROCEDURE loops3() FOR r IN (SELECT * FROM t) DO SELECT r.id; END FOR;
-- only: mariadb
-- skip-prepared
CREATE PROCEDURE cursors(x INT) BEGIN DECLARE n, done INT DEFAULT 0; DECLARE s VARCHAR(100) DEFAULT ''; DECLARE w TYPE OF t.v; DECLARE y TYPE OF x; DECLARE c CURSOR(lowest INT, most INT) FOR SELECT id, v FROM t WHERE id >= lowest ORDER BY id LIMIT most; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; SET y = '7'; OPEN c(x, 1 + 1); WHILE NOT done DO FETCH c INTO n, w; IF NOT done THEN SET s = CONCAT(s, n, COALESCE(w, '?'), ';'); END IF; END WHILE; CLOSE c; SET done = 0; OPEN c(x + 1, 1); FETCH c INTO n, w; SELECT s, n, w, y; END;
-- only: mariadb
CALL cursors(1);
-- only: mariadb
CALL cursors(2);
-- only: mariadb
-- skip-prepared
BEGIN NOT ATOMIC DECLARE n INT DEFAULT 5; INSERT INTO t (id, g, v) VALUES (500, n, 'compound'); SET @compound = n + 1; END;
-- only: mariadb
-- skip-prepared
BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR 1062 SET @compound = -1; INSERT INTO t (id, g, v) VALUES (500, 1, 'again'); END;
-- only: mariadb
-- skip-prepared
BEGIN NOT ATOMIC INSERT INTO t (id, g, v) VALUES (501, 1, 'x'); INSERT INTO t (id, g, v) VALUES (500, 1, 'again'); END;
-- only: mariadb
SELECT @compound, COUNT(*) FROM t WHERE id >= 500;
-- only: mariadb
DELETE FROM t WHERE id >= 500;
-- skip-prepared
CREATE PROCEDURE resignal1() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL SET MESSAGE_TEXT = 'told otherwise'; INSERT INTO t (id) VALUES (1); END;
CALL resignal1();
-- skip-prepared
CREATE PROCEDURE resignal2() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL SQLSTATE '45001'; INSERT INTO t (id) VALUES (1); END;
CALL resignal2();
-- skip-prepared
CREATE PROCEDURE resignal3() BEGIN DECLARE mine CONDITION FOR SQLSTATE '45002'; DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL mine SET MESSAGE_TEXT = 'mine', MYSQL_ERRNO = 4242; SIGNAL SQLSTATE '42000' SET MESSAGE_TEXT = 'it''s first'; END;
CALL resignal3();
-- skip-prepared
CREATE PROCEDURE resignal4() BEGIN DECLARE EXIT HANDLER FOR 4242 SELECT 'caught'; CALL resignal3(); END;
CALL resignal4();
-- skip-prepared
CREATE PROCEDURE resignal5(m VARCHAR(50)) BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SET m = CONCAT(m, '!'); RESIGNAL SET MYSQL_ERRNO = 1111, MESSAGE_TEXT = m; END; SELECT 1 FROM nothing; END;
CALL resignal5('why');
-- skip-prepared
SET max_sp_recursion_depth = 3;
CALL recurse(3);
CALL recurse(4);
-- skip-prepared
CREATE PROCEDURE faculty(n INT, OUT f BIGINT) BEGIN DECLARE below BIGINT DEFAULT 1; IF n > 1 THEN CALL faculty(n - 1, below); END IF; SET f = n * below; END;
CALL faculty(4, @f);
SELECT @f;
-- skip-prepared
SET max_sp_recursion_depth = DEFAULT;
-- skip-prepared
CREATE PROCEDURE dynamic(name VARCHAR(20), k INT) BEGIN SET @sql = CONCAT('SELECT COUNT(*), MAX(id) FROM ', name, ' WHERE id < ?'), @k = k; PREPARE s FROM @sql; EXECUTE s USING @k; DEALLOCATE PREPARE s; END;
CALL dynamic('t', 4);
CALL dynamic('nothing', 4);
-- only: mariadb
-- skip-prepared
CREATE PROCEDURE immediate_(k INT) BEGIN EXECUTE IMMEDIATE CONCAT('SELECT v FROM t WHERE id = ', k); END;
-- only: mariadb
CALL immediate_(2);
-- skip-prepared
CREATE PROCEDURE loops3() BEGIN DECLARE i INT DEFAULT 0; o: LOOP SET i = i + 1; IF i = 2 THEN ITERATE o; END IF; w: WHILE TRUE DO SET i = i + 1; IF i > 5 THEN LEAVE o; END IF; IF i MOD 2 THEN ITERATE w; END IF; LEAVE w; END WHILE w; END LOOP o; SELECT i; REPEAT SET i = i - 1; UNTIL i < 3 END REPEAT; SELECT i; END;
CALL loops3();
-- skip-prepared
CREATE PROCEDURE diag() BEGIN DECLARE st CHAR(5); DECLARE no INT; DECLARE msg TEXT; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 st = RETURNED_SQLSTATE, no = MYSQL_ERRNO, msg = MESSAGE_TEXT; SELECT st, no, msg; END; INSERT INTO t (id) VALUES (1); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'own'; END;
CALL diag();
-- only: mariadb
-- skip-prepared
CREATE PROCEDURE immediate2(q VARCHAR(100), k INT) BEGIN EXECUTE IMMEDIATE q; PREPARE s FROM q; EXECUTE s; SET q = 'SELECT COUNT(*) FROM t WHERE id < ?'; EXECUTE IMMEDIATE q USING k; DEALLOCATE PREPARE s; END;
-- only: mariadb
CALL immediate2('SELECT id, v FROM t WHERE id < 3 ORDER BY id', 3);

-- A procedure's strings are in the character set of its CREATE.
-- skip-prepared
CREATE PROCEDURE own_charset() SELECT HEX('ü');
CALL own_charset();
SET collation_connection = latin1_swedish_ci;
CALL own_charset();
SET NAMES utf8mb4;

-- So it is for clients of other character sets: what they read is in theirs.
CREATE TABLE spoken (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET utf8mb4);
INSERT INTO spoken VALUES (1, 'grün'), (2, 'blå'), (3, 'ж😀');
-- skip-prepared
CREATE PROCEDURE speaks(IN x VARCHAR(20), OUT y VARCHAR(20) CHARACTER SET utf8mb4) BEGIN DECLARE z VARCHAR(20) CHARACTER SET utf8mb4; SELECT v INTO z FROM spoken WHERE id = 3; SELECT v, z, x FROM spoken ORDER BY id; SET y = CONCAT(z, 'ü'); INSERT INTO spoken VALUES (4, z), (5, 'ö'), (6, x); SELECT CHARSET(x), COLLATION('a'); END;
SET NAMES latin1;
CALL speaks('abc', @y);
SELECT HEX(@y), CHARSET(@y), @y;
SELECT id, v, HEX(v) FROM spoken ORDER BY id;
DELETE FROM spoken WHERE id > 3;
SET NAMES utf8mb3;
CALL speaks('blå', @y);
SELECT HEX(@y), CHARSET(@y), @y;
SELECT id, v, HEX(v) FROM spoken ORDER BY id;
DELETE FROM spoken WHERE id > 3;
SET character_set_results = NULL;
CALL speaks('blå', @y);
SELECT @@character_set_results, @@character_set_client;
SET NAMES latin1;
-- refused: the argument would be other characters
CALL speaks('blå', @y);
SET NAMES utf8mb4;
SELECT COUNT(*) FROM spoken;
-- skip-prepared
CREATE PROCEDURE renames() BEGIN SET NAMES utf8mb4; SELECT @@character_set_client; END;
CALL renames();
SET NAMES latin1;
-- refused: character sets of the session
CALL renames();
SET NAMES utf8mb4;

-- A column that is a variable is of the variable's type, and may be NULL.
-- skip-prepared
CREATE PROCEDURE shown(i INT, s VARCHAR(5), n DECIMAL(10,2), at DATETIME) BEGIN DECLARE v BIGINT UNSIGNED DEFAULT 3; DECLARE c VARCHAR(10) CHARACTER SET latin1; SELECT v, id FROM t WHERE id = 1; SELECT i, s, c, n, at, id FROM t WHERE id = 2; SELECT v AS x, COUNT(*) FROM t; SELECT t.id, s FROM t ORDER BY t.id LIMIT 2; END;
-- only: mariadb
CALL shown(1, 'ab', 1.5, '2024-01-02 03:04:05');
-- only: mariadb
CALL shown(NULL, NULL, NULL, NULL);

-- A program that is made has no warnings of the look whether it is there.
SELECT COUNT(*) FROM information_schema.routines WHERE routine_name = 'unwarned';
-- skip-prepared
CREATE PROCEDURE unwarned() SELECT 1;
SHOW WARNINGS;
-- skip-prepared
DROP PROCEDURE unwarned;
-- A string that reads like a variable is a string.
-- skip-prepared
CREATE PROCEDURE lit(total INT) SELECT 'total', id, total FROM t WHERE id < total;
-- only: mariadb
CALL lit(2);
-- What ROW_COUNT() is behind a CALL.
CREATE TABLE counted (id INT PRIMARY KEY, a INT);
CREATE PROCEDURE counts3() BEGIN INSERT INTO counted VALUES (1, 1); INSERT INTO counted VALUES (2, 1), (3, 1); END;
CREATE PROCEDURE counts_none() SELECT 1;
CREATE PROCEDURE counts_shown() BEGIN UPDATE counted SET a = a + 1; SELECT 1; END;
CREATE PROCEDURE counts_inside() BEGIN UPDATE counted SET a = a + 2 WHERE id = 1; CALL counts_shown(); SELECT ROW_COUNT(), 'a'; END;
CREATE PROCEDURE counts_none_inside() BEGIN UPDATE counted SET a = a + 3; CALL counts_none(); SELECT ROW_COUNT(), 'a'; END;
CREATE PROCEDURE counts_handled() BEGIN DECLARE CONTINUE HANDLER FOR 1062 BEGIN END; UPDATE counted SET a = a + 4; INSERT INTO counted VALUES (1, 1); END;
CREATE PROCEDURE counts_into() BEGIN DECLARE x INT; UPDATE counted SET a = a + 5; SELECT 7 INTO x; END;
CREATE PROCEDURE counts_done() BEGIN UPDATE counted SET a = a + 6; DO 1; END;
CALL counts3();
SELECT ROW_COUNT();
CALL counts_none();
SELECT ROW_COUNT();
CALL counts_shown();
SELECT ROW_COUNT();
CALL counts_inside();
SELECT ROW_COUNT();
CALL counts_none_inside();
CALL counts_handled();
SELECT ROW_COUNT();
CALL counts_into();
SELECT ROW_COUNT();
CALL counts_done();
SELECT ROW_COUNT();
-- only: mariadb
BEGIN NOT ATOMIC UPDATE counted SET a = 6; DELETE FROM counted WHERE id = 3; END;
-- only: mariadb
SELECT ROW_COUNT();

-- The name of a variable is a column's outside of its block, also in handlers of blocks around it.
CREATE TABLE sc (id INT PRIMARY KEY, inner_one INT, i INT);
INSERT INTO sc VALUES (1, 5, 50), (2, 6, 60);
CREATE PROCEDURE scope1() BEGIN BEGIN DECLARE inner_one INT DEFAULT 10; SELECT inner_one, id FROM sc WHERE id = 1; END; SELECT inner_one, id FROM sc ORDER BY id; UPDATE sc SET inner_one = inner_one + 1; END;
CALL scope1();
SELECT * FROM sc ORDER BY id;
CREATE PROCEDURE scope2() BEGIN DECLARE n INT DEFAULT 0; BEGIN SELECT MAX(inner_one) INTO n FROM sc; END; BEGIN DECLARE inner_one INT DEFAULT n * 2; SET n = (SELECT COUNT(*) FROM sc WHERE inner_one > 5); END; SELECT n, SUM(inner_one) FROM sc; END;
CALL scope2();
CREATE PROCEDURE scope3() BEGIN DECLARE n INT DEFAULT 1; BEGIN DECLARE inner_one INT DEFAULT 10; SET n = n + 1; END; SELECT inner_one; END;
CALL scope3();
CREATE PROCEDURE scope4() BEGIN DECLARE n INT DEFAULT 1; BEGIN DECLARE inner_one INT DEFAULT 10; SET n = n + 1; END; SET n = inner_one; SELECT n; END;
CALL scope4();
CREATE PROCEDURE scope5() BEGIN DECLARE n INT DEFAULT 1; BEGIN DECLARE inner_one INT DEFAULT 10; SET n = n + 1; END; IF inner_one > 3 THEN SELECT n; END IF; END;
CALL scope5();
CREATE PROCEDURE scope6() BEGIN DECLARE EXIT HANDLER FOR 1062 SELECT inner_one, 'handled' FROM sc WHERE id = 1; BEGIN DECLARE inner_one INT DEFAULT 10; INSERT INTO sc VALUES (1, 1, 1); END; END;
CALL scope6();
CREATE PROCEDURE scope7() BEGIN DECLARE n INT DEFAULT 1; DECLARE m INT DEFAULT n + 1; BEGIN DECLARE inner_one, k INT DEFAULT m; DECLARE j INT DEFAULT inner_one + k; SELECT n, m, inner_one, k, j; END; END;
CALL scope7();
-- only: mariadb
CREATE PROCEDURE scope8() BEGIN FOR i IN 1..2 DO SELECT id FROM sc WHERE id = i; END FOR; SELECT i, id FROM sc ORDER BY id; END;
-- only: mariadb
CALL scope8();
-- only: mariadb
CREATE PROCEDURE scope9() BEGIN DECLARE a, b INT; DECLARE c CURSOR (i INT) FOR SELECT id, inner_one FROM sc WHERE id = i; BEGIN OPEN c(2); FETCH c INTO a, b; CLOSE c; END; UPDATE sc SET inner_one = i WHERE id = 1; END;
-- only: mariadb
CALL scope9();
CREATE TRIGGER sct BEFORE UPDATE ON sc FOR EACH ROW BEGIN DECLARE d INT DEFAULT NEW.id; BEGIN DECLARE e INT DEFAULT d + 1; SET NEW.i = e; END; SET NEW.i = NEW.i + d; END;
UPDATE sc SET inner_one = 0;
SELECT * FROM sc ORDER BY id;
-- What the last statement of a procedure has changed is what CALL tells, whatever is assigned to OUT parameters behind it.
CREATE TABLE lastrows (id INT PRIMARY KEY, n INT);
INSERT INTO lastrows VALUES (1, 1), (2, 2), (3, 3);
-- skip-prepared
CREATE PROCEDURE cnt1(IN c INT, OUT t INT) BEGIN SELECT SUM(n) INTO t FROM lastrows WHERE id <= c; END;
CALL cnt1(2, @t);
SELECT ROW_COUNT();
-- skip-prepared
CREATE PROCEDURE cnt2(IN c INT, OUT t INT) BEGIN UPDATE lastrows SET n = n + 1 WHERE id <= c; END;
CALL cnt2(2, @t);
SELECT ROW_COUNT();
-- skip-prepared
CREATE PROCEDURE cnt3(IN c INT, OUT t INT) BEGIN UPDATE lastrows SET n = n + 1 WHERE id <= c; SET t = 5; END;
CALL cnt3(2, @t);
SELECT ROW_COUNT();
-- skip-prepared
CREATE PROCEDURE cnt4(IN c INT, INOUT t INT) BEGIN SET t = t + 5; UPDATE lastrows SET n = n + 1 WHERE id <= c; END;
CALL cnt4(3, @t);
SELECT ROW_COUNT();
-- skip-prepared
CREATE PROCEDURE cnt5(IN c INT) BEGIN DECLARE t INT; SELECT SUM(n) INTO t FROM lastrows WHERE id <= c; END;
CALL cnt5(3);
SELECT ROW_COUNT();
-- skip-prepared
CREATE PROCEDURE cnt6(OUT t INT) BEGIN SELECT 1 INTO t; END;
CALL cnt6(@t);
SELECT ROW_COUNT();
-- skip-prepared
CREATE PROCEDURE cnt7() BEGIN CALL cnt6(@x); END;
CALL cnt7();
SELECT ROW_COUNT();
-- skip-prepared
DROP PROCEDURE cnt1;
-- skip-prepared
DROP PROCEDURE cnt2;
-- skip-prepared
DROP PROCEDURE cnt3;
-- skip-prepared
DROP PROCEDURE cnt4;
-- skip-prepared
DROP PROCEDURE cnt5;
-- skip-prepared
DROP PROCEDURE cnt6;
-- skip-prepared
DROP PROCEDURE cnt7;
DROP TABLE lastrows;
CALL;
