-- Partitions of the servers.
CREATE TABLE p (id INT, y INT, u INT, PRIMARY KEY (id, y), UNIQUE (u, y)) PARTITION BY RANGE (y) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE);
INSERT INTO p VALUES (1, 1, 1), (2, 2, 2), (3, 11, 3), (4, 12, 4), (5, 21, 5), (6, 22, 6);
-- Rows that go with a partition leave no entries in the index over all node groups.
-- sent: information, it is that of other ALTER TABLE
ALTER TABLE p TRUNCATE PARTITION p0;
INSERT INTO p VALUES (1, 1, 1), (12, 2, 2);
INSERT INTO p VALUES (21, 1, 1);
INSERT INTO p VALUES (31, 11, 3);
ALTER TABLE p DROP PARTITION p2;
ALTER TABLE p ADD PARTITION (PARTITION p3 VALUES LESS THAN (30), PARTITION p4 VALUES LESS THAN MAXVALUE);
INSERT INTO p VALUES (5, 21, 5), (16, 22, 6);
INSERT INTO p VALUES (55, 21, 5);
SELECT * FROM p ORDER BY id;
SELECT id FROM p WHERE u = 6 AND y = 22;
-- What looks at partitions answers with rows.
-- refused: use ANALYZE TABLE
ALTER TABLE p ANALYZE PARTITION p3;
-- refused: use CHECK TABLE
ALTER TABLE p CHECK PARTITION ALL;
-- refused: use OPTIMIZE TABLE
ALTER TABLE p OPTIMIZE PARTITION p3;
-- refused: use REPAIR TABLE
ALTER TABLE p REPAIR PARTITION p3;
ALTER TABLE p REBUILD PARTITION p3;
-- only: mariadb
-- refused: it makes a table of the rows of each node group
ALTER TABLE p CONVERT PARTITION p3 TO TABLE p_3;
-- Clients know nothing of a key that they have not written, nor servers of one that places rows.
CREATE TABLE n (v INT);
-- refused: a table without a primary key
ALTER TABLE n PARTITION BY HASH (v) PARTITIONS 2;
-- A new table that has none lives on one node group.
CREATE TABLE w (v INT, d DATETIME) PARTITION BY RANGE (v) SUBPARTITION BY HASH (TO_DAYS(d)) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
INSERT INTO w VALUES (1, '2020-01-01'), (1, '2020-01-01'), (12, NULL), (NULL, '2021-01-01');
SELECT v, COUNT(*) FROM w GROUP BY v ORDER BY v;
ALTER TABLE w TRUNCATE PARTITION p1;
SELECT w.v, n.v FROM w LEFT JOIN n ON n.v = w.v ORDER BY w.v;
UPDATE w SET v = 11 WHERE v = 1 LIMIT 1;
SELECT v FROM w ORDER BY v;
CREATE TABLE l LIKE w;
INSERT INTO l SELECT * FROM w;
ALTER TABLE l REMOVE PARTITIONING;
SELECT COUNT(*) FROM l;
CREATE TABLE s (v INT) PARTITION BY HASH (v) PARTITIONS 2 SELECT v FROM w;
SELECT v FROM s ORDER BY v;
SELECT partition_name, subpartition_name FROM information_schema.partitions WHERE table_schema = DATABASE() AND table_name = 'w' ORDER BY 1, 2;
-- refused: a table without a primary key
CREATE TABLE r (v INT) COMMENT 'skarv:reference' PARTITION BY HASH (v) PARTITIONS 2;
CREATE TABLE k (a INT, b INT, PRIMARY KEY (a, b)) PARTITION BY KEY (a) PARTITIONS 4;
-- refused: Skarv places its rows
ALTER TABLE k COALESCE PARTITION 2;
-- refused: Skarv places its rows
ALTER TABLE k REMOVE PARTITIONING;
CREATE TABLE h (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 4;
INSERT INTO h VALUES (1), (2), (3), (4), (5), (6);
ALTER TABLE h COALESCE PARTITION 2;
SELECT COUNT(*) FROM h;
-- What runs over copies of such tables: no temporary table has partitions.
CREATE TABLE parted (x INT PRIMARY KEY, b VARCHAR(9), v VARCHAR(9) AS (b) VIRTUAL) PARTITION BY RANGE COLUMNS (x) (PARTITION p1 VALUES LESS THAN (4), PARTITION pn VALUES LESS THAN (MAXVALUE));
INSERT INTO parted (x, b) VALUES (1, 'z'), (2, 'y'), (3, 'a'), (4, 'b');
UPDATE parted SET b = 'bar' WHERE x > 0 ORDER BY v, x LIMIT 2;
INSERT INTO parted (x, b) SELECT x + 10, b FROM parted;
UPDATE parted SET b = (SELECT MAX(q.b) FROM parted q WHERE q.x < 3) WHERE x = 2;
SELECT a.x, COUNT(*) FROM parted a JOIN parted c ON a.b >= c.b GROUP BY a.x ORDER BY a.x;
SELECT x, b, v FROM parted ORDER BY x;
CREATE TABLE hashed (pk INT AUTO_INCREMENT, b INT CHECK (b > 0), PRIMARY KEY (pk), KEY (b)) PARTITION BY HASH (pk) PARTITIONS 3;
INSERT INTO hashed (b) VALUES (1), (2);
INSERT INTO hashed (b) SELECT b + 2 FROM hashed ORDER BY b;
UPDATE hashed SET b = b + 1 WHERE b > 1 ORDER BY pk DESC LIMIT 2;
DELETE FROM hashed WHERE b > 1 ORDER BY b, pk LIMIT 1;
SELECT * FROM hashed ORDER BY pk;
