-- A BIT column comes as bytes or as a number, depending on how a server has made the result.
CREATE TABLE t (id INT PRIMARY KEY, b BIT(9), one BIT(1) NOT NULL DEFAULT 0);
INSERT INTO t VALUES (1, 5, 1), (2, 12, 0), (3, 5, 1), (4, NULL, 0), (5, 300, 1), (6, 12, 0), (7, 100, 1), (8, 0, 0);
SELECT DISTINCT b FROM t WHERE NOT (id = 100) ORDER BY 1;
SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY b;
SELECT b + 0 AS n, COUNT(*), SUM(one), MAX(b), MIN(one) FROM t GROUP BY n ORDER BY n;
SELECT id, b FROM t ORDER BY b, id;
SELECT MAX(b), MIN(b), COUNT(DISTINCT b) FROM t;
SELECT one, COUNT(*) FROM t GROUP BY one;
SELECT x.id, y.id FROM t x JOIN t y ON x.b = y.b AND x.id < y.id ORDER BY 1, 2;
SELECT DISTINCT b FROM t;
