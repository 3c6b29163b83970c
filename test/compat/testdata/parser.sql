-- Forms that the syntax parser refuses or alters, over rows of one node group and of several.
CREATE TABLE t (id INT PRIMARY KEY, g INT, v VARCHAR(20), j JSON, KEY g (g));
INSERT INTO t VALUES (1, 1, 'a', '{"a": 1}'), (2, 1, 'b', '{"b": 2}'), (3, 2, 'C', NULL), (4, 2, 'd', '[]'), (5, 3, NULL, '{"a": null}');
CREATE TABLE s (id INT PRIMARY KEY, v VARCHAR(20)) COMMENT 'skarv:single';
INSERT INTO s VALUES (1, 'x'), (2, 'y');
-- only: mysql
SELECT id FROM t WHERE id = 1 FOR UPDATE OF t;
-- only: mysql
SELECT id FROM t ORDER BY id FOR UPDATE OF t;
-- only: mysql
SELECT x.id, y.v FROM t x JOIN s y ON x.g = y.id ORDER BY x.id, y.id FOR UPDATE OF x;
-- only: mysql
SELECT id FROM t WHERE g = 2 ORDER BY id FOR SHARE OF t SKIP LOCKED;
SELECT id FROM t WHERE g = 2 ORDER BY id FOR UPDATE SKIP LOCKED;
-- only: mysql
SELECT id, JSON_VALUE(j, '$.a' RETURNING SIGNED DEFAULT 7 ON EMPTY DEFAULT 8 ON ERROR) AS x FROM t ORDER BY id;
-- only: mysql
SELECT SUM(JSON_VALUE(j, '$.a' RETURNING SIGNED NULL ON EMPTY)) AS x FROM t WHERE id < 4;
-- only: mysql
SELECT id FROM t WHERE JSON_VALUE(j, '$.b' RETURNING SIGNED ERROR ON ERROR) = 2;
SELECT id, JSON_VALUE(j, '$.a') AS x FROM t ORDER BY id;
INSERT DELAYED INTO s VALUES (3, 'z');
INSERT DELAYED INTO t (id) VALUES (6), (7);
REPLACE LOW_PRIORITY INTO t (id, g) VALUES (6, 1), (7, 2);
DELETE LOW_PRIORITY FROM t WHERE id > 5;
SELECT HIGH_PRIORITY COUNT(*) FROM t;
SELECT SQL_BIG_RESULT g, COUNT(*) FROM t GROUP BY g ORDER BY g;
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
SELECT 'a' = 'A', @@collation_connection, @@character_set_client;
SELECT id FROM t WHERE 'a' = 'A';
SELECT id FROM t WHERE CONCAT('c') = CAST('C' AS CHAR) ORDER BY id;
SET NAMES utf8mb4;
SELECT COUNT(*) FROM t WHERE 'a' = 'A';
SET NAMES DEFAULT;
CREATE TABLE x (id INT PRIMARY KEY);
CREATE TABLE y (id INT PRIMARY KEY);
DROP TABLE x CASCADE;
DROP TABLE y, x RESTRICT;
DROP TABLE IF EXISTS y CASCADE;
SHOW TABLES;
SELECT id+1, COUNT( * ) , UPPER( v ) FROM t WHERE id = 3 GROUP BY id+1, v;
SELECT COUNT( DISTINCT  g ), MAX(id)  -  1, 'lit', 1.50, NULL, -id FROM t GROUP BY -id ORDER BY -id LIMIT 2;
SELECT id IN (1,2), NOT id, !id, id <=> NULL, id XOR 1, id DIV 2, id MOD 2 FROM t ORDER BY id;
SELECT CASE g WHEN 1 THEN 'one' ELSE 'many' END, IF(g>1,'x',"y") FROM t ORDER BY id;
SELECT (SELECT MAX(id) FROM s), EXISTS(SELECT 1 FROM t WHERE g = 9);
SELECT DATE '2026-01-01', TIME '10:00:00', TIMESTAMP '2026-01-01 10:00:00', X'4142', 0x41, b'101', _utf8mb4'a' FROM t WHERE id = 1;
SELECT N'text', 'a' 'b', "quo""te", 'it''s', 'back\\slash', 1e3, .5, 5. FROM t ORDER BY id LIMIT 1;
SELECT /*! STRAIGHT_JOIN */ x.id FROM t x JOIN t y ON x.id = y.g ORDER BY x.id, y.id;
SELECT /*!50000 id, */ g FROM t ORDER BY id;
SELECT id -- a comment
FROM t # another
ORDER BY id;
SELECT `id`, `t`.`g` FROM `compat`.`t` ORDER BY `compat`.`t`.`id`;
SELECT t.id FROM t USE INDEX (PRIMARY) IGNORE INDEX FOR ORDER BY (g) WHERE g > 0 ORDER BY t.id;
SELECT id FROM t WHERE v REGEXP '^[a-c]$' ORDER BY id;
SELECT id FROM t WHERE v RLIKE 'C' ORDER BY id;
SELECT id FROM t WHERE v LIKE 'a|%' ESCAPE '|' OR v LIKE BINARY 'C' ORDER BY id;
SELECT id FROM t WHERE (id, g) IN ((1, 1), (3, 2)) ORDER BY id;
SELECT id FROM t WHERE ROW(id, g) = ROW(4, 2);
SELECT id FROM t WHERE g BETWEEN SYMMETRIC 1 AND 2;
SELECT EXTRACT(YEAR FROM '2026-05-01'), INTERVAL(3, 1, 2, 5), '2026-01-31' + INTERVAL 1 MONTH FROM t WHERE id IN (1, 2);
SELECT TRIM(LEADING 'a' FROM v), SUBSTRING(v FROM 1 FOR 1), POSITION('a' IN v), CHAR(65, 66 USING utf8mb4), CONVERT(v, CHAR(3)), WEIGHT_STRING(v AS CHAR(2)) FROM t WHERE id <= 2 ORDER BY id;
SELECT GROUP_CONCAT(DISTINCT v ORDER BY v DESC SEPARATOR '|') FROM t;
SELECT NTH_VALUE(v, 2) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t ORDER BY id;
SELECT NTH_VALUE(v, 2) FROM LAST OVER (ORDER BY id) FROM t;
SELECT LAST_VALUE(v) IGNORE NULLS OVER (ORDER BY id) FROM t;
-- only: mysql
SELECT * FROM t, LATERAL (SELECT COUNT(*) AS n FROM s WHERE s.id = t.g) l ORDER BY t.id;
-- only: mysql
SELECT id FROM t WHERE g MEMBER OF ('[1, 3]') ORDER BY id;
-- only: mysql
SELECT j->'$.a', j->>'$.b' FROM t ORDER BY id;
-- only: mysql
SELECT g, GROUPING(g), COUNT(*) FROM t GROUP BY g WITH ROLLUP;
-- only: mysql
TABLE t ORDER BY id LIMIT 2 OFFSET 1;
-- only: mysql
INSERT INTO t (id, g) VALUES (8, 1), (9, 2) AS new ON DUPLICATE KEY UPDATE g = new.g + 1;
-- only: mysql
INSERT INTO t (id, g) VALUES ROW(8, 4), ROW(10, 4) ON DUPLICATE KEY UPDATE g = VALUES(g) + 1;
-- only: mariadb
INSERT INTO t (id, g) VALUES (8, 1), (9, 2) RETURNING id, g + 1;
-- only: mariadb
INSERT INTO t (id, g) SELECT id + 2, g FROM t WHERE id = 8 RETURNING id;
-- only: mariadb
REPLACE INTO t (id, g) VALUES (8, 4), (9, 5) RETURNING *;
-- only: mariadb
DELETE FROM t WHERE id = 8 RETURNING id, g;
-- only: mariadb
DELETE FROM s WHERE id = 3 RETURNING id, v;
SELECT id, g FROM t ORDER BY id;
-- only: mariadb
CREATE OR REPLACE TABLE r (id INT PRIMARY KEY, a INT);
-- only: mariadb
INSERT INTO r VALUES (1, 1), (2, 2);
-- only: mariadb
CREATE OR REPLACE TABLE r (id INT PRIMARY KEY, b INT);
-- only: mariadb
SELECT * FROM r;
-- only: mariadb
-- skip-prepared
EXECUTE IMMEDIATE 'SELECT id, g + ? FROM t WHERE id < ? ORDER BY id' USING 10, 4;
-- only: mariadb
CREATE TABLE u (id UUID PRIMARY KEY, ip INET6, v INT);
-- only: mariadb
INSERT INTO u VALUES ('00000000-0000-0000-0000-000000000001', '::1', 1), ('ffffffff-0000-0000-0000-000000000002', '10.0.0.1', 2);
-- only: mariadb
SELECT * FROM u ORDER BY id;
-- only: mariadb
SELECT v FROM u WHERE id = 'FFFFFFFF-0000-0000-0000-000000000002';
-- only: mariadb
SELECT MAX(ip), MIN(id) FROM u WHERE v > 0;
-- only: mariadb
SELECT id FROM t WHERE id < 9 EXCEPT ALL SELECT g FROM t ORDER BY id;
-- only: mariadb
SELECT * FROM t FOR SYSTEM_TIME ALL WHERE id = 1;
-- only: mariadb
SELECT id FROM t ORDER BY id FETCH FIRST 2 ROWS ONLY;
-- only: mariadb
SELECT id, g FROM t ORDER BY g FETCH FIRST 1 ROWS WITH TIES;
-- only: mariadb
SELECT MEDIAN(id) OVER (PARTITION BY g) FROM t ORDER BY 1;
-- only: mariadb
SELECT id FROM t LIMIT ROWS EXAMINED 100000;
-- refused: those of a session
-- only: mariadb
CREATE TEMPORARY SEQUENCE sq;
-- refused: accounts have no hosts
CREATE USER a@b;
GRANT SELECT ON t TO a@10.0.0.1;
-- refused: a file of one server
LOAD XML INFILE 'x' INTO TABLE t;
-- refused: transactions over node groups are XA already
XA RECOVER;
-- refused: transactions over node groups are XA already
XA END 'x';
-- refused: it is a place in one table of one server
HANDLER t READ FIRST;
