-- Joins of tables that do not lie together: by copies on every node group, by the first rows of a table, or in a workspace.
CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_general_ci, kind INT, price DECIMAL(8,2), f DOUBLE, e ENUM('b','a'), KEY (kind)) DEFAULT CHARSET utf8mb4;
CREATE TABLE l (id BIGINT PRIMARY KEY, pid INT, alt VARCHAR(20) COLLATE utf8mb4_general_ci, qty SMALLINT UNSIGNED, at DATETIME, ts TIMESTAMP NULL, b BIT(5), KEY (pid)) DEFAULT CHARSET utf8mb4;
CREATE TABLE lx (id BIGINT PRIMARY KEY, note VARCHAR(10)) DEFAULT CHARSET utf8mb4;
CREATE TABLE nothing_ (id INT PRIMARY KEY, pid INT);
CREATE TABLE s (k VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT) DEFAULT CHARSET utf8mb4;
CREATE TABLE nul (id INT PRIMARY KEY, pid INT);
CREATE VIEW vp AS SELECT id, name FROM p WHERE kind < 3;
INSERT INTO p VALUES (1, 'Ann', 1, 1.50, 1.5, 'a'), (2, 'ann ', 1, 2.25, -0.25, 'b'), (3, NULL, 2, NULL, NULL, NULL), (4, 'bob', NULL, 0, 1e100, 'a'), (5, '', 3, 9999.99, 0, 'b'), (-6, 'ß', 2, -1, 3.3, 'a');
INSERT INTO l VALUES (1, 1, 'ANN', 1, '2020-01-01 10:00:00', '2020-01-01 10:00:00', 1), (2, 1, 'ann', 2, NULL, NULL, NULL), (3, 2, NULL, 3, '2020-01-03', '2020-03-29 02:30:00', 3), (4, NULL, 'bob ', 4, '2020-01-04', NULL, 4), (5, 99, 'x', 5, '2020-01-05', NULL, 5), (6, 3, '', 6, '2020-01-01 10:00:00', NULL, 6), (7, 4, 'ss', 7, '2020-01-07', NULL, 7), (8, -6, 'BOB', 8, '2020-01-08', NULL, 8), (9, 5, 'ann', 9, '2020-01-09', NULL, 9), (10, 5, 'Ann ', NULL, '2020-01-10', NULL, 10), (11, 1, 'q', 65535, '2020-01-11', NULL, 31), (12, 2, 'q', 0, '2020-01-12', NULL, 0);
INSERT INTO lx VALUES (1, 'one'), (2, 'two'), (5, 'five'), (12, NULL);
INSERT INTO s VALUES ('ANN', 1), ('bob', 2), ('', 3), ('x ', 4);
INSERT INTO nul VALUES (1, 1), (2, NULL), (3, 5);

