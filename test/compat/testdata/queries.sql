-- Queries inside a statement whose rows node groups find by themselves: derived tables, common table expressions, subqueries.
CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_general_ci, region CHAR(6) CHARACTER SET latin1 COLLATE latin1_swedish_ci, boss INT, d DOUBLE, e ENUM('b','a'), ts TIMESTAMP NULL, b VARBINARY(5), f FLOAT) DEFAULT CHARSET utf8mb4;
CREATE TABLE o (id BIGINT PRIMARY KEY, cid INT, amount DECIMAL(8,2), at DATETIME(3), t TIME, y YEAR, note TEXT COLLATE utf8mb4_general_ci) DEFAULT CHARSET utf8mb4;
CREATE TABLE l (oid BIGINT, n SMALLINT UNSIGNED, price DECIMAL(8,2), PRIMARY KEY (oid, n)) PARTITION BY KEY (oid);
CREATE TABLE r (id INT PRIMARY KEY, label VARCHAR(10)) COMMENT 'skarv:reference';
CREATE TABLE nothing_ (id INT PRIMARY KEY, v INT);
INSERT INTO c VALUES (1, 'Ann', 'nörd', 3, 1.5, 'a', '2020-01-01 10:00:00', x'00ff', 1.1), (2, 'ann ', 'süd', 3, -0.25, 'b', NULL, NULL, NULL), (3, 'bob', 'NÖRD', NULL, 1e100, 'a', '2020-03-29 02:30:00', '', 0.1), (4, NULL, NULL, 1, NULL, NULL, NULL, 'x', 3), (5, '', '', 1, 0, 'b', NULL, 'x ', -1), (-6, 'ß', 'ost', 99, 0.1, 'a', NULL, x'27', 2);
INSERT INTO o VALUES (1, 1, 10.50, '2020-01-01 10:00:00.123', '10:00:00', 2020, 'a''b\\'), (2, 1, -3, '2020-01-02', '-838:59:59', 1999, NULL), (3, 2, NULL, NULL, NULL, NULL, 'Ann'), (4, 3, 0, '2020-01-01 10:00:00.124', '00:00:01', 2155, 'ann'), (5, NULL, 7.77, '1999-12-31 23:59:59.999', '10:00:00', 2020, 'x'), (6, 99, 100, NULL, NULL, 1901, ''), (7, 1, 10.50, '2021-01-01', NULL, 2020, 'é'), (8, 3, 1, NULL, NULL, NULL, '日本'), (9, -6, 5, NULL, NULL, NULL, 'q'), (10, 5, 5, NULL, NULL, NULL, 'Q');
INSERT INTO l VALUES (1, 1, 5), (1, 2, 5.50), (2, 1, -3), (3, 1, NULL), (4, 1, 0), (4, 2, 1), (4, 3, 2), (7, 1, 10.50), (9, 65535, 9999.99), (55, 1, 1);
INSERT INTO r VALUES (1, 'one'), (2, 'two'), (3, NULL);

