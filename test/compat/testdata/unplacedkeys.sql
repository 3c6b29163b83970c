-- A primary key has a column by which rows cannot be placed: the others place them.
CREATE TABLE output (data_id INT UNSIGNED NOT NULL DEFAULT 0, rrd VARCHAR(19) NOT NULL DEFAULT '', time TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00', output VARCHAR(100) NOT NULL, PRIMARY KEY (data_id, time, rrd));
SHOW CREATE TABLE output;
INSERT INTO output VALUES (1, 'in', '2024-01-01 10:00:00', 'a'), (1, 'out', '2024-01-01 10:00:00', 'b'), (2, 'in', '2024-01-01 10:00:00', 'c'), (3, 'in', '2024-01-01 10:05:00', 'd'), (4, 'in', '2024-01-01 10:05:00', 'e');
INSERT INTO output (data_id, rrd, output) VALUES (5, 'in', 'f');
INSERT INTO output VALUES (1, 'in', '2024-01-01 10:05:00', 'g');
INSERT INTO output VALUES (9, 'in', '2024-01-01 10:05:00', 'h'), (1, 'in', '2024-01-01 10:00:00', 'twice');
INSERT INTO output VALUES (1, 'in', '2024-01-01 10:00:00', 'A'), (2, 'in', '2024-01-01 10:10:00', 'i') ON DUPLICATE KEY UPDATE output = VALUES(output);
INSERT IGNORE INTO output VALUES (1, 'in', '2024-01-01 10:00:00', 'B'), (2, 'in', '2024-01-01 10:15:00', 'j');
REPLACE INTO output VALUES (4, 'in', '2024-01-01 10:05:00', 'E');
SELECT * FROM output ORDER BY data_id, time, rrd;
SELECT output FROM output WHERE data_id = 1 AND rrd = 'in' AND time = '2024-01-01 10:05:00';
SELECT output FROM output WHERE data_id = 1 ORDER BY time, rrd;
SELECT data_id, MAX(time), COUNT(*) FROM output GROUP BY data_id ORDER BY data_id;
UPDATE output SET time = '2024-01-01 11:00:00' WHERE data_id = 1 AND rrd = 'out';
UPDATE output SET time = '2024-01-01 10:00:00' WHERE data_id = 1 AND rrd = 'in';
UPDATE output SET output = 'x' WHERE time < '2024-01-01 10:05:00';
SET time_zone = '+05:30';
INSERT INTO output VALUES (1, 'in', '2024-01-01 15:30:00', 'the same moment');
SELECT output FROM output WHERE data_id = 1 AND rrd = 'in' AND time = '2024-01-01 15:30:00';
DELETE FROM output WHERE data_id = 2 AND time = '2024-01-01 15:30:00';
SELECT * FROM output ORDER BY data_id, time, rrd;
SET time_zone = 'SYSTEM';
UPDATE output SET data_id = 12 WHERE data_id = 5;
DELETE FROM output WHERE time < '2024-01-01 10:00:00' ORDER BY time LIMIT 2;
SELECT * FROM output ORDER BY data_id, time, rrd;
SELECT partition_name FROM information_schema.partitions WHERE table_schema = 'compat' AND table_name = 'output';
CREATE TABLE again LIKE output;
SHOW CREATE TABLE again;
CREATE TABLE measured (at FLOAT NOT NULL, id INT NOT NULL, PRIMARY KEY (at, id));
INSERT INTO measured VALUES (1.5, 1), (1.5, 2), (2.5, 1);
INSERT INTO measured VALUES (1.5, 2);
SELECT * FROM measured ORDER BY id, at;
-- refused: it has no other column
CREATE TABLE moments (at TIMESTAMP NOT NULL PRIMARY KEY);
-- refused: nor can entries of a global index be placed by one
CREATE TABLE runs (id INT PRIMARY KEY, dag VARCHAR(20), at TIMESTAMP NOT NULL, UNIQUE KEY once (dag, at));
CREATE TABLE runs (id INT, dag VARCHAR(20), at TIMESTAMP NOT NULL, PRIMARY KEY (dag, id), UNIQUE KEY once (dag, at)) PARTITION BY KEY (dag);
INSERT INTO runs VALUES (1, 'a', '2024-01-01 10:00:00'), (2, 'b', '2024-01-01 10:00:00');
INSERT INTO runs VALUES (3, 'a', '2024-01-01 10:00:00');
-- Nor by a column of which the key has the beginning.
CREATE TABLE reindex (host INT NOT NULL, query INT NOT NULL, v VARCHAR(50) NOT NULL DEFAULT '', arg VARCHAR(255) NOT NULL DEFAULT '', PRIMARY KEY (host, query, arg(5)));
SHOW CREATE TABLE reindex;
INSERT INTO reindex VALUES (1, 1, 'a', '.1.3.6'), (1, 2, 'b', '.1.3.6'), (2, 1, 'c', '.1.4'), (3, 1, 'd', 'abcdefgh');
INSERT INTO reindex VALUES (3, 1, 'e', 'abcdeXXX');
INSERT INTO reindex VALUES (3, 1, 'e', 'abcdXXX'), (1, 1, 'f', '.1.3.') ON DUPLICATE KEY UPDATE v = VALUES(v);
REPLACE INTO reindex VALUES (2, 1, 'g', '.1.4');
SELECT * FROM reindex ORDER BY host, query, arg;
SELECT v FROM reindex WHERE host = 3 AND query = 1 AND arg = 'abcdefgh';
UPDATE reindex SET arg = 'abcdX' WHERE host = 3 AND v = 'd';
UPDATE reindex SET arg = 'other' WHERE host = 3 AND v = 'd';
UPDATE reindex SET host = 4 WHERE host = 3 AND v = 'd';
DELETE FROM reindex WHERE arg = '.1.4';
SELECT * FROM reindex ORDER BY host, query, arg;
-- refused: it has the beginning of its only column
CREATE TABLE begins (arg VARCHAR(255) NOT NULL, PRIMARY KEY (arg(5)));
