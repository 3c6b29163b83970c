-- An AVG that is taken apart into a sum and a count has more digits in its type than the quotient of them: the columns of the result are
-- those that one server tells, and where they cannot be, the statement runs in another way.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b BIGINT, d DECIMAL(10,3), g INT);
CREATE TABLE u (id INT PRIMARY KEY, n INT);
CREATE TABLE r (id INT PRIMARY KEY, n INT) COMMENT 'skarv:reference';
INSERT INTO t VALUES (1,2,3,4.5,1),(2,3,4,5.5,1),(3,3,4,5.5,2),(4,3,NULL,5.5,2),(5,1,7,0.1,3),(6,4,1,2.2,3),(7,1,NULL,NULL,4),(8,9,9,9.9,NULL);
INSERT INTO u VALUES (1,1),(2,4),(3,7),(5,2);
INSERT INTO r VALUES (1,1),(2,2),(3,3);
SELECT ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT CEIL(AVG(t.d) / 7) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, CEIL(AVG(t.d) / 7) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, CEIL(AVG(t.d) / 7) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT FLOOR(AVG(t.a)) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, FLOOR(AVG(t.a)) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, FLOOR(AVG(t.a)) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT AVG(t.b) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, AVG(t.b) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, AVG(t.b) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT AVG(t.d) + SUM(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, AVG(t.d) + SUM(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, AVG(t.d) + SUM(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT -AVG(t.b) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, -AVG(t.b) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, -AVG(t.b) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT IFNULL(AVG(t.b), 0) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, IFNULL(AVG(t.b), 0) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, IFNULL(AVG(t.b), 0) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT COALESCE(ROUND(AVG(t.d), 1), 7.25) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, COALESCE(ROUND(AVG(t.d), 1), 7.25) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, COALESCE(ROUND(AVG(t.d), 1), 7.25) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT AVG(t.b) * COUNT(*) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, AVG(t.b) * COUNT(*) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, AVG(t.b) * COUNT(*) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT CAST(AVG(t.b) AS CHAR) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, CAST(AVG(t.b) AS CHAR) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, CAST(AVG(t.b) AS CHAR) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT AVG(t.b) > 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, AVG(t.b) > 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x ORDER BY x.v;
SELECT x.v FROM (SELECT t.g, AVG(t.b) > 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
-- args: [7]
SELECT CONCAT(?) AS c, x.v FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT CONCAT(?) AS c, x.v FROM (SELECT t.g, SUM(t.b) * 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT CONCAT(?) AS c, x.v FROM (SELECT t.g, AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT ? AS c, x.v FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT ? AS c, x.v FROM (SELECT t.g, SUM(t.b) * 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT ? AS c, x.v FROM (SELECT t.g, AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT x.v, x.v + ? FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT x.v, x.v + ? FROM (SELECT t.g, SUM(t.b) * 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT x.v, x.v + ? FROM (SELECT t.g, AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT COALESCE(?, x.v) FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT COALESCE(?, x.v) FROM (SELECT t.g, SUM(t.b) * 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT COALESCE(?, x.v) FROM (SELECT t.g, AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT CONCAT(x.v, ?) FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT CONCAT(x.v, ?) FROM (SELECT t.g, SUM(t.b) * 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT CONCAT(x.v, ?) FROM (SELECT t.g, AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT x.v * ? AS w FROM (SELECT t.g, ROUND(AVG(t.b) * 3, 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT x.v * ? AS w FROM (SELECT t.g, SUM(t.b) * 2 AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [7]
SELECT x.v * ? AS w FROM (SELECT t.g, AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) ORDER BY x.v;
-- args: [3]
SELECT AVG(t.b) * ? AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [2.5]
SELECT AVG(t.b) * ? AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [3]
SELECT ROUND(AVG(t.b), ?) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [2.5]
SELECT ROUND(AVG(t.b), ?) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [3]
SELECT ? + AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [2.5]
SELECT ? + AVG(t.d) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [3]
SELECT SUM(t.b) * ? AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [2.5]
SELECT SUM(t.b) * ? AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [3]
SELECT CEIL(AVG(t.d) / ?) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
-- args: [2.5]
SELECT CEIL(AVG(t.d) / ?) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT CONCAT(AVG(t.b), 'x') AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, CONCAT(AVG(t.b), 'x') AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT CONCAT(ROUND(AVG(t.b) * 3, 2), '') AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, CONCAT(ROUND(AVG(t.b) * 3, 2), '') AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT FORMAT(AVG(t.b), 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, FORMAT(AVG(t.b), 2) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT IF(AVG(t.b) > 3, AVG(t.b), 'none') AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, IF(AVG(t.b) > 3, AVG(t.b), 'none') AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT LEFT(AVG(t.b), 3) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, LEFT(AVG(t.b), 3) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT NULLIF(AVG(t.b), 4) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, NULLIF(AVG(t.b), 4) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
SELECT CASE WHEN COUNT(*) > 1 THEN AVG(t.b) * 2 END AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g ORDER BY v;
SELECT x.v FROM (SELECT t.g, CASE WHEN COUNT(*) > 1 THEN AVG(t.b) * 2 END AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5) GROUP BY x.v ORDER BY x.v;
CREATE TABLE made SELECT x.v FROM (SELECT t.g, CEIL(AVG(t.d) / 7) AS v FROM t LEFT JOIN r ON t.a = r.id GROUP BY t.g) x WHERE 4 >= ALL (SELECT n FROM u WHERE n < 5);
SELECT v FROM made ORDER BY v;
