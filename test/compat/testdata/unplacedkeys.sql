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
-- Where no column can place rows they stay together.
CREATE TABLE moments (at TIMESTAMP NOT NULL PRIMARY KEY, v INT);
INSERT INTO moments VALUES ('2024-01-01 10:00:00', 1), ('2024-01-01 11:00:00', 2);
INSERT INTO moments VALUES ('2024-01-01 10:00:00', 3);
SELECT m.v, o.output FROM moments m JOIN output o ON o.time = m.at ORDER BY m.v, o.data_id, o.rrd;
UPDATE moments SET at = '2024-01-01 12:00:00' WHERE v = 1;
SELECT * FROM moments ORDER BY at;
-- refused: it says that they are to be spread
CREATE TABLE spread (at TIMESTAMP NOT NULL PRIMARY KEY) PARTITION BY KEY (at);
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
CREATE TABLE begins (arg VARCHAR(255) NOT NULL, PRIMARY KEY (arg(5)));
INSERT INTO begins VALUES ('abcdef'), ('abcd');
INSERT INTO begins VALUES ('abcdeX');
SELECT * FROM begins ORDER BY arg;
-- UNIQUE keys that can have no global index.
CREATE TABLE blocks (id INT AUTO_INCREMENT PRIMARY KEY, address TINYBLOB NOT NULL, user FLOAT NOT NULL, UNIQUE KEY (user));
INSERT INTO blocks (address, user) VALUES ('10.0.0.1', 1), ('10.0.1.1', 2);
INSERT INTO blocks (address, user) VALUES ('10.0.2.1', 1);
SELECT id, address FROM blocks ORDER BY id;
SELECT b.id, m.v FROM blocks b JOIN moments m ON m.v = b.user ORDER BY b.id;
CREATE TABLE doubled (id INT PRIMARY KEY, v INT, twice INT AS (v * 2) VIRTUAL, UNIQUE KEY (twice));
INSERT INTO doubled (id, v) VALUES (1, 1), (2, 2);
INSERT INTO doubled (id, v) VALUES (3, 1);
ALTER TABLE doubled ADD COLUMN w INT, ADD UNIQUE KEY (w, v);
SELECT * FROM doubled ORDER BY id;
-- A table that refers to one on one node group is there, too.
CREATE TABLE held (id INT PRIMARY KEY, block INT, FOREIGN KEY (block) REFERENCES blocks (id));
INSERT INTO held VALUES (1, 1), (2, 2), (3, NULL);
INSERT INTO held VALUES (4, 7);
CREATE TABLE held_on (held INT, n INT, FOREIGN KEY (held) REFERENCES held (id) ON DELETE CASCADE);
INSERT INTO held_on VALUES (1, 1), (1, 2), (2, 1);
DELETE FROM held WHERE id = 1;
DELETE FROM blocks WHERE address = '10.0.1.1';
SELECT * FROM held_on;
CREATE TABLE keeper (id INT PRIMARY KEY);
-- refused: it is to be spread
CREATE TABLE held_spread (id INT PRIMARY KEY, block INT, FOREIGN KEY (block) REFERENCES blocks (id)) PARTITION BY KEY (id);
-- refused: it refers to a table that is spread, too
CREATE TABLE held_both (id INT PRIMARY KEY, block INT, keeper INT, FOREIGN KEY (block) REFERENCES blocks (id), FOREIGN KEY (keeper) REFERENCES keeper (id));
-- refused: its rows are spread
ALTER TABLE keeper ADD COLUMN block INT, ADD FOREIGN KEY (block) REFERENCES blocks (id);
-- refused: it would have to be spread for its foreign key
CREATE TABLE kept (id INT PRIMARY KEY, keeper INT, name FLOAT, UNIQUE KEY (name), FOREIGN KEY (keeper) REFERENCES keeper (id));
-- refused: it is spread
ALTER TABLE output ADD UNIQUE KEY (time);
-- refused: it is to be spread
CREATE TABLE blocks2 (id INT PRIMARY KEY, address FLOAT, UNIQUE KEY (address)) PARTITION BY KEY (id);
DROP TABLE held_on, held, keeper, blocks, doubled, begins, moments;
-- Names in a comment may be quoted.
CREATE TABLE spaced (`my id` INT, `back``quote` INT, `a,b` INT, v INT, PRIMARY KEY (`my id`, `back``quote`, `a,b`)) COMMENT 'of ours skarv:key=`back``quote`,`my id` and `a,b` not';
INSERT INTO spaced VALUES (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6);
SELECT v FROM spaced WHERE `my id` = 2 AND `back``quote` = 3;
SHOW CREATE TABLE spaced;
ALTER TABLE spaced CHANGE `my id` `our id` INT;
SHOW COLUMNS FROM spaced;
DROP TABLE spaced;