-- Rows in order of one table, with LIMIT.
SELECT l.id, l.qty, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 3;
SELECT l.id, l.qty, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 3 OFFSET 5;
SELECT l.id, l.qty, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 8, 100;
SELECT l.id, l.qty, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id DESC LIMIT 20;
SELECT l.id, l.qty, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 0;
SELECT l.id AS n, p.name FROM l JOIN p ON p.id = l.pid WHERE p.kind = 3 ORDER BY n LIMIT 2;
SELECT l.id, p.name FROM l JOIN p ON p.id = l.pid WHERE p.kind = 77 ORDER BY l.id LIMIT 2;
SELECT l.id, p.name FROM l LEFT JOIN p ON p.id = l.pid ORDER BY 1 LIMIT 5;
SELECT l.id, p.name FROM l LEFT JOIN p ON p.id = l.pid AND p.kind = 1 ORDER BY l.id DESC LIMIT 5;
SELECT l.id, p.name FROM l LEFT JOIN p ON p.id = l.pid WHERE p.id IS NULL ORDER BY l.id LIMIT 1;
SELECT l.id, p.id FROM p LEFT JOIN l ON p.id = l.pid ORDER BY p.id, l.id LIMIT 6;
SELECT l.id, p.id FROM l RIGHT JOIN p ON p.id = l.pid ORDER BY p.id, l.id LIMIT 6;
SELECT l.at, l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.at, l.id LIMIT 4;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.at DESC, l.id DESC, p.name LIMIT 4;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.ts DESC, l.id LIMIT 4;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.alt, l.id LIMIT 7;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY p.e, p.id, l.id LIMIT 7;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.b DESC, l.id LIMIT 3;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY p.f, p.id, l.id LIMIT 7;
SELECT l.id, p.id, lx.note FROM l JOIN p ON p.id = l.pid JOIN lx ON lx.id = l.id ORDER BY l.id LIMIT 2;
SELECT l.id, p.id, lx.note FROM l JOIN p ON p.id = l.pid LEFT JOIN lx ON lx.id = l.id ORDER BY lx.note, l.id LIMIT 4;
SELECT l.id, (SELECT COUNT(*) FROM p WHERE p.id = l.pid) AS n FROM l ORDER BY l.id LIMIT 4;
SELECT l.id FROM l WHERE EXISTS (SELECT 1 FROM p WHERE p.id = l.pid AND p.kind = 3) ORDER BY l.id LIMIT 2;
SELECT l.id FROM l WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.id = l.pid) ORDER BY l.id LIMIT 2;
SELECT l.id + 1 AS id FROM l JOIN p ON p.id = l.pid ORDER BY id LIMIT 2;
SELECT l.id + 1 AS at FROM l JOIN p ON p.id = l.pid ORDER BY l.at, l.id LIMIT 2;
SELECT p.id, l.id FROM l JOIN p ON p.id = l.pid ORDER BY 2 LIMIT 2;
SELECT DISTINCT p.kind FROM l JOIN p ON p.id = l.pid ORDER BY p.kind LIMIT 2;
SELECT p.kind, COUNT(*) FROM l JOIN p ON p.id = l.pid GROUP BY p.kind ORDER BY p.kind LIMIT 2;
SELECT l.id, RANK() OVER (ORDER BY l.pid DESC) AS r FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 2;
SELECT COUNT(*) FROM (SELECT l.id FROM l JOIN p ON p.id = l.pid LIMIT 4) AS d;
SELECT x.id, y.id FROM l x JOIN l y ON y.pid = x.pid AND y.id > x.id ORDER BY x.id, y.id LIMIT 4;
SELECT l.id, d.n FROM l JOIN (SELECT kind, COUNT(*) AS n FROM p GROUP BY kind) d ON d.kind = l.id ORDER BY l.id LIMIT 2;
SELECT FOUND_ROWS();

-- NULL in EXISTS, IN, NOT EXISTS and NOT IN.
SELECT id FROM l WHERE pid IN (SELECT id FROM p WHERE kind = 1) ORDER BY id;
SELECT id FROM l WHERE pid NOT IN (SELECT id FROM p WHERE kind = 1) ORDER BY id;
SELECT id FROM l WHERE pid IN (SELECT pid FROM nul) ORDER BY id;
SELECT id FROM l WHERE pid NOT IN (SELECT pid FROM nul) ORDER BY id;
SELECT id FROM l WHERE pid NOT IN (SELECT pid FROM nul WHERE pid IS NOT NULL) ORDER BY id;
SELECT id FROM l WHERE pid NOT IN (SELECT pid FROM nothing_) ORDER BY id;
SELECT id FROM l WHERE pid IN (SELECT pid FROM nothing_) ORDER BY id;
SELECT id FROM l WHERE NOT EXISTS (SELECT * FROM nul WHERE nul.pid = l.pid) ORDER BY id;
SELECT id FROM l WHERE EXISTS (SELECT * FROM nul WHERE nul.pid = l.pid OR nul.pid IS NULL) ORDER BY id;
SELECT id, pid IN (SELECT pid FROM nul) AS i, pid NOT IN (SELECT pid FROM nul) AS n FROM l ORDER BY id;
SELECT id FROM l WHERE (pid IN (SELECT pid FROM nul)) IS NULL ORDER BY id;
SELECT id FROM l WHERE pid = ANY (SELECT pid FROM nul) ORDER BY id;
SELECT id FROM l WHERE pid <> ALL (SELECT pid FROM nul WHERE id < 2) ORDER BY id;
SELECT id FROM l WHERE qty > ALL (SELECT kind FROM p WHERE p.id = l.pid) ORDER BY id;
SELECT id FROM p WHERE name IN (SELECT alt FROM l) ORDER BY id;
SELECT id FROM p WHERE name NOT IN (SELECT alt FROM l WHERE alt IS NOT NULL) ORDER BY id;
SELECT l.id FROM l WHERE l.alt IN (SELECT k FROM s) ORDER BY l.id;

