CREATE TABLE vword (id INT PRIMARY KEY, g INT, x INT, d DATETIME, s VARCHAR(20), KEY day (g), KEY x (x));
INSERT INTO vword VALUES (1, 1, 10, '2020-01-01', 'w1'), (2, 2, 20, '2020-02-01', 'w2'), (3, 0, 30, '2020-03-01', 'w3'), (4, 1, 40, '2021-02-01', 'w4'), (5, 2, 50, '2021-03-01', 'w5');
-- Words of the language stay what they are where variables have their names.
CREATE PROCEDURE vw_units() BEGIN DECLARE year, month, day, hour INT DEFAULT 2; SELECT EXTRACT(YEAR FROM d), TIMESTAMPADD(MONTH, month, d), TIMESTAMPDIFF(MONTH, '2020-01-01', d), d + INTERVAL day DAY, DATE_ADD(d, INTERVAL (month) MONTH), YEAR(d), MONTH(d), d - INTERVAL 1 HOUR FROM vword WHERE id = year; SELECT id FROM vword WHERE EXTRACT(MONTH FROM d) = month ORDER BY id; END;
CALL vw_units();
CREATE PROCEDURE vw_types() BEGIN DECLARE date DATE DEFAULT '2020-02-01'; DECLARE time TIME DEFAULT '10:00:00'; DECLARE datetime, timestamp DATETIME DEFAULT '2020-02-01'; SELECT CONVERT(d, DATE), CONVERT(d, TIME), CONVERT(d, DATETIME), CAST(d AS DATE), DATE(d), date, GET_FORMAT(DATE, 'USA'), GET_FORMAT(DATETIME, 'ISO') FROM vword WHERE d = date; SELECT id FROM vword WHERE d = DATE '2020-02-01' OR d = TIMESTAMP '2020-03-01 00:00:00' OR d = timestamp ORDER BY id; SELECT TIME '10:11:12' > time, DATE'2020-02-01' = date; END;
CALL vw_types();
CREATE PROCEDURE vw_odbc() BEGIN DECLARE d, t, ts VARCHAR(30) DEFAULT '2020-02-01'; SELECT id, d FROM vword WHERE vword.d = {d '2020-02-01'} OR vword.d = {ts '2020-03-01 00:00:00'} ORDER BY id; SELECT {t '10:00:00'}, {fn LENGTH(d)}; END;
CALL vw_odbc();
CREATE PROCEDURE vw_charsets() BEGIN DECLARE latin1, utf8mb4, binary_ VARCHAR(20) DEFAULT 'w2'; SELECT CONVERT(s USING latin1), CONVERT(s USING utf8mb4), CHAR(65 USING latin1), CAST(s AS CHAR CHARACTER SET latin1), CONVERT(s, CHAR(3)) FROM vword WHERE s = latin1; END;
CALL vw_charsets();
-- So do names of columns, windows, indexes and tables.
CREATE PROCEDURE vw_commons() BEGIN DECLARE x INT DEFAULT 3; WITH c (a, x) AS (SELECT id, vword.x FROM vword WHERE id < x) SELECT c.x, x FROM c ORDER BY c.x; WITH c (a, x) AS (SELECT 1, 2), q (x) AS (SELECT c.x FROM c WHERE c.x < x) SELECT q.x, x FROM q; END;
CALL vw_commons();
CREATE PROCEDURE vw_recurses() BEGIN DECLARE n INT DEFAULT 3; WITH RECURSIVE q (n) AS (SELECT 1 UNION ALL SELECT q.n + 1 FROM q WHERE q.n < n) SELECT q.n FROM q ORDER BY q.n; INSERT INTO vword (id, x) WITH c (n) AS (SELECT 6) SELECT c.n, n FROM c; SELECT id, vword.x FROM vword WHERE id > 5; DELETE FROM vword WHERE id > 5; END;
CALL vw_recurses();
-- only: mysql
CREATE PROCEDURE vw_derived() BEGIN DECLARE x INT DEFAULT 3; SELECT q.x, x FROM (SELECT id FROM vword WHERE id < x) AS q (x) ORDER BY q.x; SELECT q.x, x FROM (SELECT id FROM vword WHERE id < x) q(x) ORDER BY q.x; SELECT q.x, vword.id FROM vword, LATERAL (SELECT vword.g + x) q (x) ORDER BY vword.id; END;
-- only: mysql
CALL vw_derived();
-- only: mysql
CREATE PROCEDURE vw_newrow() BEGIN DECLARE x, y INT DEFAULT 3; INSERT INTO vword (id, x) VALUES (1, x) AS new (y, x) ON DUPLICATE KEY UPDATE vword.x = new.x + x, g = new.y; SELECT id, vword.x, g FROM vword WHERE id = 1; END;
-- only: mysql
CALL vw_newrow();
CREATE PROCEDURE vw_windows() BEGIN DECLARE w, x INT DEFAULT 3; SELECT id, SUM(vword.x) OVER w FROM vword WHERE id < w WINDOW w AS (ORDER BY id) ORDER BY id; SELECT id, SUM(vword.x) OVER (w ROWS 1 PRECEDING) FROM vword WHERE id < w WINDOW w AS (ORDER BY id) ORDER BY id; SELECT id, SUM(vword.x) OVER x FROM vword WHERE id < x WINDOW w AS (PARTITION BY g), x AS (w ORDER BY id) ORDER BY id; END;
CALL vw_windows();
CREATE PROCEDURE vw_hints() BEGIN DECLARE x, day INT DEFAULT 2; SELECT id FROM vword USE INDEX (day) WHERE g = day ORDER BY id; SELECT id FROM vword FORCE INDEX FOR JOIN (x) WHERE g = day ORDER BY id; SELECT id FROM vword IGNORE INDEX FOR ORDER BY (day, x) WHERE g = day ORDER BY id; END;
CALL vw_hints();
CREATE PROCEDURE vw_json() BEGIN DECLARE x, error VARCHAR(20) DEFAULT 'w'; SELECT j.x, x FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (x INT PATH '$' NULL ON EMPTY NULL ON ERROR)) j ORDER BY j.x; END;
CALL vw_json();
-- only: mysql
CREATE PROCEDURE vw_jsonvalue() BEGIN DECLARE date, error VARCHAR(20) DEFAULT 'w'; SELECT JSON_VALUE('{"a": "2020-02-01"}', '$.a' RETURNING DATE NULL ON EMPTY NULL ON ERROR), date, error; END;
-- only: mysql
CALL vw_jsonvalue();
CREATE PROCEDURE vw_locks() BEGIN DECLARE skip, nowait, locked INT DEFAULT 2; SELECT id FROM vword WHERE id = skip FOR UPDATE NOWAIT; SELECT id FROM vword WHERE id = nowait FOR UPDATE SKIP LOCKED; END;
CALL vw_locks();
-- only: mysql
CREATE PROCEDURE vw_locksof() BEGIN DECLARE q, r INT DEFAULT 2; SELECT q.id FROM vword q JOIN vword r ON r.id = q.id WHERE q.id = q FOR UPDATE OF q, r; SELECT q.id FROM vword q WHERE q.id = q FOR SHARE OF q SKIP LOCKED; END;
-- only: mysql
CALL vw_locksof();
-- Numbers of rows.
CREATE PROCEDURE vw_limits() BEGIN DECLARE x INT DEFAULT 2; SELECT id FROM vword ORDER BY id LIMIT x; SELECT id FROM vword ORDER BY id LIMIT x, x; SELECT id FROM vword ORDER BY id LIMIT 1 OFFSET x; END;
CALL vw_limits();
CREATE TABLE vwone (id INT PRIMARY KEY) COMMENT 'skarv:single';
INSERT INTO vwone VALUES (1), (2), (3), (4), (5);
-- only: mariadb
CREATE PROCEDURE vw_fetches() BEGIN DECLARE x, y INT DEFAULT 2; SELECT id FROM vwone ORDER BY id FETCH FIRST x ROWS ONLY; SELECT id FROM vwone ORDER BY id FETCH NEXT x ROWS ONLY; SELECT id FROM vwone ORDER BY id OFFSET x ROWS FETCH FIRST y ROWS ONLY; SELECT id FROM vwone ORDER BY id OFFSET y ROWS FETCH NEXT x ROW ONLY; SET x = NULL; SELECT id FROM vwone ORDER BY id FETCH FIRST x ROWS ONLY; END;
-- only: mariadb
CALL vw_fetches();
CREATE PROCEDURE vw_first() BEGIN DECLARE x INT DEFAULT 2; SELECT first x, g FROM (SELECT g AS first, g FROM vword WHERE id = x) q; END;
CALL vw_first();
-- only: mariadb
CREATE PROCEDURE vw_executes() BEGIN DECLARE x INT DEFAULT 2; PREPARE s FROM 'SELECT id FROM vword WHERE id = ?'; EXECUTE s USING x; END;
-- only: mariadb
CALL vw_executes();
-- A variable may have the name of a reserved word, between quotes.
CREATE PROCEDURE vw_reserved(IN `select` INT, IN `from` INT, IN `where` INT) BEGIN SELECT id FROM vword WHERE id IN (SELECT id FROM vword WHERE id = `select` AND id < `where` AND `from` > 1); UPDATE vword SET g = `from` WHERE id = `select`; SELECT id, g FROM vword WHERE g = `from`; END;
CALL vw_reserved(2, 30, 4);
