-- Values stand in the text of a program's statements as variables would.
CREATE TABLE pt (id INT PRIMARY KEY, a INT, k INT, s VARCHAR(20), x INT);
INSERT INTO pt VALUES (1, 1, 5, 's1', 1), (2, 2, 5, 's2', 2), (3, 3, 6, 's3', 3), (4, 1, 6, 's4', 4), (5, 2, 7, 's5', 5), (6, 3, 7, 's6', 6), (7, NULL, 8, 's7', 7), (8, 0, 8, 's8', 8), (9, 1, 9, 's9', 9), (10, 2, 9, '10x', 10);
CREATE TABLE pu (id INT PRIMARY KEY AUTO_INCREMENT, a INT, v VARCHAR(30));
-- Columns of queries inside have the names of variables.
-- skip-prepared
CREATE PROCEDURE joined(id INT) BEGIN SELECT COUNT(*) FROM pt NATURAL JOIN (SELECT id) z; UPDATE pt NATURAL JOIN (SELECT id) z SET pt.x = -1; SELECT COUNT(*) FROM pt WHERE x = -1; DELETE pt FROM pt NATURAL JOIN (SELECT id) z; SELECT COUNT(*) FROM pt; INSERT INTO pu (a) SELECT pt.id FROM pt NATURAL JOIN (SELECT id - 1 AS id) y; SELECT a FROM pu; END;
-- skip-prepared
CALL joined(9);
-- skip-prepared
CREATE PROCEDURE inner_names(k INT, v VARCHAR(10)) BEGIN SELECT COUNT(d.k) + SUM(d.v = 'a') r FROM (SELECT k, v) d; SELECT COUNT(d.k) + COUNT(`k + 1`) r FROM (SELECT k, k + 1 FROM pt WHERE pt.id = 1) d; WITH w AS (SELECT k, v FROM pt WHERE pt.id < 3) SELECT SUM(w.v = 'a') + COUNT(w.k) r FROM w; SELECT COUNT(d.k) FROM (SELECT k UNION SELECT pt.id FROM pt WHERE pt.id < 3) d; SELECT pt.id FROM pt WHERE pt.id IN (SELECT k FROM pt) AND EXISTS (SELECT k); SELECT pt.id FROM pt JOIN (SELECT DISTINCT k FROM pt) d USING (k) ORDER BY 1; END;
-- skip-prepared
CALL inner_names(6, 'a');
-- A string behind a variable is an alias.
-- skip-prepared
CREATE PROCEDURE aliased(v VARCHAR(10), n INT) BEGIN SELECT v 'lit' FROM pt WHERE id = 3; SELECT id, v 'lit', n 'lit2', 'a' 'b' FROM pt WHERE id < 3 ORDER BY id; SELECT COUNT(y = 'ab') z FROM (SELECT CONCAT(v, 'b') 'y' FROM pt) d; UPDATE pu SET v = (SELECT v 'q') WHERE a = 8; SELECT pu.v FROM pu; END;
-- skip-prepared
CALL aliased('a', 3);
-- CHARACTER SET begins no list of assignments.
-- skip-prepared
CREATE PROCEDURE charsets(a INT) BEGIN SELECT id, CAST(s AS CHAR CHARACTER SET utf8mb4) c, CONCAT(IF(1, a = 3, 0), s) r FROM pt WHERE id < 4 ORDER BY id; SELECT COUNT(*) FROM pt WHERE CONVERT(s, CHAR CHARACTER SET utf8mb4) <> '' AND IF(1, a = 3, 0); DELETE FROM pt WHERE CAST(s AS CHAR CHARACTER SET utf8mb4) <> 'q' AND COALESCE(NULL, a = 3, 0); SELECT COUNT(*) FROM pt; UPDATE pt SET s = CONVERT(s, CHAR CHARACTER SET utf8mb4), a = a, x = IF(1, a = 4, 5) WHERE id < 3; SELECT id, pt.a, x FROM pt ORDER BY id; END;
-- skip-prepared
CALL charsets(4);
-- Integers without a sign.
-- skip-prepared
CREATE PROCEDURE unsigned_numbers() BEGIN DECLARE u INT UNSIGNED DEFAULT 5; DECLARE y YEAR DEFAULT 2020; DECLARE z INT(4) ZEROFILL DEFAULT 20; DECLARE b BIGINT UNSIGNED DEFAULT 5; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'max'; SELECT MAX(u - 6) INTO @u FROM pt; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'where'; SELECT COUNT(*) INTO @u FROM pt WHERE x > u - 6; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'update'; UPDATE pt SET a = u - 6 WHERE id = 1; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'delete'; DELETE FROM pt WHERE id - b < 0; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'parentheses'; DELETE FROM pt WHERE id - (b) < 0; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'abs'; DELETE FROM pt WHERE id - ABS(u) < 0; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'insert'; INSERT INTO pu (a) SELECT u - 7 FROM pt WHERE id = 7; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'year'; SELECT SUM(id - y) INTO @u FROM pt; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'zerofill'; SELECT SUM(id - z) INTO @u FROM pt; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'derived'; SELECT COUNT(*) INTO @u FROM pt, (SELECT u) d WHERE d.u - 6 < pt.id; END; BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'into'; SELECT u INTO @u FROM pt WHERE id = 6; SET @u = 1 - @u; END; SELECT id FROM pt WHERE id = u AND id IN (u, u + 1) AND id BETWEEN u AND u + 1; SELECT COUNT(*) FROM pt WHERE id > u; SELECT COUNT(*) FROM pt WHERE CONCAT_WS(' ', IFNULL(u, 0) - 4, -u, 2 * u, id + u, id) = '1 -5 10 11 6'; SELECT id, NTILE(2) OVER (ORDER BY id), LEAD(id, u) OVER (ORDER BY id) FROM pt ORDER BY id LIMIT u; END;
-- skip-prepared
CALL unsigned_numbers();
-- skip-prepared
CREATE PROCEDURE gives(OUT o INT UNSIGNED) SET o = 5;
-- skip-prepared
CALL gives(@u);
SELECT 1 - @u;
SELECT COUNT(*), SUM(a) FROM pt;
-- A number in the place of a column's place.
-- skip-prepared
CREATE PROCEDURE places(n INT) BEGIN SELECT a, COUNT(*) FROM pt GROUP BY a, n + 0 ORDER BY a, ABS(n); SELECT id, a FROM pt GROUP BY a, (n); END;
-- skip-prepared
-- refused: the variable n in GROUP BY or ORDER BY of a stored program
CALL places(1);
-- skip-prepared
CREATE PROCEDURE ordered(n INT) SELECT id FROM pt ORDER BY +n, id;
-- skip-prepared
-- refused: the variable n in GROUP BY or ORDER BY of a stored program
CALL ordered(1);
-- Names that are none of variables.
-- skip-prepared
CREATE PROCEDURE other_names(v INT) BEGIN WITH v AS (SELECT id FROM pt WHERE id < 3) SELECT * FROM v ORDER BY id; SELECT id, SUM(x) OVER v FROM pt WHERE id < 3 WINDOW v AS (ORDER BY id) ORDER BY id; SELECT CURRENT_DATE v FROM pt WHERE id = -1; SELECT jt.v FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (v INT PATH '$')) jt ORDER BY 1; DELETE v FROM pt v WHERE v.id = v; SELECT COUNT(*) FROM pt; END;
-- skip-prepared
CALL other_names(3);
