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
