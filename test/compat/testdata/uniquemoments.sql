-- UNIQUE keys without the distribution key with TIMESTAMP and floating-point columns: other columns place their entries.
CREATE TABLE dag_run (id INT AUTO_INCREMENT PRIMARY KEY, dag_id VARCHAR(50) NOT NULL, execution_date TIMESTAMP(6) NOT NULL, run_id VARCHAR(50) NOT NULL, n INT DEFAULT 0, UNIQUE KEY dag_run_date (dag_id, execution_date), UNIQUE KEY dag_run_id (dag_id, run_id));
SHOW CREATE TABLE dag_run;
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 10:00:00', 'r1'), ('a', '2024-01-01 10:00:00.000001', 'r2'), ('b', '2024-01-01 10:00:00', 'r1'), ('c', '2024-02-29', 'r1');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('A', '2024-01-01 10:00:00.000000', 'r3');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('x', '2024-01-01 10:00:00', 'r1'), ('y', '2024-01-01 10:00:00', 'r1'), ('y', '2024-01-01 10:00:00', 'r2');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 10:00:00.000002', 'r1');
SELECT id, dag_id, execution_date, run_id FROM dag_run ORDER BY dag_id, execution_date;
SELECT run_id FROM dag_run WHERE dag_id = 'a' AND execution_date = '2024-01-01 10:00:00.000001';
SELECT run_id FROM dag_run WHERE dag_id = 'a' AND execution_date >= '2024-01-01 10:00:00' ORDER BY 1;
SET time_zone = '+05:30';
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 15:30:00', 'the same moment');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 10:00:00', 'another moment');
INSERT INTO dag_run (id, dag_id, execution_date, run_id, n) VALUES (20, 'a', '2024-01-01 15:30:00', 'r9', 1), (21, 'a', '2024-01-01 15:31:00', 'r10', 1) ON DUPLICATE KEY UPDATE n = n + 10;
SET time_zone = 'SYSTEM';
SELECT dag_id, execution_date, run_id, n FROM dag_run ORDER BY dag_id, execution_date;
INSERT IGNORE INTO dag_run (id, dag_id, execution_date, run_id) VALUES (30, 'a', '2024-01-01 10:00:00', 'i1'), (32, 'a', '2024-01-02', 'i2'), (31, 'a', '2024-01-02', 'i3');
SHOW WARNINGS;
REPLACE INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-02', 'replaced'), ('b', '2024-01-01 10:00:00', 'r1');
SELECT dag_id, execution_date, run_id, n FROM dag_run ORDER BY dag_id, execution_date;
UPDATE dag_run SET execution_date = '2024-01-01 10:00:00.000001' WHERE dag_id = 'a' AND run_id = 'r1';
UPDATE dag_run SET execution_date = execution_date + INTERVAL 1 MICROSECOND WHERE dag_id = 'a' AND run_id = 'replaced';
UPDATE dag_run SET execution_date = '2024-01-01 10:00:00.000009' WHERE dag_id = 'a' AND run_id = 'r1';
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 10:00:00', 'free again');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 10:00:00.000009', 'taken');
DELETE FROM dag_run WHERE dag_id = 'a' AND run_id = 'r1';
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('a', '2024-01-01 10:00:00.000009', 'free');
UPDATE dag_run SET id = id + 1000 ORDER BY id DESC;
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('c', '2024-02-29 00:00:00', 'taken');
INSERT INTO dag_run (dag_id, execution_date, run_id) SELECT CONCAT(dag_id, '2'), execution_date, run_id FROM dag_run ORDER BY id;
INSERT INTO dag_run (dag_id, execution_date, run_id) SELECT CONCAT(dag_id, ''), execution_date, 'again' FROM dag_run WHERE run_id = 'free' AND dag_id = 'a';
UPDATE dag_run r JOIN (SELECT MAX(n) m FROM dag_run) d SET r.execution_date = r.execution_date + INTERVAL 1 DAY WHERE r.dag_id = 'c';
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('c', '2024-02-29 00:00:00', 'free');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('c', '2024-03-01 00:00:00', 'taken');
SELECT dag_id, execution_date, run_id, n FROM dag_run ORDER BY dag_id, execution_date;
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('d', FROM_UNIXTIME(1700000000), 'computed'), ('d', TIMESTAMP('2024-05-05', '01:02:03'), 'computed, too');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('d', FROM_UNIXTIME(1700000000), 'twice');
-- args: ["e", "2024-01-01 10:00:00", "p1"]
-- args: ["e", "2024-01-01 10:00:01.5", "p2"]
-- args: ["e", "2024-01-01 10:00:00", "p3"]
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES (?, ?, ?);
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('f', '2024-1-1', 'loosely');
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('f', '2024-01-01', 'taken');
-- refused: whether it can be stored the server knows
INSERT INTO dag_run (dag_id, execution_date, run_id) VALUES ('f', '1970-01-01 00:00:01', 'on the edge');
INSERT INTO dag_run (dag_id, run_id) VALUES ('f', 'none');
-- A key is added, and its columns change.
CREATE TABLE later (id INT PRIMARY KEY, host VARCHAR(20), at TIMESTAMP(3) NULL, made TIMESTAMP NULL DEFAULT '2020-02-02 02:02:02');
INSERT INTO later VALUES (1, 'a', '2024-01-01 10:00:00', NULL), (2, 'a', '2024-01-01 10:00:00.5', NULL), (3, 'b', NULL, NULL), (4, 'b', NULL, NULL), (5, 'a', '2024-01-01 10:00:00.5', NULL);
ALTER TABLE later ADD UNIQUE KEY moment (host, at);
UPDATE later SET at = '2024-01-01 10:00:00.501' WHERE id = 5;
ALTER TABLE later ADD UNIQUE KEY moment (host, at);
INSERT INTO later VALUES (6, 'a', '2024-01-01 10:00:00.501', NULL);
INSERT INTO later VALUES (6, 'a', NULL, NULL), (7, 'a', NULL, NULL);
ALTER TABLE later MODIFY at TIMESTAMP(6) NULL;
INSERT INTO later VALUES (8, 'a', '2024-01-01 10:00:00.501000', NULL);
INSERT INTO later VALUES (8, 'a', '2024-01-01 10:00:00.501001', NULL);
ALTER TABLE later MODIFY at TIMESTAMP NULL;
ALTER TABLE later MODIFY host VARCHAR(40), ADD UNIQUE KEY made (host, made);
INSERT INTO later VALUES (9, 'a', NULL, '2024-01-01 10:00:00');
INSERT INTO later VALUES (10, 'a', NULL, '2024-01-01 10:00:00');
INSERT INTO later (id, host, at) VALUES (11, 'a', NULL);
INSERT INTO later (id, host, made) VALUES (12, 'a', DEFAULT);
INSERT INTO later (id, host, made) VALUES (13, 'a', NULL);
SELECT * FROM later ORDER BY id;
ALTER TABLE later DROP KEY moment, MODIFY at DATETIME(6);
CREATE TABLE like_later LIKE later;
INSERT INTO like_later VALUES (1, 'a', NULL, '2024-01-01 10:00:00');
INSERT INTO like_later VALUES (2, 'a', NULL, '2024-01-01 10:00:00');
DROP TABLE like_later, later;
-- Numbers.
CREATE TABLE measured (id INT PRIMARY KEY, name CHAR(5), f FLOAT NOT NULL, d DOUBLE, UNIQUE KEY nf (name, f), UNIQUE KEY dn (d, name));
SHOW CREATE TABLE measured;
INSERT INTO measured VALUES (1, 'a', 0.1, 0.1), (2, 'a', 0.2, 0.2), (3, 'b', 0.1, 0.1), (4, 'a', 16777217, 9007199254740993), (5, 'c', 0, -0e0), (6, 'c', 1e-30, NULL), (7, 'c', '2.50', NULL);
INSERT INTO measured VALUES (8, 'a', 0.10000000149011612, 5);
INSERT INTO measured VALUES (8, 'a', 16777216, 5);
INSERT INTO measured VALUES (8, 'c', -0.0, 5);
INSERT INTO measured VALUES (8, 'c', -0e0, 5);
INSERT INTO measured VALUES (8, 'c', '-0', 5);
INSERT INTO measured VALUES (8, 'x', 5, 0.1), (9, 'b', 5, '0.10');
INSERT INTO measured VALUES (8, 'a', 6, 9007199254740992);
INSERT INTO measured VALUES (8, 'C', 2.5, 5);
INSERT INTO measured VALUES (8, 'a', 0.1, 5), (9, 'a', 0.3, 5) ON DUPLICATE KEY UPDATE f = f + 10;
INSERT INTO measured VALUES (10, 'a', 0.1, 5.5);
INSERT INTO measured VALUES (11, 'a', 10.1, 5.6);
UPDATE measured SET f = f * 2 WHERE name = 'a' ORDER BY id DESC;
UPDATE measured SET f = f / 2 WHERE name = 'a' ORDER BY id DESC;
INSERT INTO measured VALUES (12, 'a', 0.2, 5.7);
REPLACE INTO measured VALUES (12, 'a', 0.2, 0.1);
INSERT IGNORE INTO measured VALUES (13, 'a', 0.2, 7), (14, 'a', 0.25, 7), (15, 'b', 1, 0.1);
DELETE FROM measured WHERE f = 0.25;
INSERT INTO measured VALUES (16, 'a', 0.25, 7);
SELECT id, name, f, d FROM measured ORDER BY id;
SELECT id FROM measured WHERE name = 'a' AND d = 0.1;
-- args: [20, "p", 0.7, 0.7]
-- args: [21, "p", 0.7, 0.8]
-- args: [21, "p", "0.8", 0.7]
-- args: [21, "p", 7, 7]
INSERT INTO measured VALUES (?, ?, ?, ?);
SELECT id, name, f, d FROM measured WHERE name = 'p' ORDER BY id;
INSERT INTO measured VALUES (30, 'z', 1e39, 1);
ALTER TABLE measured MODIFY f DOUBLE NOT NULL;
INSERT INTO measured VALUES (31, 'p', 0.7, 1);
INSERT INTO measured VALUES (32, 'p', 0.699999988079071, 2);
DROP TABLE measured, dag_run;
CREATE TABLE never (id INT PRIMARY KEY, name CHAR(5), at TIMESTAMP NOT NULL DEFAULT '2020-02-02 02:02:02', UNIQUE (name, at));
-- Where NULL is the time that it is, the time decides what is met.
SET timestamp = 1720000000;
INSERT INTO never VALUES (1, 'a', NULL);
INSERT INTO never VALUES (1, NULL, '2024-01-01 00:00:00'), (2, 'a', NULL);
INSERT IGNORE INTO never VALUES (1, NULL, '2024-01-01 00:00:00'), (2, 'a', NULL);
SET explicit_defaults_for_timestamp = 0;
INSERT INTO never VALUES (3, 'b', NULL);
SELECT id, at > '2024-02-02' FROM never ORDER BY id;
SET timestamp = DEFAULT;
SET explicit_defaults_for_timestamp = 1;
DROP TABLE never;
-- refused: no other column places entries
CREATE TABLE alone (id INT PRIMARY KEY, at TIMESTAMP NULL, UNIQUE (at)) PARTITION BY KEY (id);
-- refused: such numbers are rounded
CREATE TABLE rounded (id INT PRIMARY KEY, name CHAR(5), f FLOAT(7,3), UNIQUE (name, f)) PARTITION BY KEY (id);