-- Equal by collation and type.
SELECT l.id, p.id FROM l JOIN p ON p.name = l.alt ORDER BY 1, 2;
SELECT l.id, s.v FROM l JOIN s ON s.k = l.alt ORDER BY 1, 2;
SELECT l.id, s.v FROM l LEFT JOIN s ON s.k = l.alt ORDER BY 1, 2;
SELECT l.id, p.id FROM l JOIN p ON p.price = l.qty ORDER BY 1, 2;
SELECT l.id, p.id FROM l JOIN p ON p.f = l.qty - 2.5 ORDER BY 1, 2;
SELECT l.id, p.id FROM l JOIN p ON p.e = l.qty + 0 ORDER BY 1, 2;

-- Outer joins keep the rows of either side.
SELECT l.id, p.id FROM l LEFT JOIN p ON p.id = l.pid ORDER BY 1, 2;
SELECT l.id, p.id FROM p LEFT JOIN l ON p.id = l.pid ORDER BY 2, 1;
SELECT p.id, COUNT(l.id) FROM p LEFT JOIN l ON p.id = l.pid GROUP BY p.id ORDER BY p.id;
SELECT l.id, p.id, s.v FROM l LEFT JOIN (p JOIN s ON s.v = p.id) ON p.id = l.pid ORDER BY 1, 2;
SELECT l.id, e.id FROM l LEFT JOIN nothing_ e ON e.pid = l.pid ORDER BY 1;
SELECT e.id, l.id FROM nothing_ e LEFT JOIN l ON e.pid = l.pid;
SELECT COUNT(*), COUNT(e.id), SUM(e.id), MAX(l.qty) FROM l LEFT JOIN nothing_ e ON e.pid = l.pid;
SELECT COUNT(*), SUM(l.qty) FROM l JOIN nothing_ e ON e.pid = l.pid;

-- Aggregates, sorted by them.
SELECT p.kind, COUNT(*), SUM(l.qty), AVG(l.qty), MIN(LOWER(l.alt)), MAX(p.price) FROM l JOIN p ON p.id = l.pid GROUP BY p.kind ORDER BY 3 DESC, 1;
SELECT p.kind, COUNT(*) AS n FROM l JOIN p ON p.id = l.pid GROUP BY p.kind ORDER BY n DESC, p.kind LIMIT 2;
SELECT p.kind, COUNT(*) AS n FROM l JOIN p ON p.id = l.pid GROUP BY p.kind ORDER BY n, p.kind LIMIT 1, 2;
SELECT pid, SUM(qty) AS q FROM l GROUP BY pid ORDER BY q DESC, pid;
SELECT pid, SUM(qty) AS q FROM l GROUP BY pid ORDER BY SUM(qty), pid LIMIT 3;
SELECT COUNT(*) AS n, MAX(id) AS m FROM l GROUP BY alt ORDER BY n DESC, m LIMIT 4;
SELECT pid, AVG(qty) AS q FROM l GROUP BY pid ORDER BY q, pid;
SELECT pid, MIN(LOWER(alt)) AS q FROM l WHERE alt > '' GROUP BY pid ORDER BY q DESC, pid;
SELECT pid, COUNT(*) FROM l GROUP BY pid ORDER BY MAX(qty), pid;
SELECT COUNT(*) FROM l GROUP BY pid ORDER BY COUNT(*) DESC LIMIT 2;
SELECT DISTINCT p.kind FROM l JOIN p ON p.id = l.pid ORDER BY 1;
SELECT p.id, SUM(l.qty) FROM p JOIN l ON l.pid = p.id GROUP BY p.id HAVING SUM(l.qty) > 5 ORDER BY p.id;
SELECT v.id, l.id FROM vp v JOIN l ON l.pid = v.id ORDER BY 1, 2;
SELECT l.id, l.ts, l.b, p.f, p.e, p.price FROM l JOIN p ON p.id = l.pid ORDER BY l.id;
SELECT l.*, p.* FROM l JOIN p ON p.id = l.pid ORDER BY l.id;
SET time_zone = '+05:00';
SELECT l.id, l.ts, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 3;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid WHERE l.ts > '2020-01-01 12:00:00' ORDER BY l.id;
SET time_zone = DEFAULT;
SET sql_select_limit = 2;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.id;
SELECT l.id, p.id FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 3;
SET sql_select_limit = DEFAULT;

