CREATE TABLE a (id INT PRIMARY KEY, g INT, n INT, v VARCHAR(10));
CREATE TABLE b (id INT PRIMARY KEY, g INT, v VARCHAR(10));
CREATE TABLE r (id INT PRIMARY KEY, g INT) COMMENT 'skarv:reference';
INSERT INTO a VALUES (1, 1, 10, 'a'), (2, 1, 20, 'b'), (3, 2, 30, NULL), (4, 2, 40, 'D'), (5, 3, 50, 'e');
INSERT INTO b VALUES (2, 1, 'b'), (3, 5, NULL), (4, 2, 'd'), (7, 7, 'g');
INSERT INTO r VALUES (1, 1), (2, 7);
CREATE VIEW both_ids AS SELECT id, g FROM a INTERSECT SELECT id, g FROM b;
CREATE VIEW only_a AS SELECT id, v FROM a EXCEPT SELECT id, v FROM b;
CREATE VIEW mixed (x, y) AS SELECT g, v FROM a UNION SELECT g, v FROM b EXCEPT SELECT g, 'a' FROM r;
CREATE VIEW small AS SELECT id FROM r EXCEPT SELECT g FROM r;
CREATE VIEW over_view AS SELECT o.id, o.v, a.n FROM only_a o JOIN a ON a.id = o.id;
SELECT * FROM both_ids ORDER BY id;
SELECT * FROM only_a ORDER BY id;
SELECT * FROM mixed ORDER BY x, y;
SELECT * FROM small;
SELECT * FROM over_view ORDER BY id;
SELECT COUNT(*), MAX(id) FROM only_a;
SELECT id FROM only_a WHERE v = 'a';
SELECT a.id, a.n, m.y FROM a JOIN mixed m ON m.x = a.g ORDER BY 1, 3;
SELECT id FROM a WHERE id IN (SELECT id FROM both_ids) ORDER BY id;
SELECT id FROM both_ids UNION SELECT id FROM r ORDER BY id;
SELECT x.id, y.id FROM both_ids x LEFT JOIN only_a y ON x.id = y.id ORDER BY 1;
UPDATE a SET n = n + 1 WHERE id IN (SELECT id FROM both_ids);
DELETE FROM b WHERE id NOT IN (SELECT id FROM both_ids) AND id > 4;
INSERT INTO b SELECT id + 100, 1, v FROM only_a;
SELECT * FROM a ORDER BY id;
SELECT * FROM b ORDER BY id;
BEGIN;
INSERT INTO a VALUES (7, 7, 70, 'g');
SELECT * FROM only_a ORDER BY id;
ROLLBACK;
UPDATE only_a SET v = 'x';
CREATE VIEW rolled AS SELECT g, COUNT(*) AS c, SUM(n) AS s FROM a GROUP BY g WITH ROLLUP;
SELECT g + 0, c, s FROM rolled ORDER BY g, c;
SELECT g + 0, s FROM rolled WHERE c > 1 ORDER BY g, s;
SELECT a.id, x.s FROM a JOIN rolled x ON x.g = a.g ORDER BY a.id;
DROP TABLE b;
SELECT * FROM both_ids;
-- Views of VALUES, whose columns have names outside of it.
-- only: mysql
CREATE TABLE vt (id INT PRIMARY KEY, g INT, s VARCHAR(10));
-- only: mysql
INSERT INTO vt VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
-- only: mysql
CREATE VIEW vv2 (a, b) AS VALUES ROW(1, 2), ROW(3, 4);
-- only: mysql
SELECT * FROM vv2 ORDER BY a;
-- only: mysql
SELECT * FROM vv2 JOIN vt ON a = id ORDER BY 1;
-- only: mysql
SELECT x.b, vt.s FROM vv2 AS x LEFT JOIN vt ON x.a = vt.g ORDER BY 1, 2;
-- only: mysql
SELECT id FROM vt WHERE id IN (SELECT a FROM vv2) ORDER BY id;
-- only: mysql
SELECT COUNT(*) FROM vv2 WHERE a > 1;
-- only: mysql
CREATE VIEW vv4 AS VALUES ROW(1, 'x'), ROW(2, 'y') UNION SELECT id, s FROM vt;
-- only: mysql
SELECT * FROM vv4 ORDER BY 1, 2;
-- only: mysql
SELECT vv4.column_1, vt.id FROM vv4 JOIN vt ON vt.g = vv4.column_0 ORDER BY 1, 2;
-- only: mysql
CREATE VIEW vv5 AS SELECT * FROM vv2;
-- only: mysql
SELECT * FROM vv5 JOIN vt ON a = id ORDER BY 1;
-- only: mysql
INSERT INTO vt SELECT a + 10, b, 'v' FROM vv2;
-- only: mysql
SELECT * FROM vt ORDER BY id;
-- only: mysql
ALTER VIEW vv2 (b, a) AS VALUES ROW(1, 2), ROW(3, 4);
-- only: mysql
SELECT * FROM vv2 JOIN vt ON a = id ORDER BY 1;
-- only: mysql
INSERT INTO vv2 VALUES (1, 2);
-- only: mysql
UPDATE vv2 SET a = 1;
