-- Common table expressions that are read from more places than one: their rows are stored once.
CREATE TABLE a (id INT PRIMARY KEY, n INT, d DECIMAL(8,2), b DECIMAL(10,3), s VARCHAR(20), da DATE, u BIGINT UNSIGNED, e ENUM('x','y'), bi BIT(5), y YEAR, j JSON, vb VARBINARY(8), tx TEXT);
INSERT INTO a VALUES (1, 1, 1.50, 2.125, 'a', '2024-02-29', 1, 'x', b'1', 2024, '{"k": 1}', x'41', 'one'), (2, 2, 1.50, -1, 'A', '2023-12-31', 18446744073709551615, 'y', b'101', 1999, '[1, "x"]', x'00ff', 'two'), (3, 1, 2.25, NULL, 'b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, NULL, NULL, 0.5, NULL, '2024-02-29', 0, 'x', b'0', 2000, '3', x'', 'ß'), (5, 3, -3.00, 1.25, 'é', '2000-01-01', 7, 'y', b'11', 2000, '"s"', x'41', 'one'), (6, 2, 4.10, 2, 'zz', '2024-01-01', 7, 'x', b'1', NULL, NULL, NULL, 'x');
CREATE TABLE k (p INT, q INT, n INT, d DECIMAL(12,4), PRIMARY KEY (p, q)) PARTITION BY KEY (p);
INSERT INTO k VALUES (1, 1, 1, 1.5), (1, 2, 2, 2.25), (2, 1, NULL, 3), (3, 1, 1, NULL), (3, 2, 3, 0.125), (3, 3, 2, 7), (4, 1, 5, 1.5);
CREATE TABLE tree (id BIGINT PRIMARY KEY, up BIGINT, w INT);
INSERT INTO tree VALUES (1, NULL, 3), (2, 1, 5), (3, 1, 7), (4, 2, 2), (5, 2, 4), (6, 3, 1), (7, 6, 9);
CREATE TABLE r (id INT PRIMARY KEY, name VARCHAR(10)) COMMENT 'skarv:reference';
INSERT INTO r VALUES (1, 'one'), (2, 'two'), (3, NULL);
WITH x AS (SELECT * FROM a ORDER BY id LIMIT 4) SELECT p.id, q.s FROM x p JOIN x q ON p.id = q.id ORDER BY p.id;
WITH x AS (SELECT n, ROW_NUMBER() OVER (ORDER BY id) rn FROM a) SELECT p.n, q.n m FROM x p JOIN x q ON p.rn = q.rn + 1 ORDER BY p.rn;
WITH x AS (SELECT p, n, d, ROW_NUMBER() OVER (PARTITION BY p ORDER BY q) rn FROM k) SELECT a.p, a.n, a.d - b.d diff FROM x a LEFT JOIN x b ON a.p = b.p AND a.rn = b.rn + 1 ORDER BY a.p, a.rn;
WITH x AS (SELECT n, LAG(d) OVER (ORDER BY id) l FROM a) SELECT COUNT(*) FROM x p JOIN x q ON p.l = q.l;
WITH x AS (SELECT n, RANK() OVER (ORDER BY SUM(d) DESC) rk FROM a GROUP BY n), y AS (SELECT * FROM x WHERE rk < 3) SELECT * FROM y UNION ALL SELECT * FROM x ORDER BY n, rk;
WITH x(v, c) AS (SELECT n, COUNT(*) FROM k GROUP BY n) SELECT v, c, c / (SELECT SUM(c) FROM x) AS share FROM x ORDER BY v;
WITH x AS (SELECT DISTINCT da FROM a) SELECT x.da, (SELECT MAX(y.da) FROM x y WHERE y.da < x.da) prev FROM x ORDER BY 1;
WITH x AS (SELECT n FROM a UNION SELECT p FROM k) SELECT * FROM x WHERE n > (SELECT AVG(n) FROM x) ORDER BY n;
WITH unused AS (SELECT id FROM a), x AS (SELECT n, MAX(d) m FROM a GROUP BY n HAVING COUNT(*) > 0) SELECT x.n, y.m FROM x JOIN x y ON x.n <=> y.n ORDER BY 1;
WITH m AS (SELECT id, n FROM a WHERE n > 0), y AS (SELECT n, COUNT(*) c FROM m GROUP BY n) SELECT m.id, y.c, z.c FROM m JOIN y ON y.n = m.n LEFT JOIN y z ON z.n = m.n + 1 ORDER BY m.id;
WITH m AS (SELECT id, n FROM a WHERE n > 0), y AS (SELECT u.n, COUNT(*) c FROM m u JOIN m v ON u.id = v.n GROUP BY u.n) SELECT m.id, y.c, z.c FROM m JOIN y ON y.n = m.n LEFT JOIN y z ON z.n = m.n + 1 ORDER BY m.id;
WITH x AS (SELECT e, bi, y, j, vb, tx, da, MIN(u) u FROM a GROUP BY e, bi, y, j, vb, tx, da) SELECT p.*, COUNT(*) c FROM x p JOIN x q ON p.da = q.da GROUP BY p.e, p.bi, p.y, p.j, p.vb, p.tx, p.da, p.u ORDER BY p.da, p.e, p.u;
WITH x AS (SELECT n, AVG(d) a, SUM(d) / 3 b, STD(n) s, NULL z, 'lit' l FROM a GROUP BY n) SELECT x.*, y.a ya FROM x JOIN x y ON x.n = y.n ORDER BY x.n;
-- A server looks by a condition into what it has stored by a key, which the rows show: without, they would go through a temporary table.
WITH x AS (SELECT DISTINCT d, b FROM a) SELECT CASE WHEN x.d = y.d THEN -x.d ELSE CAST(x.b AS DECIMAL(10,3)) END v FROM x JOIN x y USING (d) ORDER BY x.b, v, y.b;
WITH x AS (SELECT d, b FROM a UNION SELECT b, d FROM a) SELECT CASE WHEN x.d = x.d THEN -x.d ELSE CAST(x.b AS DECIMAL(10,3)) END v FROM x WHERE EXISTS (SELECT 1 FROM x y WHERE y.b = x.d) ORDER BY x.b, v;
-- Recursive ones.
WITH RECURSIVE t AS (SELECT id, w FROM tree WHERE id = 1 UNION SELECT c.id, c.w + t.w FROM tree c JOIN t ON c.up = t.id) SELECT t.*, (SELECT COUNT(*) FROM t x WHERE x.w <= t.w) r FROM t ORDER BY id, w;
WITH RECURSIVE t AS (SELECT id, w FROM tree WHERE id = 1 UNION ALL SELECT c.id, c.w + t.w FROM tree c JOIN t ON c.up = t.id), z(i, v) AS (SELECT t.id, SUM(a.n) FROM t JOIN a USING (id) GROUP BY t.id) SELECT x.*, a.s FROM z x JOIN z y ON x.i = y.i + 1 JOIN t ON t.id = x.i JOIN a ON a.id = t.id ORDER BY x.i, t.w;
-- Inside of others.
SELECT n + 0 n, c + 0 c FROM (WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) SELECT a.n, b.c FROM x a JOIN x b ON a.n = b.n) z ORDER BY 1, 2;
SELECT id FROM a WHERE n IN (WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) SELECT a.n FROM x a JOIN x b ON a.n = b.c) ORDER BY 1;
(WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) SELECT a.n FROM x a JOIN x b ON a.n = b.n) UNION ALL SELECT 99 ORDER BY 1;
CREATE VIEW vx AS WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) SELECT a.n, b.c FROM x a JOIN x b ON a.n = b.n;
SELECT n + 0 n, c + 0 c FROM vx ORDER BY 1, 2;
DROP VIEW vx;
WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n), y AS (SELECT id FROM a WHERE d > 1) SELECT n FROM x INTERSECT SELECT c FROM x UNION SELECT id FROM y EXCEPT SELECT id + 1 FROM y ORDER BY 1;
WITH x AS (SELECT n FROM a INTERSECT SELECT p FROM k) SELECT x.n, y.n m FROM x JOIN x y ON x.n = y.n + 1 ORDER BY 1;
-- Their warnings are told once.
WITH x AS (SELECT p, 1 / 0 z FROM k WHERE p = 1) SELECT COUNT(*) FROM x JOIN x y ON x.p = y.p JOIN a ON a.n = x.p;
-- By chance.
WITH x AS (SELECT id, RAND() c FROM a LIMIT 10) SELECT SUM(x.c <> y.c) FROM x JOIN x y ON x.id = y.id;
-- In writes.
CREATE TABLE w (id INT PRIMARY KEY, n INT, d DECIMAL(8,2), s VARCHAR(10));
INSERT INTO w VALUES (1, 1, 1, 'a'), (2, 2, 2, 'b'), (3, 3, 3, 'c'), (4, 4, 4, 'd');
-- only: mysql
WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) UPDATE w SET n = (SELECT MAX(c) FROM x) WHERE d < (SELECT MIN(n) + 3 FROM x);
-- only: mysql
WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) UPDATE w JOIN x ON x.n = w.n JOIN x y ON y.n = w.d SET w.d = x.c + y.c;
-- only: mysql
WITH x AS (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) rn FROM w) UPDATE w JOIN x a ON a.id = w.id JOIN x b ON b.rn = a.rn + 1 SET w.n = b.id;
SELECT * FROM w ORDER BY id;
-- only: mysql
WITH x AS (SELECT n FROM k WHERE n > 1) DELETE w FROM w JOIN x a ON a.n = w.id JOIN x b ON b.n = a.n;
SELECT * FROM w ORDER BY id;
INSERT INTO w WITH x AS (SELECT p, COUNT(*) c FROM k GROUP BY p) SELECT a.p + 100, a.c, b.c, 'k' FROM x a JOIN x b ON a.p = b.p + 1;
INSERT INTO w WITH x AS (SELECT p, COUNT(*) c FROM k GROUP BY p) SELECT a.p + 100, a.c, b.c, 'k2' FROM x a JOIN x b ON a.p = b.p + 1 ON DUPLICATE KEY UPDATE s = 'dup';
INSERT IGNORE INTO w (id, n) WITH RECURSIVE r AS (SELECT 500 i, MIN(n) m FROM k UNION ALL SELECT i + 1, m + 1 FROM r WHERE i < 505) SELECT r.i, z.m FROM r JOIN r z ON z.i = r.i + 1;
REPLACE INTO w (id, n) WITH x AS (SELECT id, ROW_NUMBER() OVER (ORDER BY id) rn FROM w) SELECT a.id, b.rn FROM x a JOIN x b ON a.rn = b.rn + 1;
SELECT * FROM w ORDER BY id;
SET @x = (WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) SELECT COUNT(*) FROM x a JOIN x b ON a.c = b.c);
WITH x AS (SELECT n, COUNT(*) c FROM k GROUP BY n) SELECT COUNT(*), MAX(a.c) INTO @c, @m FROM x a JOIN x b ON a.c = b.c;
SELECT @x, @c, @m;
BEGIN;
UPDATE a SET n = 5 WHERE id = 3;
WITH x AS (SELECT n, COUNT(*) c FROM a GROUP BY n) SELECT x.n, y.c, r.name FROM x JOIN x y ON x.n = y.n JOIN k ON k.n = x.n LEFT JOIN r ON r.id = x.n ORDER BY x.n;
ROLLBACK;
-- Parameters, and queries in the select list.
-- args: [1, 2]
WITH x AS (SELECT n, COUNT(*) c FROM k WHERE n > ? GROUP BY n) SELECT x.n AS n, (SELECT MAX(c) FROM x) AS m, (SELECT COUNT(*) FROM a) AS z FROM x JOIN x y ON x.n = y.n WHERE x.n >= ? ORDER BY 1;
-- args: [1]
WITH unread AS (SELECT id FROM a WHERE n = ?) SELECT k.p AS p, (SELECT COUNT(*) FROM a WHERE a.n < k.q) AS z FROM k JOIN a ON a.n = k.n ORDER BY 1, 2;