-- A transaction sees its own rows.
BEGIN;
INSERT INTO p VALUES (99, 'new', 1, 1, 1, 'a');
UPDATE l SET pid = 5 WHERE id = 1;
SELECT l.id, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 2;
SELECT p.kind, COUNT(*) FROM l JOIN p ON p.id = l.pid GROUP BY p.kind ORDER BY 1;
ROLLBACK;
SELECT l.id, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 2;

-- Errors are one server's.
SELECT l.nothing FROM l JOIN p ON p.id = l.pid LIMIT 2;
SELECT l.id, (SELECT id FROM p WHERE p.kind = 1) AS x FROM l ORDER BY l.id LIMIT 2;
SELECT id FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 2;
SELECT l.id, p.name FROM l JOIN p ON p.id = l.pid ORDER BY l.id LIMIT 2;

-- USING and NATURAL make columns one within their own join only.
CREATE TABLE ja (id INT PRIMARY KEY, a INT);
CREATE TABLE jb (id INT PRIMARY KEY, b INT);
CREATE TABLE jc (id INT PRIMARY KEY, d INT);
CREATE TABLE jr (id INT PRIMARY KEY, x INT) COMMENT 'skarv:reference';
CREATE TABLE js (id INT PRIMARY KEY, y INT) COMMENT 'skarv:reference';
CREATE TABLE jn (n INT PRIMARY KEY, z INT) COMMENT 'skarv:reference';
INSERT INTO ja VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8);
INSERT INTO jb SELECT id, a FROM ja;
INSERT INTO jc SELECT id, a FROM ja;
INSERT INTO jr SELECT id, a FROM ja;
INSERT INTO js SELECT id, a FROM ja;
INSERT INTO jn SELECT id, a FROM ja;
SELECT COUNT(*) FROM ja JOIN jb USING (id), jr JOIN jc USING (id);
SELECT COUNT(*) FROM ja JOIN jb USING (id), jr JOIN js USING (id) WHERE js.id = 5;
SELECT COUNT(*) FROM ja JOIN jb USING (id), jr JOIN jn ON id = 5;
SELECT COUNT(*) FROM ja NATURAL JOIN jb, jr NATURAL JOIN jc;
SELECT COUNT(*) FROM (ja JOIN jb USING (id)) JOIN (jr JOIN jc USING (id)) ON a = x + 1;
SELECT COUNT(*) FROM (ja JOIN jb USING (id)) JOIN (jr JOIN jc USING (id)) USING (id);
SELECT id, a, d FROM jr LEFT JOIN (ja JOIN jb USING (id)) USING (id), jn LEFT JOIN jc ON jc.id = n AND d < 3 WHERE id < 4 AND n < 4 ORDER BY id, n;
SELECT COUNT(*), MAX(id) FROM ja RIGHT JOIN jb USING (id), jn RIGHT JOIN jc ON id = n;
SELECT COUNT(*) FROM ja JOIN jb USING (id), jn WHERE id = 5;
SELECT COUNT(*) FROM ja JOIN jb USING (id), jr WHERE id = 5;
SELECT COUNT(*) FROM (ja JOIN jb USING (id)) JOIN jr ON id = 5;
SELECT COUNT(*) FROM (ja JOIN jr ON ja.id = jr.id) JOIN jb USING (id);
SELECT COUNT(*) FROM ja JOIN jb USING (id) WHERE EXISTS (SELECT 1 FROM jn WHERE n = id);
DROP TABLE ja, jb, jc, jr, js, jn;

