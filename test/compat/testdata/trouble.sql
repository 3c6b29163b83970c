-- What went wrong elsewhere. The headings are those of docs/sql-coverage.md, which a test holds against this file.
CREATE TABLE few (id INT PRIMARY KEY, n INT, d DECIMAL(10,2), f DOUBLE, s VARCHAR(10) COLLATE utf8mb4_general_ci, at DATE);
CREATE TABLE vals (id INT PRIMARY KEY, s VARCHAR(10) COLLATE utf8mb4_general_ci, b VARCHAR(10) COLLATE utf8mb4_bin, f DOUBLE, n INT, d DECIMAL(10,2)) DEFAULT CHARSET utf8mb4;
CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(20), region VARCHAR(10));
CREATE TABLE o (id INT PRIMARY KEY, cid INT, amount DECIMAL(10,2));
CREATE TABLE cl (cid INT, no INT, amount INT, PRIMARY KEY (cid, no)) PARTITION BY KEY (cid);

-- trouble: empty shards in aggregates
INSERT INTO few VALUES (1, 5, 1.50, 0.5, 'one', '2020-01-01');
SELECT COUNT(*), SUM(n), AVG(n), MIN(n), MAX(n), MIN(s), MAX(at), AVG(d), SUM(f) FROM few;
SELECT n, COUNT(*), SUM(d) FROM few GROUP BY n ORDER BY n;
SELECT COUNT(DISTINCT n), COUNT(n), COUNT(*) FROM few WHERE n > 1;
SELECT STD(n), VARIANCE(d), BIT_OR(n), BIT_AND(n), BIT_XOR(n) FROM few;
-- trouble: MIN, MAX and SUM of nothing
SELECT COUNT(*), SUM(n), AVG(n), MIN(n), MAX(n), MIN(s), MAX(at), SUM(d), AVG(d), SUM(f) FROM few WHERE id > 5;
SELECT n, SUM(n) FROM few WHERE id > 5 GROUP BY n;
SELECT SUM(n) + 1, COUNT(*) * 2, COALESCE(MAX(d), -1) FROM few WHERE id > 5;
SELECT MIN(n) FROM few WHERE id > 5 HAVING MIN(n) IS NULL;
SELECT SUM(n) FROM few WHERE n IS NULL;
SELECT BIT_AND(n), BIT_OR(n), GROUP_CONCAT(s), STD(n) FROM few WHERE id > 5;
-- trouble: minus zero, NULL, trailing spaces and case in DISTINCT, UNION and GROUP BY
INSERT INTO vals VALUES (1, 'a', 'a', 0.0, 0, 0.00), (2, 'A', 'A', -0.0, NULL, -0.00), (3, 'a ', 'a ', 1.5, 1, 1.10), (4, NULL, NULL, NULL, NULL, NULL), (5, '', '', 1.50, 1, 1.1), (6, ' ', ' ', -1.5, -1, -1.1), (7, 'á', 'á', 0.0, 0, 0), (8, NULL, NULL, NULL, NULL, NULL);
SELECT COUNT(DISTINCT s), COUNT(DISTINCT b), COUNT(DISTINCT f), COUNT(DISTINCT n), COUNT(DISTINCT d) FROM vals;
SELECT DISTINCT f + 0 FROM vals ORDER BY 1;
SELECT DISTINCT n FROM vals ORDER BY n;
SELECT DISTINCT d FROM vals ORDER BY d;
SELECT COUNT(*) FROM (SELECT DISTINCT b FROM vals) x;
SELECT COUNT(*) FROM (SELECT DISTINCT s FROM vals) x;
SELECT COUNT(*), MIN(id) FROM vals GROUP BY s ORDER BY 2;
SELECT COUNT(*), MIN(id) FROM vals GROUP BY b ORDER BY 2;
SELECT COUNT(*), MIN(id) FROM vals GROUP BY f ORDER BY 2;
SELECT COUNT(*), MIN(id) FROM vals GROUP BY n, d ORDER BY 2;
SELECT LOWER(TRIM(s)) AS t, COUNT(*) FROM vals GROUP BY t ORDER BY t;
SELECT COUNT(*) FROM (SELECT s FROM vals UNION SELECT b FROM vals) x;
SELECT n FROM vals UNION SELECT id FROM few ORDER BY n;
SELECT COUNT(*) FROM (SELECT n FROM vals UNION ALL SELECT n FROM few) x;
SELECT SUM(f), MIN(f), MAX(f) FROM vals;
-- trouble: LEFT JOIN predicates moved into WHERE
INSERT INTO c VALUES (1, 'ann', 'n'), (2, 'bob', 's'), (3, 'cid', NULL), (4, 'dan', 'n');
INSERT INTO o VALUES (1, 1, 5), (2, 1, 15), (3, 2, NULL), (4, 9, 1);
INSERT INTO cl VALUES (1, 1, 10), (1, 2, 20), (2, 1, NULL), (9, 1, 5);
SELECT c.id, o.id FROM c LEFT JOIN o ON o.cid = c.id AND o.amount > 10 ORDER BY 1, 2;
SELECT c.id, o.amount FROM c LEFT JOIN o ON o.cid = c.id WHERE o.amount > 10 ORDER BY 1, 2;
SELECT c.id, o.id FROM c LEFT JOIN o ON o.cid = c.id AND c.region = 'n' ORDER BY 1, 2;
SELECT c.id, o.id FROM c LEFT JOIN o ON o.cid = c.id WHERE c.region = 'n' OR o.amount IS NULL ORDER BY 1, 2;
SELECT c.id, cl.no FROM c LEFT JOIN cl ON cl.cid = c.id AND cl.amount > 10 ORDER BY 1, 2;
SELECT c.id, cl.no FROM c LEFT JOIN cl ON cl.cid = c.id AND c.region = 'n' WHERE cl.no IS NULL ORDER BY 1, 2;
SELECT c.id, cl.no FROM cl RIGHT JOIN c ON cl.cid = c.id AND c.id < 2 ORDER BY 1, 2;
-- trouble: LIMIT with GROUP BY
SELECT cid, COUNT(*) FROM o GROUP BY cid ORDER BY cid LIMIT 2;
SELECT cid, COUNT(*) FROM o GROUP BY cid ORDER BY COUNT(*) DESC, cid LIMIT 1;
SELECT cid, SUM(amount) FROM o GROUP BY cid ORDER BY cid LIMIT 2 OFFSET 1;
SELECT amount > 3, COUNT(*) FROM o GROUP BY 1 ORDER BY 1 LIMIT 1, 5;
SELECT DISTINCT cid FROM o ORDER BY cid LIMIT 2;
SELECT cid FROM cl GROUP BY cid ORDER BY cid LIMIT 1 OFFSET 1;
SELECT MAX(amount) FROM o LIMIT 1;
SELECT MAX(amount) FROM o LIMIT 0;
SELECT COUNT(*) FROM (SELECT cid FROM o GROUP BY cid LIMIT 2) x;
-- trouble: two connections to one node group in one transaction
BEGIN;
INSERT INTO o VALUES (20, 3, 7), (21, 4, 8), (22, 3, 9);
UPDATE c SET region = 'x' WHERE id = 3;
SELECT COUNT(*), SUM(amount) FROM o;
SELECT c.region, o.amount FROM c JOIN o ON o.cid = c.id WHERE o.id >= 20 ORDER BY o.id;
SELECT region FROM c WHERE id = 3;
SELECT COUNT(*) FROM c JOIN o ON o.amount > c.id WHERE c.region = 'x';
ROLLBACK;
SELECT COUNT(*), SUM(amount) FROM o;
SELECT region FROM c WHERE id = 3;
-- trouble: a multi-row INSERT partly outside of its transaction
BEGIN;
INSERT INTO o VALUES (30, 1, 1), (31, 2, 2), (32, 3, 3), (33, 4, 4), (34, 5, 5), (35, 6, 6);
SELECT COUNT(*) FROM o WHERE id >= 30;
ROLLBACK;
SELECT COUNT(*) FROM o WHERE id >= 30;
INSERT INTO o VALUES (40, 1, 1), (41, 2, 2), (42, 3, 3), (1, 4, 4), (43, 5, 5);
SELECT COUNT(*) FROM o WHERE id >= 40;
-- trouble: windows below a partitioning without the distribution key
SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS r FROM o ORDER BY id;
SELECT id, COUNT(*) OVER (PARTITION BY cid) AS n, SUM(amount) OVER (PARTITION BY cid ORDER BY id) AS t FROM o ORDER BY id;
SELECT cid, no, ROW_NUMBER() OVER (PARTITION BY cid ORDER BY no) AS r FROM cl ORDER BY cid, no;
SELECT cid, no, RANK() OVER (PARTITION BY no ORDER BY cid) AS r FROM cl ORDER BY cid, no;
SELECT cid, no, COUNT(*) OVER w AS n FROM cl WINDOW w AS (PARTITION BY no) ORDER BY cid, no;
SELECT cid, SUM(COUNT(*)) OVER (ORDER BY cid) AS t FROM o GROUP BY cid ORDER BY cid;
-- trouble: NOW, RAND and UUID evaluated once for each node group
SELECT COUNT(DISTINCT NOW(6)), COUNT(DISTINCT CURDATE()) FROM c;
SELECT COUNT(DISTINCT x) FROM (SELECT NOW(6) AS x FROM o) d;
SELECT COUNT(DISTINCT UUID()) = COUNT(*), COUNT(DISTINCT RAND()) = COUNT(*) FROM c;
SELECT COUNT(DISTINCT t.x) FROM (SELECT SYSDATE(6) > '2000-01-01' AS x FROM c) t;
BEGIN;
UPDATE c SET name = DATE_FORMAT(NOW(6), '%H%i%s%f');
SELECT COUNT(DISTINCT name) FROM c;
ROLLBACK;
-- trouble: hashing that depends on case and type
CREATE TABLE ci (k VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT) DEFAULT CHARSET utf8mb4;
CREATE TABLE dk (k DECIMAL(10,2) PRIMARY KEY, v INT);
CREATE TABLE ek (k ENUM('red','Blue','x y') PRIMARY KEY, v INT);
CREATE TABLE sk (k SET('a','b','c') PRIMARY KEY, v INT);
INSERT INTO ci VALUES ('abc', 1), ('Déf', 2), ('x', 3);
INSERT INTO ci VALUES ('ABC ', 9);
SELECT v FROM ci WHERE k = 'ABC';
SELECT v FROM ci WHERE k IN ('DEF', 'X ', 'none') ORDER BY v;
SELECT a.v, b.v FROM ci a JOIN ci b ON a.k = b.k WHERE b.k = 'dÉf';
INSERT INTO dk VALUES (1.50, 1), (2, 2), (-0.00, 3);
INSERT INTO dk VALUES ('1.5', 9);
SELECT v FROM dk WHERE k = 1.5;
SELECT v FROM dk WHERE k = '2';
SELECT v FROM dk WHERE k IN (0, 2.000) ORDER BY v;
INSERT INTO ek VALUES ('red', 1), (2, 2), ('X Y', 3);
SELECT v FROM ek WHERE k = 'BLUE';
SELECT v FROM ek WHERE k = 3;
INSERT INTO sk VALUES ('a,b', 1), ('c', 2), (3, 9);
SELECT v FROM sk WHERE k = 'a,b';
SELECT v FROM sk WHERE k = 4;
UPDATE ci SET v = 5 WHERE k = 'aBc';
SELECT k, v FROM ci ORDER BY v;
DELETE FROM dk WHERE k = 1.500;
SELECT COUNT(*) FROM dk;
