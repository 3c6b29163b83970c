-- story: mysql
-- SET_VAR in optimizer hints: what a variable decides about a statement over several node groups, or decides in the proxy.
CREATE TABLE t (id INT PRIMARY KEY, g INT, v INT);
INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, 2, 4), (4, 2, 8), (5, 3, NULL);
SELECT /*+ SET_VAR(div_precision_increment = 8) */ SUM(v) / 7 FROM t;
SELECT SUM(v) / 7 FROM t;
SELECT /*+ NO_ICP(t) SET_VAR(sql_select_limit=2) SET_VAR(sort_buffer_size=262144) */ id FROM t ORDER BY id;
SELECT /*+ SET_VAR(sql_select_limit=1) */ g, COUNT(*) FROM t GROUP BY g ORDER BY g;
SELECT id FROM t ORDER BY id;
SELECT /*+ SET_VAR(group_concat_max_len=5) */ GROUP_CONCAT(id ORDER BY id), COUNT(*) FROM t;
WITH c AS (SELECT g, SUM(v) AS s FROM t GROUP BY g) SELECT /*+ SET_VAR(div_precision_increment=1) */ SUM(s) / 3 FROM c;
-- The time of a statement, by which its row is found.
CREATE TABLE d (d DATETIME PRIMARY KEY);
INSERT /*+ SET_VAR(timestamp=1000) SET_VAR(time_zone='+01:00') */ INTO d VALUES (NOW());
SELECT * FROM d WHERE d = '1970-01-01 01:16:40';
SELECT /*+ SET_VAR(timestamp=1000) */ COUNT(*) FROM t WHERE NOW() < '1971-01-01';
SELECT NOW() > '2020-01-01';
-- Foreign keys that the servers do not look at, numbers that they do not give.
CREATE TABLE p (id INT PRIMARY KEY);
CREATE TABLE c (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (id));
INSERT /*+ SET_VAR(foreign_key_checks=0) */ INTO c VALUES (1, 5), (2, 6);
INSERT INTO c VALUES (3, 5);
INSERT INTO p VALUES (5), (6);
DELETE /*+ SET_VAR(foreign_key_checks=OFF) */ FROM p WHERE id = 5;
DELETE FROM p WHERE id = 6;
SELECT * FROM c ORDER BY id;
CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT /*+ SET_VAR(sql_mode='NO_AUTO_VALUE_ON_ZERO') */ INTO a VALUES (0, 7), (5, 8);
INSERT INTO a VALUES (0, 9);
SELECT * FROM a ORDER BY id;
BEGIN;
UPDATE /*+ SET_VAR(sql_mode='NO_ENGINE_SUBSTITUTION') */ t SET v = 'x' WHERE id < 3;
SELECT /*+ SET_VAR(sql_select_limit=1) */ * FROM t ORDER BY id;
ROLLBACK;
UPDATE t SET v = 'x' WHERE id < 3;
-- What servers warn of and leave.
SELECT /*+ SET_VAR(sql_select_limit=x) SET_VAR(nosuch=1) SET_VAR(autocommit=0) */ id FROM t ORDER BY id;
SELECT /*+ SET_VAR(sql_select_limit=2) SET_VAR(sql_select_limit=1) */ id FROM t ORDER BY id;
-- args: [0]
-- args: [1]
SELECT /*+ SET_VAR(sql_select_limit=2) */ id FROM t WHERE id > ? ORDER BY id;
-- refused: another way of reading the text
SELECT /*+ SET_VAR(sql_mode='ANSI_QUOTES') */ "id" FROM t;
-- refused: a number that one server would give
INSERT /*+ SET_VAR(insert_id=50) */ INTO a (v) VALUES (1);
-- refused: servers may obey it or not
SELECT COUNT(*) FROM (SELECT /*+ SET_VAR(sql_mode='') */ v FROM t) x;