-- Strings that are equal may be different numbers.
CREATE TABLE sn (id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_unicode_ci);
CREATE TABLE sm (id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_unicode_ci);
CREATE TABLE sk (v VARCHAR(20) COLLATE utf8mb4_unicode_ci PRIMARY KEY, x INT);
INSERT INTO sn VALUES (1, '５'), (2, '5'), (3, '6'), (4, '5 '), (5, '05');
INSERT INTO sm VALUES (11, '5'), (12, '6'), (13, '05');
INSERT INTO sk VALUES ('５', 1), ('6', 2);
SELECT sn.id, sm.id FROM sn JOIN sm ON sn.v = sm.v WHERE sm.v = 5 ORDER BY 1, 2;
SELECT sn.id, sm.id FROM sn JOIN sm ON sn.v = sm.v WHERE sm.v = '5' ORDER BY 1, 2;
SELECT sm.id, sk.x FROM sk JOIN sm ON sk.v = sm.v WHERE sm.v = 5 ORDER BY 1, 2;
SELECT sm.id, sk.x FROM sk JOIN sm ON sk.v = sm.v WHERE sm.v = '5' ORDER BY 1, 2;
SELECT sm.id FROM sm WHERE v = 5 AND EXISTS (SELECT 1 FROM sn WHERE sn.v = sm.v AND sn.id <> 2) ORDER BY 1;
-- args: [5]
SELECT sn.id, sm.id FROM sn JOIN sm ON sn.v = sm.v WHERE sm.v = ? ORDER BY 1, 2;
-- args: ["5"]
SELECT sn.id, sm.id FROM sn JOIN sm ON sn.v = sm.v WHERE sm.v = ? ORDER BY 1, 2;
-- args: [5]
SELECT sm.id, sk.x FROM sk JOIN sm ON sk.v = sm.v WHERE sm.v = ? ORDER BY 1, 2;
DROP TABLE sn, sm, sk;

-- Names in ON, and in subqueries there, are those of the tables of its join, and of what is around the query.
CREATE TABLE oa (id INT PRIMARY KEY, x INT);
CREATE TABLE ob (x INT PRIMARY KEY, z INT);
CREATE TABLE oc (id INT PRIMARY KEY, y INT);
CREATE TABLE od (id INT PRIMARY KEY, x INT, y INT);
CREATE TABLE oe (id INT PRIMARY KEY);
INSERT INTO oa VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50);
INSERT INTO ob VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50);
INSERT INTO oc VALUES (1, 1), (2, 2), (3, 3), (4, 1), (5, 5);
INSERT INTO od VALUES (1, 1, 1), (2, 2, 2), (3, 1, 2), (4, 4, 4), (5, 2, 2);
INSERT INTO oe VALUES (2);
SELECT id FROM od WHERE EXISTS (SELECT 1 FROM oa, oc b JOIN oc c ON b.id = x WHERE oa.id = od.id AND b.id = od.id AND c.id = od.id) ORDER BY id;
SELECT od.id, q.id FROM od JOIN oe q ON q.id = od.y WHERE EXISTS (SELECT 1 FROM ob, oc b JOIN oc c ON b.id = x WHERE ob.x = od.id AND b.id = od.id AND c.id = od.id) ORDER BY od.id;
SELECT id, (SELECT SUM(c.y) FROM ob, oc b JOIN oc c ON b.id = x) AS n FROM od ORDER BY id;
SELECT id, (SELECT SUM(c.y) FROM ob, oc b JOIN oc c ON c.id = b.id AND b.y = x WHERE ob.x = b.id) AS n FROM od ORDER BY id;
SELECT id FROM od WHERE id IN (SELECT c.y FROM ob, oc b JOIN oc c ON c.id = b.id AND b.y = x WHERE ob.x = b.id) ORDER BY id;
SELECT id FROM od WHERE 25 < (SELECT SUM(c.y) FROM ob, oc b JOIN oc c ON b.id = x AND b.id IN (SELECT id FROM oe)) ORDER BY id;
SELECT id FROM od WHERE EXISTS (SELECT 1 FROM ob, oc b JOIN oc c ON b.id = c.id AND EXISTS (SELECT 1 FROM oe WHERE oe.id = x) WHERE ob.x = od.id AND b.id = od.id) ORDER BY id;
SELECT id, (SELECT COUNT(*) FROM ob, oc b LEFT JOIN oc c ON b.id = c.id AND EXISTS (SELECT 1 FROM oe WHERE oe.id = x) WHERE ob.x = od.id AND b.id = od.id AND c.id IS NULL) AS n FROM od ORDER BY id;
SELECT id, (SELECT SUM(c.y) FROM ob, oc b LEFT JOIN oc c ON b.id = c.id AND x IN (SELECT oe.id FROM oe) WHERE ob.x = od.id AND b.id = od.id) AS n FROM od ORDER BY id;
SELECT COUNT(*) FROM ob, oc b JOIN oc c ON b.id = c.id AND EXISTS (SELECT 1 FROM oe WHERE oe.id = x) WHERE ob.x = b.id;
DROP TABLE oa, ob, oc, od, oe;

