-- A parameter is no literal: its type comes from where it stands, also where Skarv makes another statement of it.
CREATE TABLE p1 (id INT PRIMARY KEY, a INT, s VARCHAR(10), d DECIMAL(8,2), w DATE, m DATETIME(3), f FLOAT, r DOUBLE);
INSERT INTO p1 VALUES (1, 1, 'ann', 1.5, '2026-01-01', '2026-01-01 10:00:00.5', 16777217, 0.1), (2, 2, 'Ann', 2.25, '2026-01-02', '2026-01-02', 0.1, 1e300),
 (3, NULL, 'bob ', -1, NULL, NULL, NULL, NULL), (4, 4, NULL, 7.10, '1999-01-01', '1999-12-31 23:59:59.999', 1.17549e-38, -2.5);
-- args: ["abc"]
SELECT id FROM p1 WHERE w = ? ORDER BY id;
-- args: ["2026-13-01"]
SELECT id FROM p1 WHERE w > ? ORDER BY id;
-- args: ["2026-01-01"]
SELECT id, w FROM p1 WHERE w >= ? ORDER BY w;
-- args: ["abc"]
SELECT COUNT(*) FROM p1 x JOIN p1 y ON x.a = y.id WHERE x.w = ?;
-- args: ["7.1"]
SELECT id FROM p1 WHERE d = ? ORDER BY id;
-- args: [7.1]
SELECT id FROM p1 WHERE d = ? ORDER BY id;
-- args: ["1.5", "x"]
SELECT id, ? FROM p1 WHERE d <= ? ORDER BY id;
-- args: [1, "x", null, 2.5]
SELECT id, ?, ?, ?, ? + 1 FROM p1 ORDER BY id;
-- args: [2]
SELECT id, a FROM p1 ORDER BY ?, id;
-- args: [2]
SELECT a, COUNT(*) FROM p1 GROUP BY ?, a;
-- args: [2, 1]
SELECT id, a FROM p1 ORDER BY id LIMIT ? OFFSET ?;
-- args: ["1"]
SELECT id FROM p1 WHERE a = ? ORDER BY id;
-- args: ["1x"]
SELECT id FROM p1 WHERE a = ? ORDER BY id;
-- args: ["ann"]
SELECT id FROM p1 WHERE s = ? ORDER BY id;
-- args: ["ann", "bob "]
SELECT LOWER(s), COUNT(*) FROM p1 WHERE s IN (?, ?) GROUP BY LOWER(s) ORDER BY 1;
-- args: ["!"]
SELECT CONCAT(s, ?) AS c, COUNT(*), MAX(d) FROM p1 GROUP BY c ORDER BY c;
-- args: [1, 2, 9]
SELECT * FROM p1 WHERE id IN (?, ?, ?) ORDER BY id;
-- args: [1]
SELECT f, r, f + ? FROM p1 ORDER BY id;
-- args: [1]
SELECT MAX(f), MIN(r), SUM(a) + ? FROM p1;
-- args: ["2026-01-01 10:00:00.5"]
SELECT id, m FROM p1 WHERE m = ? ORDER BY id;
-- args: [3, "abc"]
UPDATE p1 SET a = ? WHERE w = ?;
-- args: [1, "1999-01-01"]
UPDATE p1 SET a = a + ? WHERE w = ?;
-- args: ["zoe", 7.1]
UPDATE p1 x JOIN p1 y ON x.a = y.id SET x.s = ? WHERE y.d = ?;
-- args: [10, "2026-01-02"]
UPDATE p1 SET id = id + ? WHERE w = ?;
-- args: ["abc"]
DELETE FROM p1 WHERE w = ?;
SELECT * FROM p1 ORDER BY id;
-- args: [100, "2026-01-02"]
INSERT INTO p1 (id, s) SELECT id + ?, s FROM p1 WHERE w = ?;
-- args: [200, "n", "1.25"]
INSERT INTO p1 (id, s, d) VALUES (?, ?, ?);
SELECT * FROM p1 ORDER BY id;
SET @a = 'abc', @b = 7.1, @c = 2, @d = 1.5e0;
PREPARE s1 FROM 'SELECT id FROM p1 WHERE w = ? ORDER BY id';
EXECUTE s1 USING @a;
PREPARE s2 FROM 'SELECT id, ?, ?, ?, ? FROM p1 WHERE d = ? ORDER BY id';
EXECUTE s2 USING @a, @b, @c, @d, @b;
PREPARE s3 FROM 'SELECT f, r, ? FROM p1 ORDER BY id';
EXECUTE s3 USING @c;
PREPARE s4 FROM 'SELECT x.id, y.f, ? FROM p1 x JOIN p1 y ON x.a = y.id WHERE x.d < ? ORDER BY x.id';
EXECUTE s4 USING @d, @b;
-- MySQL gives parameters types by the first execution: one statement's are not another one's.
-- args: [5, 1]
SELECT COUNT(*), ? AS x FROM p1 WHERE id >= ?;
-- args: ["five", 1]
SELECT COUNT(*), ? AS x FROM p1 WHERE id >= ?;
-- args: [5]
SELECT ? AS x;
-- args: ["five"]
SELECT ? AS x;
-- args: [null]
SELECT ? AS x;
-- args: ["six"]
SELECT id, ? AS x FROM p1 WHERE id = 1;
-- args: [6]
SELECT id, ? AS x FROM p1 WHERE id = 1;
-- args: [2]
SELECT AVG(?), a FROM p1 GROUP BY a ORDER BY a;
-- args: [2.5]
SELECT MIN(id), AVG(?) FROM p1;
-- What a statement was run with before decides on MySQL what a parameter is; what others have run it with does not.
CREATE TABLE p2 (id INT PRIMARY KEY, n INT, v VARCHAR(20), d DECIMAL(10,2), f DOUBLE);
INSERT INTO p2 VALUES (1, 1, 'a', 1.5, 0.5), (2, 2, '5', 2.5, 5), (3, NULL, '7', 7, 7), (4, 5, 'abc', -3, -3), (5, 7, '2.5', 5, 2.5);
-- args: [5]
-- args: ["7"]
-- args: ["2.5"]
-- args: ["05"]
-- args: [null]
SELECT id FROM p2 WHERE v > ? ORDER BY id;
-- args: ["7"]
SELECT id, n + ? AS x FROM p2 ORDER BY id;
-- args: ["-3"]
-- args: ["7"]
SELECT id, n + ? AS x FROM p2 ORDER BY id;
-- args: ["7"]
SELECT id, n + ? AS x FROM p2 ORDER BY id;
-- args: [2.5]
-- args: [5]
-- args: ["7"]
SELECT id, n + ? AS x FROM p2 WHERE id = 2;
-- args: ["7"]
SELECT id, n + ? AS x FROM p2 WHERE id = 2;
-- args: [2.5]
-- args: ["05"]
-- args: [7]
SELECT ? AS x, COUNT(*) FROM p2;
-- args: ["x"]
-- args: [5]
-- args: ["05"]
UPDATE p2 SET v = ? WHERE id = 1;
SELECT v FROM p2 WHERE id = 1;
-- args: [5]
-- args: ["07"]
UPDATE p2 SET v = CONCAT(?, '!');
SELECT v FROM p2 ORDER BY id;
-- args: ["abc", 1]
-- args: ["05", 2.5]
-- args: [7, "1"]
-- args: ["05", "1"]
SELECT CAST(? AS CHAR) AS x FROM p2 WHERE n > ? ORDER BY id;
SET @five = 5, @text = '07', @half = 2.5, @double = 2.5e0;
PREPARE q FROM 'SELECT id FROM p2 WHERE v > ? ORDER BY id';
EXECUTE q USING @text;
EXECUTE q USING @five;
EXECUTE q USING @text;
PREPARE q FROM 'SELECT ? AS x';
EXECUTE q USING @half;
EXECUTE q USING @five;
EXECUTE q USING @text;
PREPARE q FROM 'UPDATE p2 SET v = ? WHERE id = 2';
EXECUTE q USING @double;
EXECUTE q USING @text;
SELECT v FROM p2 WHERE id = 2;
PREPARE q FROM 'SET @x = ? + 1, @y = COALESCE(?, 1)';
EXECUTE q USING @text, @text;
SELECT @x, @y;
EXECUTE q USING @half, @text;
SELECT @x, @y;
EXECUTE q USING @text, @text;
SELECT @x, @y;
-- args: ["7"]
SET @x = ? + 1;
SELECT @x;
-- args: [2.5]
-- args: ["7"]
SET @x = ? + 1;
SELECT @x;
DROP TABLE p2;
-- Times as strings beside a number that has another type than its place asks for, as mysql2 (Node.js) sends both: run again.
CREATE TABLE par_when (id INT PRIMARY KEY, n INT, at DATETIME, d DATE);
-- args: [1, 5.0, "2024-01-01 10:00:00", "2024-01-01"]
-- args: [2, 6.0, "2024-01-02 10:00:01.7", "2024-01-02"]
-- args: [3, 7.0, null, null]
-- args: [4, 8.0, "2024-01-32", "2024-01-02"]
-- args: [5, 9.0, "", "2024-01-02"]
INSERT INTO par_when (id, n, at, d) VALUES (?, ?, ?, ?);
-- args: [5.0, "2024-01-01 10:00:00"]
-- args: [6.0, "2024-01-02"]
SELECT id FROM par_when WHERE n >= ? AND at >= ? ORDER BY id;
-- args: [1.0, "2024-01-01 10:00:00"]
-- args: [2.0, "2024-01-02 10:00:02"]
UPDATE par_when SET n = n + ? WHERE at = ?;
SELECT * FROM par_when ORDER BY id;
DROP TABLE par_when;
-- A value of another type has the statement prepared again; what dates are written as stays what it was.
CREATE TABLE spent (id INT PRIMARY KEY, amount DECIMAL(10,2), on_day DATE, at DATETIME(3), dur TIME, u INT UNIQUE);
-- args: [7, 10.5, "2020-01-02", "2020-01-02 10:00:00.5", "10:00:00", 1]
-- args: [9, null, "2020-01-03", "2020-01-03 10:00:00", "11:00:00", 2]
-- args: [10, "5.25", "2020-01-03", null, null, null]
-- args: [11, null, null, "2020-01-03 10:00:00.25", "23:00:00", 3]
-- args: [12, null, null, null, null, null]
INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?);
-- args: [13, 10.5, "2020-01-02", 14, null, "2020-02-29"]
-- args: [15, null, "2020-01-03", 16, null, "2020-01-04"]
INSERT INTO spent (id, amount, on_day) VALUES (?, ?, ?), (?, ?, ?);
-- args: [1.5, "2020-05-05", 7]
-- args: [null, "2020-05-06", 9]
UPDATE spent SET amount = ?, on_day = ? WHERE id = ?;
-- args: [0.5, "2020-05-06"]
-- args: [null, "2020-05-06"]
-- args: [0.5, "2020-05-06"]
SELECT id FROM spent WHERE amount > ? OR on_day = ? ORDER BY id;
-- args: [0.5, "2020-05-06", "2020-01-03"]
-- args: [null, "2020-05-06", "2020-01-04"]
SELECT id FROM spent WHERE amount > ? OR on_day IN (?, ?) ORDER BY id;
SELECT * FROM spent ORDER BY id;
DROP TABLE spent;
