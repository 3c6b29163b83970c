-- A string variable of a program has its own collation, that of its database unless it says another one, and is as strong as a column;
-- a literal in its place would have the connection's, and yield to everything.
CREATE DATABASE vars_uni DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE DATABASE vars_bin DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE DATABASE vars_l1 DEFAULT CHARACTER SET latin1 COLLATE latin1_swedish_ci;
-- only: mysql
CREATE DATABASE vars_new DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci;
-- only: mariadb
CREATE DATABASE vars_new DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_nopad_ci;
SET NAMES utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE vt (id INT PRIMARY KEY, u VARCHAR(20) COLLATE utf8mb4_unicode_ci, g VARCHAR(20) COLLATE utf8mb4_general_ci, b VARCHAR(20) COLLATE utf8mb4_bin, l VARCHAR(20) CHARACTER SET latin1, m VARCHAR(20) CHARACTER SET utf8mb3, x VARBINARY(20), i INT, d DATE);
INSERT INTO vt VALUES (1, 'ann', 'ann', 'ann', 'ann', 'ann', 'ann', 7, '2024-01-02'), (2, 'ANN ', 'ANN ', 'ANN ', 'ANN ', 'ANN ', 'ANN ', 8, '2024-01-03'), (3, 'Änn', 'Änn', 'Änn', 'Änn', 'Änn', 'Änn', 9, NULL), (4, 'strasse', 'strasse', 'strasse', 'strasse', 'strasse', 'strasse', 10, NULL), (5, 'straße', 'straße', 'straße', 'straße', 'straße', 'straße', 11, NULL), (6, '7', '7', '7', '7', '7', '7', 12, NULL), (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
-- skip-prepared
USE vars_uni;
-- skip-prepared
CREATE PROCEDURE what(y VARCHAR(20), INOUT z VARCHAR(20), OUT o VARCHAR(20)) BEGIN DECLARE v VARCHAR(20) DEFAULT 'v'; DECLARE n VARCHAR(20); DECLARE e CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'e'; DECLARE l TEXT CHARACTER SET latin1; SET l = 'é'; SELECT COERCIBILITY(y), COERCIBILITY(z), COERCIBILITY(o), COERCIBILITY(v), COERCIBILITY(n), COERCIBILITY(e), COERCIBILITY(l) FROM compat.vt WHERE id = 1; SELECT COUNT(*) FROM compat.vt WHERE id = 1 AND COLLATION(y) = COLLATION(z) AND COLLATION(z) = COLLATION(v) AND COLLATION(n) = COLLATION(o); SELECT COLLATION(y), COLLATION(n), COLLATION(e), COLLATION(l), CHARSET(y), CHARSET(l) FROM compat.vt WHERE id < 3; SELECT COUNT(*) FROM compat.vt WHERE HEX(l) = 'E9'; SELECT COUNT(*) FROM compat.vt WHERE HEX(CONCAT(l, y)) = 'C3A979'; SET o = y; END;
-- skip-prepared
CREATE PROCEDURE other() BEGIN DECLARE e ENUM('x', 'y') DEFAULT 'y'; DECLARE s SET('x', 'y') DEFAULT 'x,y'; DECLARE k VARBINARY(10) DEFAULT 'ann'; DECLARE o BLOB; DECLARE c CHAR(10) CHARACTER SET ascii DEFAULT 'c'; DECLARE i INT DEFAULT 5; DECLARE d DATE DEFAULT '2024-01-02'; DECLARE t TEXT DEFAULT 'long'; SELECT COERCIBILITY(e), COERCIBILITY(s), COERCIBILITY(k), COERCIBILITY(o), COERCIBILITY(c), COERCIBILITY(i), COERCIBILITY(d), COERCIBILITY(t) FROM compat.vt WHERE id = 1; SELECT COLLATION(e), COLLATION(s), COLLATION(k), COLLATION(o), COLLATION(c), COLLATION(t) FROM compat.vt WHERE id = 2; SELECT COUNT(*) FROM compat.vt WHERE e = 'Y ' OR s = 'X,Y'; SELECT COUNT(*) FROM compat.vt WHERE k = 'ANN'; END;
-- skip-prepared
CREATE PROCEDURE lits(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE cols3(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE m = y ORDER BY id; SELECT id FROM compat.vt WHERE m = CONCAT(y, '') ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(m, y) = 'annann' ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
CREATE PROCEDURE wr(y VARCHAR(20)) BEGIN INSERT INTO compat.vw VALUES (1, y, CONCAT(y, ' '), y = 'ANN', COLLATION(y)); INSERT INTO compat.vw SELECT 2, y, CONCAT(y, '!'), y = 'ANN ', COLLATION(CONCAT(y, 'a')) FROM compat.vt WHERE id = 1; INSERT INTO compat.vw (id, s) VALUES (2, y) ON DUPLICATE KEY UPDATE n = n + (y = 'ANN') * 10; UPDATE compat.vw SET s = CONCAT(y, '-'), n = n + 100 WHERE y = 'ANN' AND id = 1; DELETE FROM compat.vw WHERE y = 'ANN ' AND id = 2; DO (SELECT y = 'ANN' FROM compat.vt WHERE id = 1); SET @u = y, @v = CONCAT(y, '!'), @w = (SELECT y FROM compat.vt WHERE id = 1); END;
-- skip-prepared
CREATE PROCEDURE outs(INOUT y VARCHAR(20), OUT o VARCHAR(20), OUT t TEXT CHARACTER SET latin1) BEGIN SET o = (SELECT CONCAT(y, u) FROM compat.vt WHERE id = 1); SET t = y; IF (SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN') > 0 THEN SET y = CONCAT(y, '+'); END IF; END;
-- skip-prepared
CREATE PROCEDURE fetch_(y VARCHAR(20)) BEGIN DECLARE r, n INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM compat.vt WHERE 'ANN' = y ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET r = -1; SELECT COUNT(*) INTO n FROM compat.vt WHERE y = 'ann '; OPEN c; FETCH c INTO r; CLOSE c; SELECT r, n; END;
-- skip-prepared
CREATE PROCEDURE nums(y VARCHAR(20), z VARCHAR(20)) BEGIN SELECT id FROM compat.vt WHERE i = y ORDER BY id; SELECT id FROM compat.vt WHERE i IN (y, 9) OR d = z ORDER BY id; END;
-- skip-prepared
SET collation_connection = utf8mb4_unicode_ci;
-- skip-prepared
CREATE PROCEDURE lits_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols_(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
SET collation_connection = utf8mb4_general_ci;
-- skip-prepared
USE vars_bin;
-- skip-prepared
CREATE PROCEDURE what(y VARCHAR(20), INOUT z VARCHAR(20), OUT o VARCHAR(20)) BEGIN DECLARE v VARCHAR(20) DEFAULT 'v'; DECLARE n VARCHAR(20); DECLARE e CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'e'; DECLARE l TEXT CHARACTER SET latin1; SET l = 'é'; SELECT COERCIBILITY(y), COERCIBILITY(z), COERCIBILITY(o), COERCIBILITY(v), COERCIBILITY(n), COERCIBILITY(e), COERCIBILITY(l) FROM compat.vt WHERE id = 1; SELECT COUNT(*) FROM compat.vt WHERE id = 1 AND COLLATION(y) = COLLATION(z) AND COLLATION(z) = COLLATION(v) AND COLLATION(n) = COLLATION(o); SELECT COLLATION(y), COLLATION(n), COLLATION(e), COLLATION(l), CHARSET(y), CHARSET(l) FROM compat.vt WHERE id < 3; SELECT COUNT(*) FROM compat.vt WHERE HEX(l) = 'E9'; SELECT COUNT(*) FROM compat.vt WHERE HEX(CONCAT(l, y)) = 'C3A979'; SET o = y; END;
-- skip-prepared
CREATE PROCEDURE other() BEGIN DECLARE e ENUM('x', 'y') DEFAULT 'y'; DECLARE s SET('x', 'y') DEFAULT 'x,y'; DECLARE k VARBINARY(10) DEFAULT 'ann'; DECLARE o BLOB; DECLARE c CHAR(10) CHARACTER SET ascii DEFAULT 'c'; DECLARE i INT DEFAULT 5; DECLARE d DATE DEFAULT '2024-01-02'; DECLARE t TEXT DEFAULT 'long'; SELECT COERCIBILITY(e), COERCIBILITY(s), COERCIBILITY(k), COERCIBILITY(o), COERCIBILITY(c), COERCIBILITY(i), COERCIBILITY(d), COERCIBILITY(t) FROM compat.vt WHERE id = 1; SELECT COLLATION(e), COLLATION(s), COLLATION(k), COLLATION(o), COLLATION(c), COLLATION(t) FROM compat.vt WHERE id = 2; SELECT COUNT(*) FROM compat.vt WHERE e = 'Y ' OR s = 'X,Y'; SELECT COUNT(*) FROM compat.vt WHERE k = 'ANN'; END;
-- skip-prepared
CREATE PROCEDURE lits(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE cols3(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE m = y ORDER BY id; SELECT id FROM compat.vt WHERE m = CONCAT(y, '') ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(m, y) = 'annann' ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
CREATE PROCEDURE wr(y VARCHAR(20)) BEGIN INSERT INTO compat.vw VALUES (1, y, CONCAT(y, ' '), y = 'ANN', COLLATION(y)); INSERT INTO compat.vw SELECT 2, y, CONCAT(y, '!'), y = 'ANN ', COLLATION(CONCAT(y, 'a')) FROM compat.vt WHERE id = 1; INSERT INTO compat.vw (id, s) VALUES (2, y) ON DUPLICATE KEY UPDATE n = n + (y = 'ANN') * 10; UPDATE compat.vw SET s = CONCAT(y, '-'), n = n + 100 WHERE y = 'ANN' AND id = 1; DELETE FROM compat.vw WHERE y = 'ANN ' AND id = 2; DO (SELECT y = 'ANN' FROM compat.vt WHERE id = 1); SET @u = y, @v = CONCAT(y, '!'), @w = (SELECT y FROM compat.vt WHERE id = 1); END;
-- skip-prepared
CREATE PROCEDURE outs(INOUT y VARCHAR(20), OUT o VARCHAR(20), OUT t TEXT CHARACTER SET latin1) BEGIN SET o = (SELECT CONCAT(y, u) FROM compat.vt WHERE id = 1); SET t = y; IF (SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN') > 0 THEN SET y = CONCAT(y, '+'); END IF; END;
-- skip-prepared
CREATE PROCEDURE fetch_(y VARCHAR(20)) BEGIN DECLARE r, n INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM compat.vt WHERE 'ANN' = y ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET r = -1; SELECT COUNT(*) INTO n FROM compat.vt WHERE y = 'ann '; OPEN c; FETCH c INTO r; CLOSE c; SELECT r, n; END;
-- skip-prepared
CREATE PROCEDURE nums(y VARCHAR(20), z VARCHAR(20)) BEGIN SELECT id FROM compat.vt WHERE i = y ORDER BY id; SELECT id FROM compat.vt WHERE i IN (y, 9) OR d = z ORDER BY id; END;
-- skip-prepared
SET collation_connection = utf8mb4_unicode_ci;
-- skip-prepared
CREATE PROCEDURE lits_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols_(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
SET collation_connection = utf8mb4_general_ci;
-- skip-prepared
USE vars_l1;
-- skip-prepared
CREATE PROCEDURE what(y VARCHAR(20), INOUT z VARCHAR(20), OUT o VARCHAR(20)) BEGIN DECLARE v VARCHAR(20) DEFAULT 'v'; DECLARE n VARCHAR(20); DECLARE e CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'e'; DECLARE l TEXT CHARACTER SET latin1; SET l = 'é'; SELECT COERCIBILITY(y), COERCIBILITY(z), COERCIBILITY(o), COERCIBILITY(v), COERCIBILITY(n), COERCIBILITY(e), COERCIBILITY(l) FROM compat.vt WHERE id = 1; SELECT COUNT(*) FROM compat.vt WHERE id = 1 AND COLLATION(y) = COLLATION(z) AND COLLATION(z) = COLLATION(v) AND COLLATION(n) = COLLATION(o); SELECT COLLATION(y), COLLATION(n), COLLATION(e), COLLATION(l), CHARSET(y), CHARSET(l) FROM compat.vt WHERE id < 3; SELECT COUNT(*) FROM compat.vt WHERE HEX(l) = 'E9'; SELECT COUNT(*) FROM compat.vt WHERE HEX(CONCAT(l, y)) = 'C3A979'; SET o = y; END;
-- skip-prepared
CREATE PROCEDURE other() BEGIN DECLARE e ENUM('x', 'y') DEFAULT 'y'; DECLARE s SET('x', 'y') DEFAULT 'x,y'; DECLARE k VARBINARY(10) DEFAULT 'ann'; DECLARE o BLOB; DECLARE c CHAR(10) CHARACTER SET ascii DEFAULT 'c'; DECLARE i INT DEFAULT 5; DECLARE d DATE DEFAULT '2024-01-02'; DECLARE t TEXT DEFAULT 'long'; SELECT COERCIBILITY(e), COERCIBILITY(s), COERCIBILITY(k), COERCIBILITY(o), COERCIBILITY(c), COERCIBILITY(i), COERCIBILITY(d), COERCIBILITY(t) FROM compat.vt WHERE id = 1; SELECT COLLATION(e), COLLATION(s), COLLATION(k), COLLATION(o), COLLATION(c), COLLATION(t) FROM compat.vt WHERE id = 2; SELECT COUNT(*) FROM compat.vt WHERE e = 'Y ' OR s = 'X,Y'; SELECT COUNT(*) FROM compat.vt WHERE k = 'ANN'; END;
-- skip-prepared
CREATE PROCEDURE lits(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE cols3(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE m = y ORDER BY id; SELECT id FROM compat.vt WHERE m = CONCAT(y, '') ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(m, y) = 'annann' ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
CREATE PROCEDURE wr(y VARCHAR(20)) BEGIN INSERT INTO compat.vw VALUES (1, y, CONCAT(y, ' '), y = 'ANN', COLLATION(y)); INSERT INTO compat.vw SELECT 2, y, CONCAT(y, '!'), y = 'ANN ', COLLATION(CONCAT(y, 'a')) FROM compat.vt WHERE id = 1; INSERT INTO compat.vw (id, s) VALUES (2, y) ON DUPLICATE KEY UPDATE n = n + (y = 'ANN') * 10; UPDATE compat.vw SET s = CONCAT(y, '-'), n = n + 100 WHERE y = 'ANN' AND id = 1; DELETE FROM compat.vw WHERE y = 'ANN ' AND id = 2; DO (SELECT y = 'ANN' FROM compat.vt WHERE id = 1); SET @u = y, @v = CONCAT(y, '!'), @w = (SELECT y FROM compat.vt WHERE id = 1); END;
-- skip-prepared
CREATE PROCEDURE outs(INOUT y VARCHAR(20), OUT o VARCHAR(20), OUT t TEXT CHARACTER SET latin1) BEGIN SET o = (SELECT CONCAT(y, u) FROM compat.vt WHERE id = 1); SET t = y; IF (SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN') > 0 THEN SET y = CONCAT(y, '+'); END IF; END;
-- skip-prepared
CREATE PROCEDURE fetch_(y VARCHAR(20)) BEGIN DECLARE r, n INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM compat.vt WHERE 'ANN' = y ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET r = -1; SELECT COUNT(*) INTO n FROM compat.vt WHERE y = 'ann '; OPEN c; FETCH c INTO r; CLOSE c; SELECT r, n; END;
-- skip-prepared
CREATE PROCEDURE nums(y VARCHAR(20), z VARCHAR(20)) BEGIN SELECT id FROM compat.vt WHERE i = y ORDER BY id; SELECT id FROM compat.vt WHERE i IN (y, 9) OR d = z ORDER BY id; END;
-- skip-prepared
SET collation_connection = utf8mb4_unicode_ci;
-- skip-prepared
CREATE PROCEDURE lits_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols_(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
SET collation_connection = utf8mb4_general_ci;
-- skip-prepared
USE vars_new;
-- skip-prepared
CREATE PROCEDURE what(y VARCHAR(20), INOUT z VARCHAR(20), OUT o VARCHAR(20)) BEGIN DECLARE v VARCHAR(20) DEFAULT 'v'; DECLARE n VARCHAR(20); DECLARE e CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'e'; DECLARE l TEXT CHARACTER SET latin1; SET l = 'é'; SELECT COERCIBILITY(y), COERCIBILITY(z), COERCIBILITY(o), COERCIBILITY(v), COERCIBILITY(n), COERCIBILITY(e), COERCIBILITY(l) FROM compat.vt WHERE id = 1; SELECT COUNT(*) FROM compat.vt WHERE id = 1 AND COLLATION(y) = COLLATION(z) AND COLLATION(z) = COLLATION(v) AND COLLATION(n) = COLLATION(o); SELECT COLLATION(y), COLLATION(n), COLLATION(e), COLLATION(l), CHARSET(y), CHARSET(l) FROM compat.vt WHERE id < 3; SELECT COUNT(*) FROM compat.vt WHERE HEX(l) = 'E9'; SELECT COUNT(*) FROM compat.vt WHERE HEX(CONCAT(l, y)) = 'C3A979'; SET o = y; END;
-- skip-prepared
CREATE PROCEDURE other() BEGIN DECLARE e ENUM('x', 'y') DEFAULT 'y'; DECLARE s SET('x', 'y') DEFAULT 'x,y'; DECLARE k VARBINARY(10) DEFAULT 'ann'; DECLARE o BLOB; DECLARE c CHAR(10) CHARACTER SET ascii DEFAULT 'c'; DECLARE i INT DEFAULT 5; DECLARE d DATE DEFAULT '2024-01-02'; DECLARE t TEXT DEFAULT 'long'; SELECT COERCIBILITY(e), COERCIBILITY(s), COERCIBILITY(k), COERCIBILITY(o), COERCIBILITY(c), COERCIBILITY(i), COERCIBILITY(d), COERCIBILITY(t) FROM compat.vt WHERE id = 1; SELECT COLLATION(e), COLLATION(s), COLLATION(k), COLLATION(o), COLLATION(c), COLLATION(t) FROM compat.vt WHERE id = 2; SELECT COUNT(*) FROM compat.vt WHERE e = 'Y ' OR s = 'X,Y'; SELECT COUNT(*) FROM compat.vt WHERE k = 'ANN'; END;
-- skip-prepared
CREATE PROCEDURE lits(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE cols3(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE m = y ORDER BY id; SELECT id FROM compat.vt WHERE m = CONCAT(y, '') ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(m, y) = 'annann' ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
CREATE PROCEDURE wr(y VARCHAR(20)) BEGIN INSERT INTO compat.vw VALUES (1, y, CONCAT(y, ' '), y = 'ANN', COLLATION(y)); INSERT INTO compat.vw SELECT 2, y, CONCAT(y, '!'), y = 'ANN ', COLLATION(CONCAT(y, 'a')) FROM compat.vt WHERE id = 1; INSERT INTO compat.vw (id, s) VALUES (2, y) ON DUPLICATE KEY UPDATE n = n + (y = 'ANN') * 10; UPDATE compat.vw SET s = CONCAT(y, '-'), n = n + 100 WHERE y = 'ANN' AND id = 1; DELETE FROM compat.vw WHERE y = 'ANN ' AND id = 2; DO (SELECT y = 'ANN' FROM compat.vt WHERE id = 1); SET @u = y, @v = CONCAT(y, '!'), @w = (SELECT y FROM compat.vt WHERE id = 1); END;
-- skip-prepared
CREATE PROCEDURE outs(INOUT y VARCHAR(20), OUT o VARCHAR(20), OUT t TEXT CHARACTER SET latin1) BEGIN SET o = (SELECT CONCAT(y, u) FROM compat.vt WHERE id = 1); SET t = y; IF (SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN') > 0 THEN SET y = CONCAT(y, '+'); END IF; END;
-- skip-prepared
CREATE PROCEDURE fetch_(y VARCHAR(20)) BEGIN DECLARE r, n INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM compat.vt WHERE 'ANN' = y ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET r = -1; SELECT COUNT(*) INTO n FROM compat.vt WHERE y = 'ann '; OPEN c; FETCH c INTO r; CLOSE c; SELECT r, n; END;
-- skip-prepared
CREATE PROCEDURE nums(y VARCHAR(20), z VARCHAR(20)) BEGIN SELECT id FROM compat.vt WHERE i = y ORDER BY id; SELECT id FROM compat.vt WHERE i IN (y, 9) OR d = z ORDER BY id; END;
-- skip-prepared
SET collation_connection = utf8mb4_unicode_ci;
-- skip-prepared
CREATE PROCEDURE lits_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols_(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
SET collation_connection = utf8mb4_general_ci;
-- skip-prepared
USE compat;
-- skip-prepared
CREATE PROCEDURE what(y VARCHAR(20), INOUT z VARCHAR(20), OUT o VARCHAR(20)) BEGIN DECLARE v VARCHAR(20) DEFAULT 'v'; DECLARE n VARCHAR(20); DECLARE e CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'e'; DECLARE l TEXT CHARACTER SET latin1; SET l = 'é'; SELECT COERCIBILITY(y), COERCIBILITY(z), COERCIBILITY(o), COERCIBILITY(v), COERCIBILITY(n), COERCIBILITY(e), COERCIBILITY(l) FROM compat.vt WHERE id = 1; SELECT COUNT(*) FROM compat.vt WHERE id = 1 AND COLLATION(y) = COLLATION(z) AND COLLATION(z) = COLLATION(v) AND COLLATION(n) = COLLATION(o); SELECT COLLATION(y), COLLATION(n), COLLATION(e), COLLATION(l), CHARSET(y), CHARSET(l) FROM compat.vt WHERE id < 3; SELECT COUNT(*) FROM compat.vt WHERE HEX(l) = 'E9'; SELECT COUNT(*) FROM compat.vt WHERE HEX(CONCAT(l, y)) = 'C3A979'; SET o = y; END;
-- skip-prepared
CREATE PROCEDURE other() BEGIN DECLARE e ENUM('x', 'y') DEFAULT 'y'; DECLARE s SET('x', 'y') DEFAULT 'x,y'; DECLARE k VARBINARY(10) DEFAULT 'ann'; DECLARE o BLOB; DECLARE c CHAR(10) CHARACTER SET ascii DEFAULT 'c'; DECLARE i INT DEFAULT 5; DECLARE d DATE DEFAULT '2024-01-02'; DECLARE t TEXT DEFAULT 'long'; SELECT COERCIBILITY(e), COERCIBILITY(s), COERCIBILITY(k), COERCIBILITY(o), COERCIBILITY(c), COERCIBILITY(i), COERCIBILITY(d), COERCIBILITY(t) FROM compat.vt WHERE id = 1; SELECT COLLATION(e), COLLATION(s), COLLATION(k), COLLATION(o), COLLATION(c), COLLATION(t) FROM compat.vt WHERE id = 2; SELECT COUNT(*) FROM compat.vt WHERE e = 'Y ' OR s = 'X,Y'; SELECT COUNT(*) FROM compat.vt WHERE k = 'ANN'; END;
-- skip-prepared
CREATE PROCEDURE lits(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE cols3(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE m = y ORDER BY id; SELECT id FROM compat.vt WHERE m = CONCAT(y, '') ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(m, y) = 'annann' ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
CREATE PROCEDURE wr(y VARCHAR(20)) BEGIN INSERT INTO compat.vw VALUES (1, y, CONCAT(y, ' '), y = 'ANN', COLLATION(y)); INSERT INTO compat.vw SELECT 2, y, CONCAT(y, '!'), y = 'ANN ', COLLATION(CONCAT(y, 'a')) FROM compat.vt WHERE id = 1; INSERT INTO compat.vw (id, s) VALUES (2, y) ON DUPLICATE KEY UPDATE n = n + (y = 'ANN') * 10; UPDATE compat.vw SET s = CONCAT(y, '-'), n = n + 100 WHERE y = 'ANN' AND id = 1; DELETE FROM compat.vw WHERE y = 'ANN ' AND id = 2; DO (SELECT y = 'ANN' FROM compat.vt WHERE id = 1); SET @u = y, @v = CONCAT(y, '!'), @w = (SELECT y FROM compat.vt WHERE id = 1); END;
-- skip-prepared
CREATE PROCEDURE outs(INOUT y VARCHAR(20), OUT o VARCHAR(20), OUT t TEXT CHARACTER SET latin1) BEGIN SET o = (SELECT CONCAT(y, u) FROM compat.vt WHERE id = 1); SET t = y; IF (SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN') > 0 THEN SET y = CONCAT(y, '+'); END IF; END;
-- skip-prepared
CREATE PROCEDURE fetch_(y VARCHAR(20)) BEGIN DECLARE r, n INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM compat.vt WHERE 'ANN' = y ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET r = -1; SELECT COUNT(*) INTO n FROM compat.vt WHERE y = 'ann '; OPEN c; FETCH c INTO r; CLOSE c; SELECT r, n; END;
-- skip-prepared
CREATE PROCEDURE nums(y VARCHAR(20), z VARCHAR(20)) BEGIN SELECT id FROM compat.vt WHERE i = y ORDER BY id; SELECT id FROM compat.vt WHERE i IN (y, 9) OR d = z ORDER BY id; END;
-- skip-prepared
SET collation_connection = utf8mb4_unicode_ci;
-- skip-prepared
CREATE PROCEDURE lits_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM compat.vt WHERE 'ann ' IN (y, 'ß'); SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE y = 'ann '; SELECT COUNT(*) FROM compat.vt WHERE y LIKE 'A%'; SELECT COUNT(*) FROM compat.vt WHERE y BETWEEN 'ANN' AND 'ANN '; SELECT COUNT(*) FROM compat.vt WHERE CASE y WHEN 'ÄNN' THEN 1 END; SELECT MAX(id) FROM compat.vt WHERE CONCAT(y, '') = 'strasse'; SELECT COUNT(*) FROM compat.vt WHERE y = x'616E6E'; SELECT COUNT(*) FROM compat.vt WHERE y = x'414E4E'; SELECT COUNT(*) FROM compat.vt WHERE COALESCE(y, 'x') = 'X '; SELECT COUNT(*) FROM compat.vt WHERE LOCATE('N', y); SELECT COUNT(*) FROM compat.vt WHERE STRCMP(y, 'Ann') = 0; SELECT COUNT(*) FROM compat.vt WHERE GREATEST(y, 'A') = 'ANN'; SELECT COUNT(*) FROM compat.vt WHERE NULLIF(y, 'ANN') IS NULL; SELECT COUNT(*) FROM compat.vt WHERE y = _latin1'ANN'; SELECT COUNT(*) FROM compat.vt WHERE REPLACE(y, 'N', '') = 'a'; SELECT COUNT(*) FROM compat.vt WHERE FIND_IN_SET(y, 'b,ANN'); END;
-- skip-prepared
CREATE PROCEDURE cols_(y VARCHAR(20)) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT id FROM compat.vt WHERE u = y ORDER BY id; SELECT id FROM compat.vt WHERE y = g ORDER BY id; SELECT id FROM compat.vt WHERE b = y ORDER BY id; SELECT id FROM compat.vt WHERE l = y ORDER BY id; SELECT id FROM compat.vt WHERE x = y ORDER BY id; SELECT id FROM compat.vt WHERE u LIKE y ORDER BY id; SELECT id FROM compat.vt WHERE g IN ('x', y) ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(u, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(g, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE CONCAT(l, y) = 'annann' ORDER BY id; SELECT id FROM compat.vt WHERE (id, u) = (1, y) ORDER BY id; SELECT id FROM compat.vt a WHERE a.u BETWEEN y AND y ORDER BY id; SELECT id FROM compat.vt WHERE IF(id < 3, y, u) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE COALESCE(y, g) = 'ann' ORDER BY id; SELECT id FROM compat.vt WHERE u COLLATE utf8mb4_bin = y ORDER BY id; SELECT id FROM compat.vt WHERE y COLLATE utf8mb4_bin = u ORDER BY id; END;
-- skip-prepared
CREATE PROCEDURE deep_(y VARCHAR(20)) BEGIN SELECT COUNT(*) FROM (SELECT y AS c FROM compat.vt WHERE id = 1 UNION SELECT 'ANN ') a; SELECT COUNT(*) FROM (SELECT y AS c, id FROM compat.vt) a WHERE c = 'ANN'; SELECT COUNT(*) FROM compat.vt GROUP BY CONCAT(y, 'a') = 'ANNA'; SELECT COUNT(DISTINCT CONCAT(y, id % 2)) FROM compat.vt; WITH w AS (SELECT id, y AS c FROM compat.vt) SELECT COUNT(*) FROM w WHERE c = 'ANN '; SELECT id FROM compat.vt a WHERE EXISTS (SELECT 1 FROM compat.vt b WHERE b.id = a.id AND y = 'ANN') ORDER BY id; SELECT COUNT(*) FROM compat.vt a JOIN compat.vt b ON a.id = b.id + 1 WHERE y = 'ANN '; SELECT COUNT(*) FROM compat.vt HAVING y = 'ANN '; SELECT MAX(CONCAT(y, u)) = 'ANNSTRASSE' FROM compat.vt WHERE id = 5; END;
-- skip-prepared
SET collation_connection = utf8mb4_general_ci;
-- skip-prepared
USE compat;
CREATE TABLE vw (id INT PRIMARY KEY, s VARCHAR(40), t VARCHAR(40), n INT, c VARCHAR(64));
SET @z = 'z';
CALL vars_uni.what('y', @z, @o);
SELECT COERCIBILITY(@z), COLLATION(@z), COLLATION(@o), @o;
CALL vars_uni.other();
CALL vars_uni.lits('ann');
CALL vars_uni.cols('ann');
CALL vars_uni.cols3('ann');
CALL vars_uni.deep('ann');
CALL vars_uni.lits('ANN ');
CALL vars_uni.cols('ANN ');
CALL vars_uni.cols3('ANN ');
CALL vars_uni.deep('ANN ');
CALL vars_uni.lits('Änn');
CALL vars_uni.cols('Änn');
CALL vars_uni.cols3('Änn');
CALL vars_uni.deep('Änn');
CALL vars_uni.lits('straße');
CALL vars_uni.cols('straße');
CALL vars_uni.cols3('straße');
CALL vars_uni.deep('straße');
CALL vars_uni.lits(NULL);
CALL vars_uni.cols(NULL);
CALL vars_uni.cols3(NULL);
CALL vars_uni.deep(NULL);
CALL vars_uni.lits_('ann');
CALL vars_uni.cols_('ann');
CALL vars_uni.deep_('ann');
CALL vars_uni.lits_(NULL);
CALL vars_uni.cols_(NULL);
CALL vars_uni.deep_(NULL);
CALL vars_uni.cols('7');
CALL vars_uni.nums('7', '2024-01-02');
-- sent: status, of a cursor that was open
CALL vars_uni.fetch_('ann');
CALL vars_uni.wr('ann');
SELECT * FROM vw ORDER BY id;
SELECT COLLATION(@u), COLLATION(@v), COLLATION(@w), @u = 'ANN ', @w = 'ANN';
DELETE FROM vw;
SET @y = 'ann';
CALL vars_uni.outs(@y, @o, @t);
SELECT @y, @o, @t, COLLATION(@y), COLLATION(@o), COLLATION(@t);
SET @z = 'z';
CALL vars_bin.what('y', @z, @o);
SELECT COERCIBILITY(@z), COLLATION(@z), COLLATION(@o), @o;
CALL vars_bin.other();
CALL vars_bin.lits('ann');
CALL vars_bin.cols('ann');
CALL vars_bin.cols3('ann');
CALL vars_bin.deep('ann');
CALL vars_bin.lits('ANN ');
CALL vars_bin.cols('ANN ');
CALL vars_bin.cols3('ANN ');
CALL vars_bin.deep('ANN ');
CALL vars_bin.lits('Änn');
CALL vars_bin.cols('Änn');
CALL vars_bin.cols3('Änn');
CALL vars_bin.deep('Änn');
CALL vars_bin.lits('straße');
CALL vars_bin.cols('straße');
CALL vars_bin.cols3('straße');
CALL vars_bin.deep('straße');
CALL vars_bin.lits(NULL);
CALL vars_bin.cols(NULL);
CALL vars_bin.cols3(NULL);
CALL vars_bin.deep(NULL);
CALL vars_bin.lits_('ann');
CALL vars_bin.cols_('ann');
CALL vars_bin.deep_('ann');
CALL vars_bin.lits_(NULL);
CALL vars_bin.cols_(NULL);
CALL vars_bin.deep_(NULL);
CALL vars_bin.cols('7');
CALL vars_bin.nums('7', '2024-01-02');
-- sent: status, of a cursor that was open
CALL vars_bin.fetch_('ann');
CALL vars_bin.wr('ann');
SELECT * FROM vw ORDER BY id;
SELECT COLLATION(@u), COLLATION(@v), COLLATION(@w), @u = 'ANN ', @w = 'ANN';
DELETE FROM vw;
SET @y = 'ann';
CALL vars_bin.outs(@y, @o, @t);
SELECT @y, @o, @t, COLLATION(@y), COLLATION(@o), COLLATION(@t);
SET @z = 'z';
CALL vars_l1.what('y', @z, @o);
SELECT COERCIBILITY(@z), COLLATION(@z), COLLATION(@o), @o;
CALL vars_l1.other();
CALL vars_l1.lits('ann');
CALL vars_l1.cols('ann');
CALL vars_l1.cols3('ann');
CALL vars_l1.deep('ann');
CALL vars_l1.lits('ANN ');
CALL vars_l1.cols('ANN ');
CALL vars_l1.cols3('ANN ');
CALL vars_l1.deep('ANN ');
CALL vars_l1.lits('Änn');
CALL vars_l1.cols('Änn');
CALL vars_l1.cols3('Änn');
CALL vars_l1.deep('Änn');
CALL vars_l1.lits('straße');
CALL vars_l1.cols('straße');
CALL vars_l1.cols3('straße');
CALL vars_l1.deep('straße');
CALL vars_l1.lits(NULL);
CALL vars_l1.cols(NULL);
CALL vars_l1.cols3(NULL);
CALL vars_l1.deep(NULL);
CALL vars_l1.lits_('ann');
CALL vars_l1.cols_('ann');
CALL vars_l1.deep_('ann');
CALL vars_l1.lits_(NULL);
CALL vars_l1.cols_(NULL);
CALL vars_l1.deep_(NULL);
CALL vars_l1.cols('7');
CALL vars_l1.nums('7', '2024-01-02');
-- sent: status, of a cursor that was open
CALL vars_l1.fetch_('ann');
CALL vars_l1.wr('ann');
SELECT * FROM vw ORDER BY id;
SELECT COLLATION(@u), COLLATION(@v), COLLATION(@w), @u = 'ANN ', @w = 'ANN';
DELETE FROM vw;
SET @y = 'ann';
CALL vars_l1.outs(@y, @o, @t);
SELECT @y, @o, @t, COLLATION(@y), COLLATION(@o), COLLATION(@t);
SET @z = 'z';
CALL vars_new.what('y', @z, @o);
SELECT COERCIBILITY(@z), COLLATION(@z), COLLATION(@o), @o;
CALL vars_new.other();
CALL vars_new.lits('ann');
CALL vars_new.cols('ann');
CALL vars_new.cols3('ann');
CALL vars_new.deep('ann');
CALL vars_new.lits('ANN ');
CALL vars_new.cols('ANN ');
CALL vars_new.cols3('ANN ');
CALL vars_new.deep('ANN ');
CALL vars_new.lits('Änn');
CALL vars_new.cols('Änn');
CALL vars_new.cols3('Änn');
CALL vars_new.deep('Änn');
CALL vars_new.lits('straße');
CALL vars_new.cols('straße');
CALL vars_new.cols3('straße');
CALL vars_new.deep('straße');
CALL vars_new.lits(NULL);
CALL vars_new.cols(NULL);
CALL vars_new.cols3(NULL);
CALL vars_new.deep(NULL);
CALL vars_new.lits_('ann');
CALL vars_new.cols_('ann');
CALL vars_new.deep_('ann');
CALL vars_new.lits_(NULL);
CALL vars_new.cols_(NULL);
CALL vars_new.deep_(NULL);
CALL vars_new.cols('7');
CALL vars_new.nums('7', '2024-01-02');
-- sent: status, of a cursor that was open
CALL vars_new.fetch_('ann');
CALL vars_new.wr('ann');
SELECT * FROM vw ORDER BY id;
SELECT COLLATION(@u), COLLATION(@v), COLLATION(@w), @u = 'ANN ', @w = 'ANN';
DELETE FROM vw;
SET @y = 'ann';
CALL vars_new.outs(@y, @o, @t);
SELECT @y, @o, @t, COLLATION(@y), COLLATION(@o), COLLATION(@t);
SET @z = 'z';
CALL compat.what('y', @z, @o);
SELECT COERCIBILITY(@z), COLLATION(@z), COLLATION(@o), @o;
CALL compat.other();
CALL compat.lits('ann');
CALL compat.cols('ann');
CALL compat.cols3('ann');
CALL compat.deep('ann');
CALL compat.lits('ANN ');
CALL compat.cols('ANN ');
CALL compat.cols3('ANN ');
CALL compat.deep('ANN ');
CALL compat.lits('Änn');
CALL compat.cols('Änn');
CALL compat.cols3('Änn');
CALL compat.deep('Änn');
CALL compat.lits('straße');
CALL compat.cols('straße');
CALL compat.cols3('straße');
CALL compat.deep('straße');
CALL compat.lits(NULL);
CALL compat.cols(NULL);
CALL compat.cols3(NULL);
CALL compat.deep(NULL);
CALL compat.lits_('ann');
CALL compat.cols_('ann');
CALL compat.deep_('ann');
CALL compat.lits_(NULL);
CALL compat.cols_(NULL);
CALL compat.deep_(NULL);
CALL compat.cols('7');
CALL compat.nums('7', '2024-01-02');
-- sent: status, of a cursor that was open
CALL compat.fetch_('ann');
CALL compat.wr('ann');
SELECT * FROM vw ORDER BY id;
SELECT COLLATION(@u), COLLATION(@v), COLLATION(@w), @u = 'ANN ', @w = 'ANN';
DELETE FROM vw;
SET @y = 'ann';
CALL compat.outs(@y, @o, @t);
SELECT @y, @o, @t, COLLATION(@y), COLLATION(@o), COLLATION(@t);

-- What a trigger sees of a row has its column's collation.
CREATE TABLE vr (id INT PRIMARY KEY, u VARCHAR(20) COLLATE utf8mb4_unicode_ci, b VARCHAR(20) COLLATE utf8mb4_bin, l VARCHAR(20) CHARACTER SET latin1, x VARBINARY(20), e ENUM('ann', 'bob'));
CREATE TABLE vlog (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100), n INT, c VARCHAR(64));
-- skip-prepared
CREATE TRIGGER vr_ins AFTER INSERT ON vr FOR EACH ROW BEGIN INSERT INTO vlog (what, n, c) VALUES ('u', NEW.u = 'ANN', COLLATION(NEW.u)), ('b', NEW.b = 'ANN', COLLATION(NEW.b)), ('l', NEW.l = 'ANN', COLLATION(NEW.l)), ('x', NEW.x = 'ANN', COLLATION(NEW.x)), ('e', NEW.e = 'ANN', COERCIBILITY(NEW.e)); INSERT INTO vlog (what, n) SELECT 'found', id FROM vt WHERE u = NEW.u; INSERT INTO vlog (what, n) SELECT 'binary', id FROM vt WHERE g = NEW.b; SET @seen = NEW.b, @found = (SELECT MAX(id) FROM vt WHERE NEW.u = 'ann '); END;
-- skip-prepared
CREATE TRIGGER vr_upd BEFORE UPDATE ON vr FOR EACH ROW BEGIN IF (SELECT COUNT(*) FROM vt WHERE NEW.u = OLD.u AND id = 1) > 0 THEN SET NEW.b = CONCAT((SELECT MAX(g) FROM vt WHERE id = 1), OLD.b); END IF; INSERT INTO vlog (what, n, c) VALUES (CONCAT(OLD.b, NEW.b), OLD.b = NEW.b, COLLATION(CONCAT(OLD.b, NEW.u))); END;
INSERT INTO vr VALUES (1, 'ann', 'ann', 'ann', 'ann', 'ann'), (2, 'Änn', NULL, 'ANN', 'ANN', 'bob');
SELECT @found, @seen IS NULL, COLLATION(@seen);
UPDATE vr SET u = 'ANN ' WHERE id = 1;
SELECT what, n, c FROM vlog ORDER BY what, n, c;
SELECT * FROM vr ORDER BY id;

-- What a variable selects into another one keeps its collation there.
-- skip-prepared
USE vars_uni;
-- skip-prepared
CREATE PROCEDURE vars_uni.picks(y VARCHAR(20)) BEGIN SELECT b, y, CONCAT(u, y) INTO @b, @y, @c FROM compat.vt WHERE id = 1; END;
-- skip-prepared
USE compat;
CALL vars_uni.picks('ann');
SELECT COLLATION(@b), COLLATION(@y), COLLATION(@c);
-- skip-prepared
CREATE PROCEDURE vars_bin.calls(y VARCHAR(20)) BEGIN DECLARE o VARCHAR(20); CALL vars_bin.called(CONCAT(y, '!'), o); SELECT COUNT(*) FROM compat.vt WHERE o = 'ANN!' OR y = 'ANN'; END;
-- skip-prepared
CREATE PROCEDURE vars_bin.called(y VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, OUT o VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) BEGIN SELECT COUNT(*) FROM compat.vt WHERE y = 'ANN!'; SET o = UPPER(y); END;
CALL vars_bin.calls('ann');
-- Strings with backslashes are themselves in each sql_mode, also in what runs behind the program.
-- skip-prepared
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
-- skip-prepared
CREATE PROCEDURE vars_uni.slash(y VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) BEGIN SELECT COUNT(*) FROM compat.vt WHERE CONCAT(y, 'a') = '\A'; END;
-- skip-prepared
SET sql_mode = DEFAULT;
-- sent: status, the sql_mode of the session, not of what runs
CALL vars_uni.slash('\\');
SELECT COUNT(*) FROM vt;
CALL vars_uni.lits('it''s \\');
BEGIN;
CALL vars_uni.wr('a\\''b');
SELECT * FROM vw ORDER BY id;
ROLLBACK;
-- So does CASE compare what it has computed.
-- skip-prepared
CREATE PROCEDURE vars_bin.cases(y VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, z VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) BEGIN CASE CONCAT(y, '') WHEN 'ANN' THEN SELECT 'ANN'; WHEN 'ann ' THEN SELECT 'ann '; ELSE SELECT 'ann'; END CASE; CASE (SELECT MAX(b) FROM compat.vt WHERE b = y) WHEN 'ANN' THEN SELECT 'ANN'; ELSE SELECT 'ann'; END CASE; CASE UPPER(z) WHEN 'ann ' THEN SELECT 'ann '; ELSE SELECT 'ANN'; END CASE; CASE LENGTH(z) WHEN '3' THEN SELECT 3; ELSE SELECT 0; END CASE; CASE CONCAT('A', 'NN') WHEN y THEN SELECT 'ann'; WHEN z THEN SELECT 'unicode'; END CASE; END;
CALL vars_bin.cases('ann', 'ann');
DROP DATABASE vars_uni;
DROP DATABASE vars_bin;
DROP DATABASE vars_l1;
DROP DATABASE vars_new;