-- Grouped by the distribution key, and by other columns.
SELECT c.id, d.total FROM c JOIN (SELECT oid, SUM(price) AS total FROM l GROUP BY oid HAVING SUM(price) > 0) AS d ON c.boss = d.oid;
SELECT c.id, c.name, d.total, d.a, d.n, d.m FROM c JOIN (SELECT cid, SUM(amount) AS total, AVG(amount) AS a, COUNT(*) AS n, MAX(at) AS m FROM o GROUP BY cid) AS d ON c.id = d.cid;
SELECT c.id, d.total * 3, d.a * 3, d.a / 7 FROM c JOIN (SELECT cid, SUM(amount) AS total, AVG(amount) AS a FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY 1;
SELECT c.id, d.n FROM c LEFT JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SELECT c.id, d.n FROM c RIGHT JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY d.cid;
SELECT c.id, d.n FROM c LEFT JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d ON c.id = d.cid WHERE d.n IS NULL ORDER BY c.id;
SELECT n, COUNT(*) AS k FROM (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d GROUP BY n WITH ROLLUP;
SELECT t, cid, SUM(t) OVER (ORDER BY t, cid ROWS UNBOUNDED PRECEDING) AS run FROM (SELECT cid, SUM(amount) AS t FROM o GROUP BY cid) AS d ORDER BY t, cid;
SELECT a.cid, a.n, b.n FROM (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS a JOIN (SELECT boss, COUNT(*) AS n FROM c GROUP BY boss) AS b ON a.cid = b.boss ORDER BY a.cid;
SELECT a.cid, b.cid FROM (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS a JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS b ON a.n = b.n ORDER BY a.cid, b.cid;

-- Values of every type; strings of other character sets; NULL, blanks, case.
SELECT LOWER(RTRIM(d.name)), d.n, o.id FROM o JOIN (SELECT name, COUNT(*) AS n FROM c GROUP BY name) AS d ON d.name = o.note ORDER BY o.id, d.n;
SELECT d.region, d.n, x.region FROM (SELECT region, COUNT(*) AS n FROM c GROUP BY region) AS d JOIN c AS x ON d.region = x.region WHERE x.boss IN (SELECT cid FROM o) OR x.boss IS NULL ORDER BY x.id;
SELECT COUNT(*), MIN(d.d), MAX(d.d) FROM (SELECT d, boss FROM c GROUP BY d, boss) AS d JOIN o ON o.cid = d.boss;
SELECT d.b, HEX(d.b), o.id FROM (SELECT DISTINCT b, boss FROM c) AS d JOIN o ON o.cid = d.boss ORDER BY o.id, d.b;
SELECT d.at, d.t, d.y, d.note, c.id FROM (SELECT DISTINCT at, t, y, note, cid FROM o) AS d JOIN c ON d.cid = c.id ORDER BY c.id, d.at, d.t, d.y, d.note;
SELECT d.e, d.n FROM (SELECT e, boss, COUNT(*) AS n FROM c GROUP BY e, boss) AS d JOIN o ON o.cid = d.boss ORDER BY o.id, d.n, d.e;
SELECT d.ts, d.n FROM (SELECT ts, boss, COUNT(*) AS n FROM c GROUP BY ts, boss) AS d JOIN o ON o.cid = d.boss ORDER BY o.id, d.n, d.ts;
SELECT d.f, o.id FROM (SELECT DISTINCT f, boss FROM c) AS d JOIN o ON o.cid = d.boss ORDER BY o.id, d.f;
SELECT d.m, o.id FROM (SELECT boss, MAX(ts) AS m FROM c GROUP BY boss) AS d JOIN o ON o.cid = d.boss ORDER BY o.id;
SELECT d.k, d.one, d.none, d.text, c.id FROM (SELECT cid AS k, 1 AS one, NULL AS none, 'x' AS text, COUNT(*) AS n FROM o GROUP BY cid) AS d JOIN c ON c.id = d.k WHERE d.text = 'X' ORDER BY c.id;

-- LIMIT, DISTINCT, windows, UNION.
SELECT c.name, d.id FROM c JOIN (SELECT id, cid FROM o ORDER BY amount DESC, id LIMIT 4 OFFSET 1) AS d ON c.id = d.cid ORDER BY d.id;
SELECT c.id FROM c JOIN (SELECT DISTINCT cid FROM o) AS d ON c.id = d.cid ORDER BY c.id;
SELECT c.id, d.r FROM c JOIN (SELECT oid, n, ROW_NUMBER() OVER (PARTITION BY oid ORDER BY price, n) AS r FROM l) AS d ON c.boss = d.oid ORDER BY c.id, d.n;
SELECT c.id, d.k FROM c JOIN (SELECT id AS k FROM o WHERE amount > 0 UNION ALL SELECT oid FROM l) AS d ON c.boss = d.k ORDER BY c.id;
-- sent: warnings, rows that are not needed are not compared
-- sent: warning count, the same
SELECT COUNT(*), SUM(k) FROM (SELECT id AS k, note AS s FROM o UNION ALL SELECT oid, n FROM l) AS d JOIN c ON c.boss = d.k AND d.s <> 'q';
SELECT r.label, d.n FROM r LEFT JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d ON d.cid = r.id ORDER BY r.id;

-- Common table expressions.
WITH t AS (SELECT cid, SUM(amount) AS total FROM o GROUP BY cid) SELECT id, total FROM c JOIN t ON c.id = t.cid ORDER BY id;
WITH t AS (SELECT cid, SUM(amount) AS total FROM o GROUP BY cid) SELECT id, total FROM c JOIN t ON c.id = t.cid WHERE total = (SELECT MAX(total) FROM t) ORDER BY id;
WITH t (a, b) AS (SELECT cid, SUM(amount) FROM o GROUP BY cid), u AS (SELECT a, b FROM t WHERE b > 1) SELECT c.id, t.b, u.b FROM c JOIN t ON c.id = t.a LEFT JOIN u ON u.a = c.boss ORDER BY c.id;
WITH o AS (SELECT boss AS cid FROM c) SELECT l.oid, d.n FROM l JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d ON d.cid = l.n ORDER BY l.oid;
WITH RECURSIVE t AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM t WHERE k < 3), u AS (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) SELECT t.k, u.n, c.name FROM t LEFT JOIN u ON u.cid = t.k LEFT JOIN c ON c.id = t.k ORDER BY t.k;

-- Subqueries that look at nothing outside.
SELECT id FROM o WHERE amount > (SELECT MAX(price) / 4 FROM l WHERE n = 1) ORDER BY id;
SELECT id FROM o WHERE amount >= (SELECT MAX(price) FROM l WHERE n = 1) ORDER BY id;
SELECT id FROM o WHERE amount > (SELECT AVG(price) FROM l WHERE n < 5) * 3 ORDER BY id;
SELECT id FROM o WHERE cid IN (SELECT boss FROM c GROUP BY boss HAVING COUNT(*) > 1) ORDER BY id;
SELECT id FROM o WHERE cid NOT IN (SELECT boss FROM c GROUP BY boss HAVING COUNT(*) > 1) ORDER BY id;
SELECT id FROM o WHERE cid NOT IN (SELECT boss FROM c WHERE boss IS NOT NULL GROUP BY boss) ORDER BY id;
SELECT id FROM o WHERE id IN (SELECT oid FROM l GROUP BY oid HAVING SUM(price) > 5) AND cid IN (SELECT id FROM c) ORDER BY id;
SELECT o.id, c.id FROM o JOIN c ON c.id = o.cid WHERE o.id IN (SELECT oid FROM l GROUP BY oid HAVING SUM(price) > 5) ORDER BY o.id;
SELECT note FROM o WHERE note = (SELECT MAX(name) FROM c) ORDER BY id;
SELECT cid, SUM(amount) FROM o GROUP BY cid HAVING SUM(amount) > (SELECT MIN(t) FROM (SELECT SUM(amount) AS t FROM o GROUP BY cid) AS x) ORDER BY cid;
SELECT id FROM o WHERE amount > (SELECT SUM(v) FROM nothing_) OR amount < (SELECT COUNT(*) FROM nothing_) ORDER BY id;
SELECT id FROM o WHERE (cid, amount) IN (SELECT cid, MAX(amount) FROM o GROUP BY cid) ORDER BY id;
SELECT id FROM o WHERE amount > ANY (SELECT MAX(price) FROM l GROUP BY oid) ORDER BY id;
SELECT id FROM o WHERE cid = (SELECT boss FROM c GROUP BY boss HAVING COUNT(*) > 0) ORDER BY id;

-- Nothing, and warnings, which one server may not give.
SELECT c.id, d.n FROM c JOIN (SELECT v, COUNT(*) AS n FROM nothing_ GROUP BY v) AS d ON c.id = d.v;
-- sent: warnings, groups that no row of the join wants are not computed
SELECT c.id, d.n FROM c JOIN (SELECT cid, SUM(note + 0) AS n FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SELECT c.id, d.n FROM c JOIN (SELECT cid, SUM(amount / 0) AS n FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;

-- With parameters.
-- args: [1, 2, "x"]
SELECT c.id, d.n, d.k FROM c JOIN (SELECT cid, COUNT(*) AS n, ? AS k FROM o WHERE amount > ? GROUP BY cid) AS d ON c.id = d.cid WHERE c.name <> ? ORDER BY c.id;
-- args: [3, 1, 4]
SELECT c.id, d.id FROM c JOIN (SELECT id, cid FROM o ORDER BY id LIMIT ? OFFSET ?) AS d ON c.id = d.cid WHERE c.id < ? ORDER BY d.id;
-- args: [1, 3]
SELECT c.id, d.n FROM c JOIN (SELECT oid, COUNT(*) AS n FROM l WHERE oid IN (?, ?) GROUP BY oid) AS d ON c.boss = d.oid ORDER BY c.id;
-- The type of a parameter is not that of its value, in whatever part of a UNION it stands, and in whatever is read.
-- args: [3]
SELECT price AS p FROM l WHERE n > ANY (SELECT id FROM c) UNION ALL (SELECT amount FROM o UNION ALL SELECT ? FROM c) ORDER BY p;
-- args: [3]
SELECT d.amount, c.id FROM c JOIN (SELECT amount, cid FROM o UNION ALL SELECT ?, oid FROM l) AS d ON c.boss = d.cid ORDER BY c.id, d.amount;
-- args: [3]
SELECT c.id, d.t FROM c JOIN (SELECT cid, MAX(x) AS t FROM (SELECT cid, COALESCE(amount, ?) AS x FROM o) AS i GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
-- args: [3]
SELECT cid, MAX(x) + 1 FROM (SELECT cid, COALESCE(amount, ?) AS x FROM o) AS i GROUP BY cid ORDER BY cid;
-- args: [3]
WITH q AS (SELECT cid, amount * ? AS x FROM o) SELECT c.id, q.x FROM c JOIN q ON q.cid = c.id WHERE c.boss IN (SELECT n FROM l) ORDER BY c.id, q.x;
-- args: [3]
SELECT SUM(price) FROM l WHERE n > ANY (SELECT id FROM c) UNION ALL SELECT amount FROM o WHERE id > ? ORDER BY 1;
SET @three = 3;
PREPARE wide FROM 'WITH w AS (SELECT (COALESCE(7.10, ?) - 1.5) AS x FROM r WHERE EXISTS (SELECT 1 FROM o WHERE r.id > ALL (SELECT oid FROM l WHERE n > 99))) SELECT w.*, c.id FROM w LEFT JOIN c ON c.id = w.x';
EXECUTE wide USING @three;

-- Within a transaction own writes are seen.
BEGIN;
INSERT INTO o VALUES (20, 4, 1000, NULL, NULL, NULL, 'new');
SELECT c.id, d.total FROM c JOIN (SELECT cid, SUM(amount) AS total FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SELECT r.label, d.n FROM r LEFT JOIN (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid) AS d ON d.cid = r.id + 1 ORDER BY r.id;
ROLLBACK;
SELECT c.id, d.total FROM c JOIN (SELECT cid, SUM(amount) AS total FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;

-- Whatever the session's settings are.
SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT', time_zone = '+05:00';
SELECT c.id, d.k, d."n" FROM c JOIN (SELECT cid, 'a\' AS k, COUNT(*) AS "n" FROM o WHERE note <> '\' GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SET sql_mode = DEFAULT, time_zone = DEFAULT;
SET NAMES latin1;
SELECT LOWER(RTRIM(d.name)), d.n, o.id FROM o JOIN (SELECT name, COUNT(*) AS n FROM c GROUP BY name) AS d ON d.name = o.note ORDER BY o.id, d.n;
SET NAMES utf8mb4;

-- What is computed from groups: expressions over aggregates, HAVING, ORDER BY, DISTINCT.
SELECT cid, COUNT(*) AS n FROM o GROUP BY cid HAVING n > 1 ORDER BY cid;
SELECT cid, COUNT(*) AS n FROM o GROUP BY cid HAVING COUNT(*) > 1 AND SUM(amount) < 15 ORDER BY n, cid;
SELECT SUM(amount) / COUNT(*), 100.0 * SUM(CASE WHEN cid = 1 THEN amount ELSE 0 END) / SUM(amount) AS share, COUNT(*) + 1 FROM o;
SELECT SUM(amount) / COUNT(amount) AS a, SUM(amount) / 3, MAX(at) > MIN(at), MAX(amount) - MIN(amount) FROM o WHERE id > 100;
SELECT region, 1 + COUNT(*) AS n FROM c GROUP BY region ORDER BY COUNT(*) DESC, region;
SELECT DISTINCT COUNT(*) AS n FROM o GROUP BY cid ORDER BY n;
SELECT DISTINCT cid IS NULL AS z, COALESCE(SUM(amount), 0) + 1 AS m FROM o GROUP BY cid ORDER BY m DESC, 1 LIMIT 1, 3;
SELECT YEAR(at), COUNT(*) FROM o GROUP BY YEAR(at) HAVING COUNT(*) > 0 ORDER BY YEAR(at) DESC;
SELECT cid FROM o GROUP BY cid ORDER BY SUM(amount) DESC, cid LIMIT 3;
SELECT cid AS k, MIN(note), MAX(note), MIN(t), MAX(y) FROM o GROUP BY k HAVING k > 0 OR MAX(note) = 'Q' ORDER BY k;
SELECT SUM(d) / 2, MIN(d), MAX(b), LOWER(RTRIM(MAX(name))) FROM c GROUP BY boss HAVING COUNT(boss) >= 1 ORDER BY MAX(id);
SELECT e, COUNT(*) + 0 FROM c GROUP BY e ORDER BY e;
SELECT ts, COUNT(*) + 0 FROM c GROUP BY ts ORDER BY ts;
SELECT MAX(ts), MAX(e), MIN(f), COUNT(*) + 0 FROM c;
SELECT cid, AVG(amount), AVG(amount) * 3, ROUND(AVG(amount), 1) FROM o GROUP BY cid ORDER BY cid;
SELECT cid, AVG(amount) AS a, SUM(amount) * 2 FROM o GROUP BY cid ORDER BY a, cid;
SELECT cid FROM o GROUP BY cid HAVING AVG(amount) > 7 ORDER BY cid;
SELECT cid, SUM(amount) AS amount FROM o GROUP BY cid HAVING amount > 2 ORDER BY cid;
SELECT boss, COUNT(*) AS id FROM c GROUP BY boss HAVING id > 1;
SELECT 'x' AS kind, COUNT(*) * 2 FROM nothing_ HAVING COUNT(*) = 0;
SELECT 'x' AS kind, COUNT(*) * 2, SUM(v) + 1 FROM nothing_;
SELECT v, COUNT(*) * 2 FROM nothing_ GROUP BY v;
SELECT r.label, SUM(l.price) / COUNT(*) FROM l JOIN r ON r.id = l.n GROUP BY r.label HAVING SUM(l.price) > 0 ORDER BY 1;
SELECT COUNT(*) , count( * )+1, Sum(amount) + 0 FROM o;
SELECT cid, SUM(amount) + 1 FROM o GROUP BY cid WITH ROLLUP;
SELECT cid % 2, SUM(amount) + 1 FROM o GROUP BY cid % 2 ORDER BY 1;
SELECT cid % 2 AS odd, SUM(amount) + 1 FROM o GROUP BY odd HAVING odd = 1;
SELECT SUM(note) + 1 FROM o;
SELECT SUM(at), SUM(t) + 1 FROM o;
-- args: [5, 1, 2]
SELECT cid, SUM(amount) + ? FROM o WHERE id > ? GROUP BY cid ORDER BY cid LIMIT ?;
-- args: [2]
SELECT SUM(amount * ?) + 1 FROM o;
SELECT cid, ROUND(AVG(amount), 1) AS a, AVG(amount) / 7, AVG(amount), AVG(id * 2) * 3 FROM o GROUP BY cid HAVING AVG(amount) > -2 ORDER BY AVG(amount) + 1, cid;
SELECT AVG(d) * 3, AVG(id) > 0.5, ROUND(AVG(boss), 3), AVG(at) + 1 FROM (SELECT c.d, c.id, c.boss, o.at FROM c JOIN o ON o.id = c.id) AS x;
SELECT c.id, d.n FROM c JOIN (SELECT cid, COUNT(*) AS n, NOW() > '2020-01-01' AS later FROM o WHERE at < NOW() GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SELECT cid, COUNT(*) + 1 FROM o WHERE at < NOW() - INTERVAL 1 DAY GROUP BY cid HAVING COUNT(*) > 0 ORDER BY cid;
SET timestamp = 1577880000;
SELECT cid, COUNT(*) + 1, MAX(NOW()) FROM o WHERE at < NOW() + INTERVAL 1 DAY GROUP BY cid HAVING COUNT(*) > 0 ORDER BY cid;
SET timestamp = DEFAULT;

-- Groups that are grouped again: ROLLUP, and aggregates of different values beside others.
SELECT cid, SUM(amount), COUNT(*), COUNT(amount), AVG(amount), MIN(at), MAX(note), MIN(amount) FROM o GROUP BY cid WITH ROLLUP;
SELECT cid, y, SUM(amount), COUNT(*) FROM o GROUP BY cid, y WITH ROLLUP;
-- only: mysql
SELECT cid, y, SUM(amount), COUNT(*) FROM o GROUP BY ROLLUP (cid, y);
-- only: mysql
SELECT id, COUNT(*) FROM o WHERE cid = 1 GROUP BY rollup(id) HAVING COUNT(*) > 0 ORDER BY id;
-- only: mysql
SELECT MONTH(at) AS y, SUM(DISTINCT amount), GROUPING(MONTH(at)) FROM o GROUP BY ROLLUP (MONTH(at)) ORDER BY 1;
-- only: mysql
SELECT d.n, d.k, o.id FROM (SELECT cid, COUNT(*) AS n, MAX(id) AS k FROM o GROUP BY ROLLUP (cid)) AS d JOIN o ON o.id = d.n ORDER BY d.n, d.k;
-- only: mysql
SELECT COUNT(*) FROM o GROUP BY ROLLUP (cid) UNION SELECT id FROM c ORDER BY 1;
-- only: mysql
SELECT cid, y, SUM(amount), COUNT(*), GROUP_CONCAT(id ORDER BY id) FROM o GROUP BY ROLLUP (1, y) ORDER BY cid, y;
-- sent: length, of a group that is computed once more
SELECT cid, MONTH(at) AS y, SUM(id), AVG(id), COUNT(*) FROM o GROUP BY cid, MONTH(at) WITH ROLLUP HAVING COUNT(*) > 1;
SELECT IFNULL(cid, 'all') AS who, SUM(amount) AS total, COUNT(*) * 2 AS n FROM o GROUP BY cid WITH ROLLUP;
SELECT LOWER(RTRIM(name)) AS w, COUNT(*), SUM(boss) FROM c GROUP BY LOWER(RTRIM(name)) WITH ROLLUP;
SELECT boss, SUM(d), AVG(d), MIN(b), MAX(e), MAX(f), MAX(ts) FROM c GROUP BY boss WITH ROLLUP;
SELECT boss, COUNT(DISTINCT region), COUNT(*), SUM(id) FROM c GROUP BY boss WITH ROLLUP;
SELECT boss, COUNT(DISTINCT region), SUM(DISTINCT id), COUNT(*), AVG(id), MAX(name) > 'b' FROM c GROUP BY boss ORDER BY boss;
SELECT COUNT(DISTINCT cid), COUNT(DISTINCT y), SUM(amount), COUNT(*), MIN(amount), AVG(amount) FROM o;
SELECT COUNT(DISTINCT cid), COUNT(DISTINCT cid, y), SUM(amount) FROM o;
SELECT COUNT(DISTINCT cid) + 1, SUM(amount) / COUNT(*), AVG(amount) * 3 FROM o;
SELECT cid, COUNT(DISTINCT y) AS k, SUM(amount) AS s FROM o GROUP BY cid HAVING k > 1 OR s > 5 ORDER BY s DESC, cid LIMIT 2;
SELECT COUNT(DISTINCT cid), SUM(amount / 3), AVG(amount / 7) FROM o;
SELECT cid, SUM(amount / 3), COUNT(*) FROM o GROUP BY cid WITH ROLLUP;
SELECT COUNT(DISTINCT v), COUNT(*), SUM(v), AVG(v), MAX(v) FROM nothing_;
SELECT v, COUNT(*), SUM(v), COUNT(DISTINCT id) FROM nothing_ GROUP BY v WITH ROLLUP;
SELECT n, COUNT(*), SUM(price), COUNT(DISTINCT price) FROM l WHERE oid > 1000 GROUP BY n WITH ROLLUP;
SELECT n, SUM(price), COUNT(*) FROM l GROUP BY n, n WITH ROLLUP;
SELECT cid % 2 AS odd, SUM(amount), COUNT(*) FROM o GROUP BY odd WITH ROLLUP;
SELECT c.id, d.s FROM c JOIN (SELECT cid, SUM(amount) AS s, COUNT(*) AS n FROM o GROUP BY cid WITH ROLLUP) AS d ON d.cid = c.id ORDER BY c.id;
SELECT d.n, d.k FROM (SELECT cid, COUNT(*) AS n, COUNT(DISTINCT y) AS k FROM o GROUP BY cid) AS d JOIN c ON c.id = d.cid ORDER BY c.id;

-- Sets of values, and subqueries in the select list.
SELECT id FROM c WHERE boss NOT IN (SELECT cid FROM o WHERE amount > 3) ORDER BY id;
SELECT id FROM c WHERE boss NOT IN (SELECT cid FROM o WHERE cid IS NOT NULL) ORDER BY id;
SELECT id FROM c WHERE id IN (SELECT cid FROM o WHERE amount > 3) ORDER BY id;
SELECT id FROM c WHERE (id, boss) IN (SELECT cid, id FROM o) ORDER BY id;
SELECT id FROM o WHERE amount >= ALL (SELECT price FROM l WHERE n = 1) ORDER BY id;
SELECT id FROM o WHERE amount > ANY (SELECT price FROM l) ORDER BY id;
SELECT id FROM o WHERE amount = ANY (SELECT price FROM l WHERE oid > 100) ORDER BY id;
SELECT id FROM o WHERE amount >= ALL (SELECT price FROM l WHERE oid > 100) ORDER BY id;
SELECT id FROM o WHERE at NOT IN (SELECT at FROM o WHERE at IS NOT NULL AND id < 3) ORDER BY id;
SELECT id FROM c WHERE name IN (SELECT note FROM o) ORDER BY id;
SELECT id, boss IN (SELECT cid FROM o) AS yes, id NOT IN (SELECT cid FROM o) AS no FROM c ORDER BY id;
SELECT (SELECT COUNT(*) FROM c WHERE id NOT IN (SELECT cid FROM o)) AS none, (SELECT COUNT(*) FROM c WHERE id NOT IN (SELECT cid FROM o WHERE cid > 0)) AS some_, (SELECT MAX(at) FROM o) AS last;
SELECT (SELECT COUNT(*) FROM c WHERE id IN (SELECT cid FROM o)), 1 + 1;
SELECT (SELECT MAX(amount) FROM o) AS m, c.id + 1, c.name FROM c WHERE c.id IN (SELECT cid FROM o) ORDER BY c.id;

-- args: [4]
SELECT AVG(COALESCE(?, id)) FROM c WHERE boss IN (SELECT cid FROM o);
-- args: [4, 2]
SELECT AVG(COALESCE(?, id)) * ? AS a, SUM(id) FROM c WHERE boss IN (SELECT cid FROM o);

-- A literal of a derived table beside a column of another collation.
SELECT c.id, d.id FROM c LEFT JOIN (SELECT 'Ann' AS w, id FROM o ORDER BY id DESC LIMIT 2) AS d ON c.name = d.w ORDER BY c.id, d.id;

-- Windows over groups.
SELECT cid, SUM(amount) AS s, SUM(amount) * 100 / SUM(SUM(amount)) OVER (PARTITION BY y) AS share, RANK() OVER (PARTITION BY y ORDER BY SUM(amount) DESC, cid) AS r FROM o GROUP BY cid, y ORDER BY y, r, cid;
SELECT cid, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY cid) AS run, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, cid) AS n FROM o GROUP BY cid ORDER BY n;
SELECT cid, COUNT(*) AS k, SUM(COUNT(*)) OVER (ORDER BY cid ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS run, AVG(SUM(amount)) OVER () AS a, COUNT(*) OVER () AS groups_, MAX(MAX(note)) OVER (ORDER BY cid ROWS UNBOUNDED PRECEDING) AS m FROM o GROUP BY cid HAVING COUNT(*) > 0 ORDER BY cid;
SELECT YEAR(at) AS w, SUM(amount), DENSE_RANK() OVER (ORDER BY SUM(amount)) FROM o GROUP BY YEAR(at) ORDER BY w;
SELECT cid, LAG(SUM(amount)) OVER (ORDER BY cid) AS before_it FROM o GROUP BY cid ORDER BY cid;
SELECT cid, COUNT(DISTINCT y), SUM(amount), ROW_NUMBER() OVER (ORDER BY cid) AS n FROM o GROUP BY cid ORDER BY cid;
SELECT SUM(amount), SUM(SUM(amount)) OVER (), COUNT(*) OVER () FROM o;
SELECT v, SUM(COUNT(*)) OVER (ORDER BY v) AS run FROM nothing_ GROUP BY v;
SELECT c.id, d.r FROM c JOIN (SELECT cid, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM o GROUP BY cid) AS d ON d.cid = c.id ORDER BY c.id;

-- Queries of which the groups, or the values, are found on the node groups.
WITH big AS (SELECT cid, SUM(amount) AS total FROM o GROUP BY cid HAVING SUM(amount) > 1 AND COUNT(*) > 1), rich AS (SELECT id, name FROM c WHERE boss > 0) SELECT id, total FROM big JOIN rich ON big.cid = rich.id ORDER BY total, id;
SELECT c.id, d.n FROM c JOIN (SELECT cid, COUNT(DISTINCT amount) AS n FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SELECT c.id, d.r, d.r * 3, d.a * 7 FROM c JOIN (SELECT cid, SUM(amount) / COUNT(*) AS r, AVG(amount) * 2 AS a FROM o GROUP BY cid) AS d ON c.id = d.cid ORDER BY c.id;
SELECT c.id, d.n FROM c JOIN (SELECT cid, COUNT(*) + 1 AS n FROM o GROUP BY cid ORDER BY n DESC, cid LIMIT 3) AS d ON c.id = d.cid ORDER BY c.id;
SELECT id FROM o WHERE cid IN (SELECT boss FROM c GROUP BY boss HAVING COUNT(*) > 1 AND MAX(id) < 4) ORDER BY id;
SELECT id FROM o WHERE amount > (SELECT MAX(price) + 1 FROM l WHERE n < 3) ORDER BY id;
SELECT id FROM o WHERE amount > (SELECT COUNT(DISTINCT price) FROM l) ORDER BY id;
WITH t AS (SELECT cid, COUNT(*) AS n FROM o GROUP BY cid HAVING n > 1) SELECT x.cid, y.n FROM t AS x JOIN t AS y ON x.cid = y.cid JOIN c ON c.id = x.cid ORDER BY 1;
-- args: [1, 1, 0]
SELECT c.id, d.n FROM c JOIN (SELECT cid, COUNT(*) AS n FROM o WHERE id > ? GROUP BY cid HAVING COUNT(*) > ?) AS d ON c.id = d.cid WHERE c.boss > ? ORDER BY c.id;

-- A table that is read in a query whose rows are copied, and elsewhere: what matters there is not what matters in the query.
SELECT c.id FROM c WHERE c.region = 'ost' UNION SELECT o.id FROM o WHERE o.cid IN (SELECT c.id FROM c);
(SELECT c.id FROM c WHERE c.id = 4) UNION ALL (SELECT COUNT(NULL) AS n FROM o JOIN l ON l.oid = o.id WHERE o.cid IN (SELECT id FROM c) GROUP BY o.cid);
SELECT o.id FROM o WHERE o.cid IN (SELECT id FROM c) AND EXISTS (SELECT 1 FROM c WHERE c.region = 'ost') ORDER BY o.id;
SELECT o.id, (SELECT MAX(c.name) FROM c WHERE c.id = 4) AS m FROM o WHERE o.cid = ANY (SELECT DISTINCT id FROM c WHERE boss IS NOT NULL) ORDER BY o.id;
SELECT q.id, o.id FROM (SELECT id, COUNT(*) AS n FROM c GROUP BY id) AS q LEFT JOIN o ON o.cid = q.id WHERE EXISTS (SELECT 1 FROM c WHERE c.region = 'ost') ORDER BY q.id, o.id;
WITH w AS (SELECT id, COUNT(*) AS n FROM c GROUP BY id) SELECT o.id FROM o JOIN w ON w.id = o.cid WHERE o.amount > 0 UNION SELECT c.id + 100 FROM c WHERE c.name = 'bob';

-- A subquery in an expression computes with the types it is shown with, a derived table with those of a table made of it: MySQL keeps MIN of a view's INT as BIGINT.
CREATE VIEW vl AS SELECT oid, n, price FROM l WHERE oid > 1;
CREATE VIEW vc AS SELECT id, boss, name FROM c WHERE id > 0;
-- joins: queries
-- args: [0]
SELECT ? AS x FROM c UNION SELECT SUM((SELECT MIN(vc.boss) FROM vc)) AS s FROM r;
-- args: [0]
SELECT ? AS x FROM l UNION SELECT SUM((SELECT MAX(vl.n) FROM vl)) AS s FROM r;
-- args: [0]
SELECT ? AS x FROM c UNION SELECT AVG((SELECT COUNT(*) FROM vc)) AS s FROM r;
-- args: [0]
SELECT ? AS x FROM c UNION SELECT SUM(d.m) AS s FROM (SELECT MIN(vc.boss) AS m FROM vc) AS d JOIN r ON r.id < 100;

-- Positions in the select list, with what servers take for a part of the number.
CREATE TABLE po (id INT PRIMARY KEY, v INT);
INSERT INTO po VALUES (1, 9), (2, 8), (3, 7), (4, 6), (5, 5), (6, 5), (7, 3), (8, 2);
SELECT id FROM po ORDER BY + 1;
SELECT id FROM po ORDER BY + 1 DESC;
SELECT id, v FROM po ORDER BY + 2 DESC LIMIT 3;
SELECT id FROM po ORDER BY + + 1 DESC;
SELECT id FROM po ORDER BY +(1) DESC;
SELECT v, COUNT(*) FROM po GROUP BY + 1 ORDER BY + 1;
SELECT DISTINCT v FROM po ORDER BY + 1 LIMIT 3;
SELECT id FROM po UNION SELECT v FROM po ORDER BY + 1 DESC;
SELECT id, v FROM po ORDER BY v, + 1 DESC;
SELECT id FROM po ORDER BY + 9;
SELECT id FROM po ORDER BY -1, id;
SELECT id FROM po ORDER BY - 1, id;
SELECT id FROM po ORDER BY - -1 DESC, id;
SELECT id FROM po ORDER BY -(- 1) DESC, id;
SELECT id FROM po ORDER BY TRUE DESC, id;
SELECT id FROM po ORDER BY - - TRUE DESC, id;
SELECT id FROM po ORDER BY FALSE, id;
SELECT v, COUNT(*) FROM po GROUP BY - -1 ORDER BY v;
SELECT v, COUNT(*) FROM po GROUP BY TRUE ORDER BY v;
SELECT COUNT(*) FROM po GROUP BY -1;
SELECT a.v, COUNT(*) FROM po a JOIN po b ON a.v = b.id GROUP BY + 1 ORDER BY + 1 DESC;
SELECT a.v FROM po a JOIN po b ON a.v = b.id ORDER BY - -1 DESC, a.v;
DROP TABLE po;
-- Groups by expressions, as ONLY_FULL_GROUP_BY takes them.
CREATE TABLE full_groups (id INT PRIMARY KEY, k INT, s VARCHAR(20) COLLATE utf8mb4_general_ci, z VARCHAR(20) COLLATE utf8mb4_danish_ci, w DATETIME, f FLOAT, e ENUM('red', 'green')) DEFAULT CHARSET utf8mb4;
INSERT INTO full_groups VALUES (1,1,'ann','ann','2026-01-01 10:00:00',1.5,'red'),(2,2,'ant','ant','2026-01-31 10:00:00',1.5,'green'),(3,3,'bob','bob','2026-02-01 10:00:00',2.5,'red'),(4,4,'BOA','BOA','2027-01-01 10:00:00',2.5,NULL),(5,NULL,NULL,NULL,NULL,NULL,'green'),(6,1,'x','x','2026-02-11 10:00:00',0,'green');
SET sql_mode = 'ONLY_FULL_GROUP_BY';
SELECT k % 2, COUNT(*) FROM full_groups GROUP BY k % 2;
SELECT COUNT(*) FROM full_groups GROUP BY k % 2;
SELECT k + 1, SUM(id) FROM full_groups GROUP BY k + 1 ORDER BY k + 1;
SELECT LOWER(LEFT(s, 2)), COUNT(*) FROM full_groups GROUP BY LOWER(LEFT(s, 2));
SELECT COUNT(*), MIN(id) FROM full_groups GROUP BY LEFT(s, 2) ORDER BY 2;
SELECT LOWER(LEFT(z, 2)) AS b, COUNT(*) FROM full_groups GROUP BY b;
SELECT COUNT(*), MIN(id) FROM full_groups GROUP BY LEFT(z, 2) ORDER BY COUNT(*), MIN(id);
SELECT COUNT(*), MAX(id) FROM full_groups GROUP BY z ORDER BY 2;
SELECT COUNT(*), MAX(id) FROM full_groups GROUP BY z COLLATE utf8mb4_bin ORDER BY 2;
SELECT DATE_FORMAT(w, '%Y-%m') AS m, COUNT(*) FROM full_groups GROUP BY m ORDER BY m;
SELECT YEAR(w), MAX(id) FROM full_groups GROUP BY YEAR(w) HAVING MAX(id) > 2 ORDER BY 1;
SELECT COUNT(*), MAX(id) FROM full_groups GROUP BY f, e ORDER BY 2;
SELECT COUNT(*), MAX(id) FROM full_groups GROUP BY COALESCE(k, 0), id % 3 ORDER BY 2 LIMIT 3;
SELECT MIN(z), COUNT(*) FROM full_groups GROUP BY k ORDER BY k;
SELECT COUNT(*) FROM full_groups GROUP BY id, LEFT(z, 2) ORDER BY LEFT(z, 2), id;
SET sql_mode = DEFAULT;
-- A zero of TIME with a sign.
SELECT id, SEC_TO_TIME(IF(id % 2 = 0, -0.0000001, 0) * id) AS t FROM full_groups ORDER BY t, id;
SELECT COUNT(*) FROM full_groups GROUP BY SEC_TO_TIME(IF(id % 2 = 0, -0.0000001, 0) * id);
