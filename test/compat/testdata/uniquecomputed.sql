-- UNIQUE keys over columns that servers compute, of sharded tables: the entries are made of what they have computed.
CREATE TABLE t (id INT PRIMARY KEY, email VARCHAR(60), gone INT, low VARCHAR(60) AS (LOWER(email)) VIRTUAL, live INT AS (IF(gone IS NULL, 1, NULL)) STORED);
INSERT INTO t (id, email, gone) VALUES (1, 'Ada@x', NULL), (2, 'bob@x', NULL), (3, 'bob@x', 1), (4, 'bob@x', 2), (5, NULL, NULL);
ALTER TABLE t ADD UNIQUE KEY u (low, live);
SHOW CREATE TABLE t;
INSERT INTO t (id, email) VALUES (6, 'ADA@X');
INSERT INTO t (id, email) VALUES (7, 'ada@y'), (8, 'BOB@x'), (9, 'carl@x');
INSERT INTO t (id, email) VALUES (7, 'ada@y'), (8, 'BOBBY@x'), (9, 'carl@x'), (10, NULL);
INSERT INTO t (id, email, gone) VALUES (11, 'ada@y', 5), (12, 'ada@y', 5);
INSERT IGNORE INTO t (id, email) VALUES (20, 'Ada@Y'), (21, 'new@x'), (22, 'NEW@x'), (1, 'other');
SELECT id, email, gone, low, live FROM t ORDER BY id;
SELECT id FROM t WHERE low = 'ada@y' AND live = 1;
UPDATE t SET email = 'bob@x' WHERE id = 1;
UPDATE t SET email = 'zoe@x' WHERE id = 1;
INSERT INTO t (id, email) VALUES (30, 'ada@x');
UPDATE t SET gone = NULL WHERE id = 3;
UPDATE t SET gone = 9 WHERE id = 2;
UPDATE t SET gone = NULL WHERE id = 3;
UPDATE t SET gone = NULL WHERE id = 4;
UPDATE t SET id = id + 100 WHERE id < 5 ORDER BY id;
INSERT INTO t (id, email) VALUES (31, 'Bob@X');
DELETE FROM t WHERE email = 'bob@x' AND gone IS NULL;
INSERT INTO t (id, email) VALUES (31, 'Bob@X');
INSERT INTO t (id, email, gone) SELECT id + 200, UPPER(email), 1 FROM t WHERE gone IS NULL;
INSERT INTO t (id, email, gone) SELECT id + 300, UPPER(email), gone FROM t WHERE gone IS NULL ORDER BY id LIMIT 1;
UPDATE t JOIN (SELECT 31 AS n) d ON d.n = t.id SET t.email = 'joined@x';
INSERT INTO t (id, email) VALUES (32, 'bob@x');
INSERT INTO t (id, email) VALUES (33, 'JOINED@x');
DELETE t FROM t JOIN (SELECT 31 AS n) d ON d.n = t.id;
INSERT INTO t (id, email) VALUES (33, 'JOINED@x');
BEGIN;
INSERT INTO t (id, email) VALUES (40, 'txn@x');
INSERT INTO t (id, email) VALUES (41, 'TXN@x');
ROLLBACK;
INSERT INTO t (id, email) VALUES (41, 'TXN@x');
SELECT id, email, gone, low, live FROM t ORDER BY id;
-- refused: a row that is met in such a key is known to its server only
REPLACE INTO t (id, email) VALUES (50, 'txn@x');
-- refused: the same
INSERT INTO t (id, email) VALUES (50, 'txn@x') ON DUPLICATE KEY UPDATE gone = 1;
-- What servers compute changes with the table.
UPDATE t SET gone = 1 WHERE email LIKE 'bob%';
-- only: mysql
ALTER TABLE t MODIFY low VARCHAR(60) AS (LEFT(LOWER(email), 3)) VIRTUAL;
-- only: mariadb
-- gap: there the value is shown as NULL
ALTER TABLE t MODIFY low VARCHAR(60) AS (LEFT(LOWER(email), 3)) VIRTUAL;
UPDATE t SET gone = id;
ALTER TABLE t MODIFY low VARCHAR(60) AS (LEFT(LOWER(email), 3)) VIRTUAL;
INSERT INTO t (id, email) VALUES (60, 'quentin');
INSERT INTO t (id, email) VALUES (61, 'QUEBEC');
ALTER TABLE t ADD n INT, DROP KEY u, ADD UNIQUE KEY u (live, low(2), n);
INSERT INTO t (id, email, n) VALUES (62, 'quasi', 1), (63, 'Qui', 1);
INSERT INTO t (id, email, n) VALUES (64, 'QUO', 1);
INSERT INTO t (id, email, n) VALUES (64, 'QUO', NULL), (65, 'quo', NULL), (66, 'QUO', 2);
SELECT id, email, gone, low, live, n FROM t WHERE gone IS NULL ORDER BY id;
TRUNCATE t;
INSERT INTO t (id, email, n) VALUES (62, 'quasi', 1), (63, 'Rui', 1);
INSERT INTO t (id, email, n) VALUES (64, 'QUO', 1);
DROP INDEX u ON t;
INSERT INTO t (id, email, n) VALUES (64, 'QUO', 1);
ALTER TABLE t ADD UNIQUE (low);
ALTER TABLE t ADD twice INT AS (n * 2) STORED UNIQUE;
UPDATE t SET n = id;
ALTER TABLE t ADD twice INT AS (n * 2) STORED UNIQUE;
INSERT INTO t (id, n) VALUES (70, 63);
INSERT INTO t (id, n) VALUES (70, 70);
SELECT id, n, twice FROM t ORDER BY id;
DROP TABLE t;
-- A new table that says where its rows lie. One that does not lives on one node group, and can do more.
CREATE TABLE said (id INT PRIMARY KEY, v INT, twice INT AS (v * 2) VIRTUAL, w INT, UNIQUE KEY (twice)) COMMENT 'skarv:key=id';
INSERT INTO said (id, v) VALUES (1, 1), (2, 2), (3, NULL), (4, NULL);
INSERT INTO said (id, v) VALUES (5, 2);
INSERT INTO said (id, v) VALUES (6, 6), (7, 2);
INSERT INTO said (id, v) VALUES (8, 8), (9, 8);
INSERT INTO said SET id = 6, v = 6, w = 1;
UPDATE said SET w = 3, v = v + 10 WHERE id IN (1, 2);
UPDATE said SET v = 6 WHERE id = 3;
DELETE FROM said WHERE twice = 22;
INSERT INTO said (id, v) SELECT id + 20, v + 5 FROM said WHERE v IS NOT NULL ORDER BY id;
INSERT INTO said (id, v) SELECT id + 40, v FROM said WHERE id = 22;
SELECT * FROM said ORDER BY id;
ALTER TABLE said COMMENT 'skarv:single';
REPLACE INTO said (id, v) VALUES (50, 6);
SELECT * FROM said ORDER BY id;
DROP TABLE said;