-- Joins inside of joins, with and without parentheses.
CREATE TABLE nest_a (id INT PRIMARY KEY, x INT);
CREATE TABLE nest_b (id INT PRIMARY KEY, x INT);
CREATE TABLE nest_c (id INT PRIMARY KEY, x INT);
CREATE TABLE nest_d (id INT PRIMARY KEY, x INT);
INSERT INTO nest_a VALUES (1, 1), (2, 2), (9, 9), (10, 1);
INSERT INTO nest_b VALUES (2, 1), (3, 2), (9, 9), (10, 5);
INSERT INTO nest_c VALUES (3, 1), (4, 2), (9, 9), (10, 6);
INSERT INTO nest_d VALUES (9, 9), (1, 1), (10, 7);
SELECT a.id, b.id, c.id FROM nest_a a LEFT JOIN nest_b b JOIN nest_c c ON b.id = c.id ON a.id = b.id ORDER BY a.id;
SELECT COUNT(*), COUNT(b.id) FROM nest_a a LEFT JOIN nest_b b JOIN nest_c c ON b.id = c.id ON a.id = b.id;
SELECT a.id, b.id, c.id FROM nest_a a LEFT JOIN nest_b b JOIN nest_c c ON b.x = c.x ON a.id = b.id ORDER BY a.id, c.id;
SELECT a.id, b.id, c.id, d.id FROM nest_a a LEFT JOIN nest_b b LEFT JOIN nest_c c JOIN nest_d d ON c.id = d.id ON b.id = c.id ON a.id = b.id ORDER BY a.id;
SELECT a.id, b.id, c.id FROM nest_a a JOIN nest_b b RIGHT JOIN nest_c c ON b.id = c.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a CROSS JOIN nest_b b RIGHT JOIN nest_c c ON b.id = c.id WHERE a.id = 1 OR a.id IS NULL ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a JOIN nest_b b RIGHT JOIN nest_c c ON b.id = c.id ON a.id = b.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id, d.id FROM nest_a a JOIN nest_b b JOIN nest_c c RIGHT JOIN nest_d d ON c.id = d.id ON b.id = c.id ORDER BY 1, 2, 3, 4;
SELECT a.id, b.id, c.id, d.id FROM nest_a a JOIN nest_b b LEFT JOIN nest_c c JOIN nest_d d ON c.id = d.id ON b.id = c.id ORDER BY 1, 2, 3, 4;
SELECT a.id, b.id, c.id FROM nest_a a LEFT JOIN nest_b b RIGHT JOIN nest_c c ON b.id = c.id ON a.id = b.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a LEFT JOIN nest_b b STRAIGHT_JOIN nest_c c ON b.id = c.id ON a.id = b.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a LEFT JOIN nest_b b NATURAL JOIN nest_c c ON a.id = b.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a NATURAL LEFT JOIN nest_b b JOIN nest_c c ON a.id = c.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM (nest_a a JOIN nest_b b ON a.id = b.id) RIGHT JOIN (nest_c c LEFT JOIN nest_d d ON c.id = d.id) ON a.id = c.id ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a JOIN nest_b b USING (id) NATURAL RIGHT JOIN nest_c c ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM nest_a a LEFT JOIN nest_b b CROSS JOIN nest_c c ON a.id = b.id ORDER BY 1, 2, 3;
UPDATE nest_a a LEFT JOIN nest_b b JOIN nest_c c ON b.id = c.id ON a.id = b.id SET a.x = COALESCE(c.x, -1);
SELECT * FROM nest_a ORDER BY id;
DELETE a FROM nest_a a LEFT JOIN nest_b b JOIN nest_c c ON b.id = c.id ON a.id = b.id WHERE c.id IS NULL;
SELECT * FROM nest_a ORDER BY id;
