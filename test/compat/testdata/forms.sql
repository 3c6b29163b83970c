CREATE TABLE t (id INT PRIMARY KEY, g INT, v VARCHAR(20), KEY g (g));
INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 2, 'd'), (5, 3, NULL);
CREATE TABLE s (id INT PRIMARY KEY, v VARCHAR(20)) COMMENT 'skarv:single';
INSERT INTO s VALUES (1, 'x'), (2, 'y');
TABLE s;
TABLE t ORDER BY id LIMIT 2;
VALUES ROW(1, 'a'), ROW(2, 'b');
SELECT id FROM t EXCEPT SELECT id FROM s ORDER BY 1;
SELECT id FROM t INTERSECT SELECT id FROM s ORDER BY 1;
SELECT v FROM s WHERE v SOUNDS LIKE 'x';
SELECT id FROM t WHERE v SOUNDS LIKE 'a';
SELECT * FROM {OJ t LEFT OUTER JOIN s ON t.id = s.id} ORDER BY t.id;
BEGIN WORK;
COMMIT WORK;
BEGIN;
COMMIT AND CHAIN;
ROLLBACK AND NO CHAIN;
SELECT * FROM s WHERE id = 1 FOR UPDATE;
INSERT LOW_PRIORITY INTO s VALUES (3, 'z');
INSERT LOW_PRIORITY INTO t VALUES (6, 3, 'f');
INSERT HIGH_PRIORITY INTO t VALUES (7, 3, 'g');
UPDATE LOW_PRIORITY t SET v = 'h' WHERE id = 7;
DELETE LOW_PRIORITY QUICK FROM t WHERE id = 7;
DO 1, 2;
DO SLEEP(0);
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'mine', MYSQL_ERRNO = 4711;
SHOW WARNINGS;
SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'only a warning';
SHOW WARNINGS;
CHECK TABLE t;
CHECK TABLE s, t;
-- only: mariadb
CREATE VIEW checked AS SELECT id FROM t;
-- only: mariadb
CHECK VIEW checked;
-- only: mariadb
CHECK VIEW compat.checked, t, nothing;
-- only: mariadb
REPAIR VIEW checked;
-- only: mariadb
DROP VIEW checked;
CHECKSUM TABLE s;
CHECKSUM TABLE t;
ANALYZE TABLE s;
ANALYZE TABLE t;
-- only: mariadb
ANALYZE TABLE t PERSISTENT FOR ALL;
OPTIMIZE TABLE s;
OPTIMIZE TABLE t;
-- skip-prepared
HELP 'nothing like this';
-- refused: it is a place in one table of one server
HANDLER s OPEN;
-- skip-prepared
-- refused: it is about one server
-- only: mysql
LOCK INSTANCE FOR BACKUP;
-- skip-prepared
-- refused: it is about one server
-- only: mysql
UNLOCK INSTANCE;
-- refused: EXPLAIN is Skarv's own
-- only: mysql
EXPLAIN FORMAT=JSON INTO @plan SELECT * FROM t;
-- only: mysql
-- skip-prepared
ANALYZE SELECT 1;
-- refused: no node group has all its rows
-- only: mysql
CREATE JSON DUALITY VIEW jd AS SELECT JSON_DUALITY_OBJECT('_id': id, 'g': g) FROM t;
-- refused: no node group has all its rows
-- only: mysql
CREATE MATERIALIZED VIEW mv AS SELECT * FROM t;
-- refused: a server's own
-- only: mysql
CREATE OR REPLACE SPATIAL REFERENCE SYSTEM 990001 NAME 'x' DEFINITION 'GEOGCS["x",DATUM["x",SPHEROID["x",6378137,298.25]],PRIMEM["x",0],UNIT["d",0.017453292519943278],AXIS["Lat",NORTH],AXIS["Lon",EAST]]';
-- refused: a server's own
-- only: mysql
SHOW LIBRARY STATUS;
-- refused: copies of tables would have the key, too
-- only: mysql
SET SESSION sql_generate_invisible_primary_key = ON;
-- only: mysql
SET SESSION sql_require_primary_key = ON;
-- only: mysql
CREATE TABLE keyless (a INT);
-- only: mysql
CREATE TABLE keyless SELECT * FROM t;
-- only: mysql
SELECT a.id, b.id FROM t a JOIN t b ON a.g = b.g + 1 ORDER BY 1, 2;
-- only: mysql
SET SESSION sql_require_primary_key = OFF;
-- only: mysql
CREATE TABLE keyless (a INT);
-- only: mysql
SET SESSION sql_require_primary_key = ON;
-- only: mysql
ALTER TABLE keyless ADD COLUMN b INT;
-- only: mysql
ALTER TABLE t DROP PRIMARY KEY;
-- only: mysql
SET SESSION sql_require_primary_key = OFF;
-- only: mysql
DROP TABLE keyless;
-- only: mysql
SELECT FORMAT_BYTES(id * 1024), FORMAT_PICO_TIME(id) FROM t ORDER BY id;
-- only: mysql
SELECT FORMAT_BYTES(SUM(id)), g FROM t GROUP BY g ORDER BY g;
-- only: mysql
SELECT FORMAT_BYTES(a.id) FROM t a JOIN t b ON a.g = b.g ORDER BY a.id, b.id;
-- refused: transactions over node groups are XA already
XA START 'x';
SHOW CREATE TABLE t;
SHOW TABLE STATUS LIKE 'nothing';
SHOW FULL COLUMNS FROM t;
SHOW CHARACTER SET LIKE 'latin1';
SHOW COLLATION LIKE 'latin1_bin';
SHOW ENGINES;
SHOW VARIABLES LIKE 'sql_mode';
SHOW DATABASES LIKE 'compat';
SHOW OPEN TABLES LIKE 'nothing';
SHOW TRIGGERS;
SHOW EVENTS;
SHOW PROCEDURE STATUS WHERE Db = 'compat';
SHOW FUNCTION STATUS WHERE Db = 'compat';
SHOW CREATE DATABASE compat;
SHOW PLUGINS;
SHOW PRIVILEGES;
SHOW REPLICA STATUS;
-- only: mariadb
SHOW SLAVE STATUS;
-- only: mariadb
SHOW CLIENT_STATISTICS;
SHOW PROFILES;
SHOW PROFILE CPU FOR QUERY 1;
SELECT @@profiling;
-- skip-prepared
SET profiling = 1;
-- refused: statements run on several servers
SHOW PROFILES;
-- skip-prepared
SET profiling = 0;
SELECT 'a' || 'b';
SET sql_mode = 'PIPES_AS_CONCAT';
SELECT 'a' || 'b';
SELECT id, v || '!' FROM t ORDER BY id;
SET sql_mode = DEFAULT;
SELECT NTH_VALUE(v, 2) FROM FIRST OVER (ORDER BY id) FROM s;
SELECT JSON_VALUE('{"a": 1}', '$.a');
-- skip-prepared
EXPLAIN s;
DESC t id;
-- refused: of one server
EXPLAIN FOR CONNECTION 1;
SELECT 1;
SELECT table_rows >= 0 FROM information_schema.tables WHERE table_schema = 'compat' AND table_name = 't';
-- refused: of one server
CACHE INDEX t IN x;
-- refused: of one server
SHOW ENGINE INNODB MUTEX;
-- refused: it would end the binary logs of all servers
-- only: mariadb
FLUSH STATUS, MASTER;
SHOW OPEN TABLES WHERE `Database` = 'nothing';
CREATE TABLE texts (id INT PRIMARY KEY, g INT, body TEXT, FULLTEXT KEY body (body));
INSERT INTO texts VALUES (1, 1, 'hello world'), (2, 1, 'goodbye world'), (3, 2, 'hello there'), (4, 2, NULL), (5, 3, 'hello hello moon');
SELECT id FROM texts WHERE MATCH (body) AGAINST ('+hello -there' IN BOOLEAN MODE) ORDER BY id;
SELECT g, COUNT(*) FROM texts WHERE MATCH (body) AGAINST ('hello goodbye' IN BOOLEAN MODE) AND g < 3 GROUP BY g ORDER BY g;
SELECT COUNT(*) FROM texts WHERE NOT MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) OR id = 1;
UPDATE texts SET g = g + 10 WHERE MATCH (body) AGAINST ('"hello moon" moo*' IN BOOLEAN MODE);
SELECT id, g FROM texts ORDER BY id;
-- refused: relevance
SELECT id FROM texts WHERE MATCH (body) AGAINST ('hello') ORDER BY id;
-- refused: relevance
SELECT id, MATCH (body) AGAINST ('hello' IN BOOLEAN MODE) FROM texts ORDER BY id;
-- only: mariadb
SELECT * FROM seq_1_to_5;
-- only: mariadb
SELECT t.id, n.seq, t.id * n.seq FROM t JOIN seq_1_to_9_step_2 n ON n.seq >= t.id ORDER BY 1, 2;
-- only: mariadb
SELECT n.seq, COUNT(t.id) FROM seq_0_to_4 n LEFT JOIN t ON t.g = n.seq GROUP BY n.seq ORDER BY n.seq;
-- only: mariadb
SELECT seq FROM seq_3_to_1 UNION SELECT id FROM t ORDER BY 1;
-- only: mariadb
INSERT INTO t SELECT seq, seq MOD 3, CONCAT('n', seq) FROM seq_100_to_150;
-- only: mariadb
SELECT COUNT(*), SUM(id), MAX(v) FROM t;
-- only: mariadb
SELECT a.seq FROM seq_1_to_3 a JOIN seq_1_to_3 b ON a.seq = b.seq ORDER BY 1;
-- only: mariadb
INSERT INTO seq_1_to_3 VALUES (4);
-- A query in parentheses with ORDER BY or LIMIT, and more of them behind it.
CREATE TABLE twice (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO twice VALUES (1, 1, 30), (2, 2, 20), (3, 1, 10), (4, 2, 30), (5, 1, 20), (6, 2, 10), (7, 3, 5), (8, 4, 1);
(SELECT b, a FROM twice ORDER BY b, a LIMIT 3) ORDER BY a, b;
(SELECT id FROM twice ORDER BY id DESC LIMIT 4) ORDER BY id LIMIT 2;
((SELECT id FROM twice ORDER BY id DESC LIMIT 4)) LIMIT 1;
(SELECT b, a FROM twice ORDER BY a, b) ORDER BY b, a;
SELECT COUNT(*), SUM(id) FROM ((SELECT id FROM twice ORDER BY a DESC, id LIMIT 3) ORDER BY id LIMIT 2) AS x;
SELECT id FROM twice WHERE a IN (SELECT MAX(a) FROM twice) ORDER BY id LIMIT 1;
(SELECT id FROM twice ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM twice ORDER BY id DESC LIMIT 2) ORDER BY id DESC LIMIT 3;
INSERT INTO twice (SELECT id + 100, a, b FROM twice ORDER BY id DESC LIMIT 3) ORDER BY 1 LIMIT 2;
SELECT * FROM twice ORDER BY id;
DROP TABLE twice;
-- An aggregate in a condition of a subquery is one of the query around it.
CREATE TABLE outer1 (id INT PRIMARY KEY, a INT);
CREATE TABLE inner2 (m INT PRIMARY KEY, n INT);
INSERT INTO outer1 VALUES (1, 2), (2, 2), (3, 3), (4, 3), (5, 3), (6, 4);
INSERT INTO inner2 VALUES (1, 11), (2, 22), (3, 32), (4, 44);
SELECT COUNT(*), a, (SELECT n FROM inner2 WHERE m = COUNT(*) LIMIT 1) FROM outer1 GROUP BY a ORDER BY a;
SELECT COUNT(*), a, (SELECT MIN(n) FROM inner2 WHERE m = COUNT(*)) FROM outer1 GROUP BY a ORDER BY a;
SELECT COUNT(*), a FROM outer1 GROUP BY a HAVING (SELECT MIN(m) FROM inner2 WHERE m = COUNT(*)) > 1 ORDER BY a;
DROP TABLE outer1, inner2;
-- The session's settings count for what it defines.
SET character_set_server = latin1;
DROP DATABASE IF EXISTS compat_latin;
CREATE DATABASE compat_latin;
SET collation_server = utf8mb4_bin;
CREATE TABLE compat_latin.t (a CHAR(3));
CREATE DATABASE compat_bin;
SHOW CREATE DATABASE compat_latin;
SHOW CREATE DATABASE compat_bin;
SELECT collation_name FROM information_schema.columns WHERE table_schema = 'compat_latin';
DROP DATABASE compat_latin;
DROP DATABASE compat_bin;
SET character_set_server = utf8mb4;
-- only: mariadb
SET old_mode = '';
CREATE TABLE old_utf8 (id INT PRIMARY KEY, a CHAR(3) CHARACTER SET utf8);
SELECT character_set_name FROM information_schema.columns WHERE table_schema = 'compat' AND table_name = 'old_utf8' AND column_name = 'a';
-- only: mariadb
SET old_mode = DEFAULT;

-- MariaDB's DO only mentions what goes wrong while it computes.
-- only: mariadb
-- skip-prepared
DO (SELECT id FROM t);
-- only: mariadb
-- skip-prepared
SHOW WARNINGS;
-- only: mariadb
-- skip-prepared
SELECT @@error_count, @@warning_count, ROW_COUNT();
-- only: mariadb
-- skip-prepared
DO 9223372036854775807 + 1;
-- only: mariadb
-- skip-prepared
DO 9223372036854775807 + (SELECT MAX(id) FROM t);
-- only: mariadb
-- skip-prepared
DO (SELECT 1 UNION SELECT 2);
-- only: mariadb
-- skip-prepared
DO 1, (SELECT id FROM t);
DO (SELECT id FROM t WHERE id = 1);
DO (SELECT id FROM t WHERE id = -1);
DO (SELECT id, g FROM t WHERE id = 1);
DO EXISTS (SELECT id FROM t);
DO (SELECT nope FROM t);

-- only: mariadb
SHOW AUTHORS;
-- only: mariadb
SHOW CONTRIBUTORS;

-- A word that is reserved to no server, in the place of a name.
CREATE TABLE called (id INT PRIMARY KEY, nextval INT) PARTITION BY KEY (id);
INSERT INTO called VALUES (1, 2), (2, 3), (3, 4);
SELECT nextval next FROM called;
SELECT id next, nextval FROM called next ORDER BY next;
SELECT next.nextval value FROM called next WHERE next.id = 2;
SELECT COUNT(nextval) next FROM called;

-- Types of CAST by their other names.
CREATE TABLE castnames (id INT PRIMARY KEY, s VARCHAR(20));
INSERT INTO castnames VALUES (1, '12'), (2, '-3'), (3, '4.25'), (4, NULL);
SELECT id, CAST(s AS SIGNED INT) AS x, CONVERT(id, UNSIGNED INT) AS y FROM castnames ORDER BY x;
SELECT CAST(s AS DOUBLE PRECISION) AS x, CAST(id AS DEC(5, 2)) AS y, CAST(s AS CHARACTER(1)) AS z, COUNT(*) FROM castnames GROUP BY x, y, z ORDER BY x;
SELECT a.id, CONVERT(b.s, CHARACTER(2)) FROM castnames a JOIN castnames b ON CAST(a.s AS SIGNED INTEGER) = b.id + 9 ORDER BY 1, 2;
INSERT INTO castnames SELECT id + 10, CAST(CAST(s AS DEC(9, 1)) AS CHARACTER) FROM castnames;
-- only: mariadb
SELECT CAST(s AS INT) AS x, CAST(id AS INTEGER) AS y, CAST(s AS VARCHAR(2)) AS z FROM castnames ORDER BY x, y;
-- only: mariadb
SELECT CONVERT(s, INT) + 1, CAST(s AS VARCHAR(1)) AS z, COUNT(*) FROM castnames GROUP BY 1, 2 ORDER BY 1, 2;
SELECT CAST(s AS INT) FROM castnames WHERE id = 1;
SELECT CAST(s AS VARCHAR) FROM castnames ORDER BY 1;
SELECT * FROM castnames ORDER BY id;
DROP TABLE castnames;
