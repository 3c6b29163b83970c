CREATE TABLE c (id BIGINT PRIMARY KEY, name VARCHAR(30), at TIMESTAMP(3) NULL, f FLOAT, d DOUBLE, j JSON, b BIT(5), e ENUM('x','y'), bin VARBINARY(10), changed DATETIME DEFAULT '2000-01-01 00:00:00', g INT AS (id * 2) VIRTUAL, UNIQUE KEY (id, name));
INSERT INTO c (id, name, at, f, d, j, b, e, bin) VALUES (1, 'añb''\\', '2024-03-01 12:00:00.123', 1.1, 1e300, '{"a": 1}', b'101', 'y', x'00ff27'), (2, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, 'c', '2024-10-27 00:30:00', 0.1, 0.1, '[]', 0, 'x', '');
UPDATE c SET id = 101 WHERE id = 1;
SELECT id, name, at, f, d, j, b + 0, e, HEX(bin), changed, g FROM c ORDER BY id;
UPDATE c SET id = 101 WHERE id = 101;
SET time_zone = '+05:00', sql_mode = 'STRICT_TRANS_TABLES';
UPDATE c SET id = id + 7;
SELECT id, name, at, f, d, j, b + 0, e, HEX(bin), changed, g FROM c ORDER BY id;
UPDATE c SET id = id - 7 ORDER BY id;
SET time_zone = '+00:00', sql_mode = DEFAULT;
SELECT id, at FROM c ORDER BY id;
UPDATE c SET id = 2 WHERE id = 101;
UPDATE c SET id = 777 WHERE id = 778;
SELECT id, name FROM c ORDER BY id;
UPDATE c SET id = id + 1000;
SELECT id, name FROM c ORDER BY id;
UPDATE c SET id = id + 1 ORDER BY id DESC;
UPDATE c SET id = id + 1;
SELECT id, name FROM c ORDER BY id;
UPDATE IGNORE c SET id = 1103 WHERE id = 1003;
SHOW WARNINGS;
SELECT id, name FROM c ORDER BY id;
UPDATE IGNORE c SET id = 1005, name = 'new' WHERE id IN (1003, 1004, 1005, 1103);
SELECT id, name FROM c ORDER BY id;
UPDATE c SET id = NULL WHERE id = 1004;
UPDATE c SET id = '2001' WHERE name = 'new';
UPDATE c SET id = 2002, name = REPEAT('x', 31);
SELECT id, name FROM c ORDER BY id;
UPDATE c SET name = CONCAT('n', id), id = 1 - id WHERE id > 1000;
SELECT id, name FROM c ORDER BY id;
BEGIN;
UPDATE c SET id = 5000 WHERE name = 'n2001';
SELECT id FROM c WHERE id = 5000;
UPDATE c SET id = 5000 WHERE name <> 'n2001';
SELECT id, name FROM c ORDER BY id;
ROLLBACK;
SELECT id, name FROM c ORDER BY id;
BEGIN;
UPDATE c SET id = 6000 WHERE name = 'n2001';
COMMIT;
SELECT id, name FROM c ORDER BY id;
CREATE TABLE o (customer INT, id INT, ts TIMESTAMP DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP, note VARCHAR(10) NOT NULL, PRIMARY KEY (customer, id)) PARTITION BY KEY (customer);
INSERT INTO o (customer, id, note) VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'c'), (3, 1, 'd');
UPDATE o SET customer = 9 WHERE customer = 1;
SELECT customer, id, note, ts > '2001-01-02' FROM o ORDER BY customer, id;
UPDATE o SET customer = 9 WHERE customer = 2;
UPDATE o SET customer = customer + 1, id = id + 10 WHERE note > 'a';
SELECT customer, id, note FROM o ORDER BY customer, id;
UPDATE o SET customer = 5, note = NULL WHERE id = 11;
UPDATE o SET customer = 12 WHERE customer = 10 ORDER BY id LIMIT 1;
SELECT customer, id, note FROM o ORDER BY customer, id;
UPDATE o SET id = id + 1, customer = id;
CREATE TABLE s (k VARCHAR(20) PRIMARY KEY, v INT);
INSERT INTO s VALUES ('abc', 1), ('zürich', 2), ('🙂', 3);
UPDATE s SET k = CONCAT(k, 'é') WHERE v > 0;
SELECT k, v FROM s ORDER BY v;
UPDATE s SET k = 'ABCÉ' WHERE v = 1;
UPDATE s SET k = 'ABCÉ' WHERE v = 2;
SELECT k, v FROM s ORDER BY v;
CREATE TABLE parent (id INT PRIMARY KEY);
CREATE TABLE child (parent INT, id INT, PRIMARY KEY (parent, id), CONSTRAINT fk FOREIGN KEY (parent) REFERENCES parent (id)) COMMENT 'skarv:key=parent';
INSERT INTO parent VALUES (1), (2), (3), (4);
INSERT INTO child VALUES (1, 1), (2, 1);
UPDATE child SET parent = 3 WHERE parent = 1;
UPDATE child SET parent = 99 WHERE parent = 3;
UPDATE parent SET id = 50 WHERE id = 4;
UPDATE parent SET id = 51 WHERE id = 2;
SELECT * FROM child ORDER BY parent;
SELECT * FROM parent ORDER BY id;
-- Several rows that get one key: the first one does, in the order of the primary key.
CREATE TABLE tags (code VARCHAR(8), n INT, v INT, PRIMARY KEY (code, n)) PARTITION BY KEY (code);
INSERT INTO tags VALUES ('bob', 0, 1), ('e', 0, 2), ('ann', 0, 3), ('zoe', 0, 4), ('zoe', 1, 5), ('a_b', 0, 6), ('mm', 1, 7);
UPDATE IGNORE tags SET code = 'new' WHERE v <> 3;
SELECT * FROM tags ORDER BY code, n;
UPDATE IGNORE tags SET code = 'x';
SELECT * FROM tags ORDER BY code, n;
-- A row with the zero date, which came under another sql_mode, is found by its key in any.
CREATE TABLE zd (d DATE PRIMARY KEY, v INT);
CREATE TABLE zt (d DATETIME(2), n INT, v INT, PRIMARY KEY (d, n));
SET sql_mode = '';
INSERT INTO zd VALUES ('0000-00-00', 1), ('2020-01-01', 2), ('2021-01-01', 3);
INSERT INTO zt VALUES ('0000-00-00', 1, 1), ('2020-01-01 10:00:00.25', 1, 2);
SET sql_mode = DEFAULT;
UPDATE zd SET d = '2020-05-05';
SELECT * FROM zd ORDER BY v;
UPDATE zd SET d = ADDDATE('2022-01-01', v) WHERE v IN (1, 3);
SELECT * FROM zd ORDER BY v;
UPDATE zt SET d = '2020-05-05';
SELECT * FROM zt ORDER BY v;
UPDATE zt SET d = ADDDATE('2022-01-01', v);
SELECT * FROM zt ORDER BY v;
-- ON DUPLICATE KEY UPDATE may assign the key of the row that it brings: the row that is met has it, in other letters perhaps.
CREATE TABLE cached (k VARCHAR(40) PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0);
INSERT INTO cached (k, v) VALUES ('a', 'x'), ('b', 'y') ON DUPLICATE KEY UPDATE k = VALUES(k), v = VALUES(v);
INSERT INTO cached (k, v) VALUES ('A', 'x2'), ('c', 'z'), ('b', 'y') ON DUPLICATE KEY UPDATE k = VALUES(k), v = VALUES(v), n = n + 1;
INSERT INTO cached (k, v) VALUES ('a ', 'x3') ON DUPLICATE KEY UPDATE cached.k = VALUES(cached.k), v = VALUES(v);
-- args: ["C", "w"]
-- args: ["d", "u"]
INSERT INTO cached (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v), k = VALUES(k);
SELECT HEX(k), v, n FROM cached ORDER BY k;
SELECT v FROM cached WHERE k = 'a';
INSERT INTO cached (k, v) SELECT k, 'q' FROM cached ON DUPLICATE KEY UPDATE k = VALUES(k), v = VALUES(v);
-- refused: another column's value
INSERT INTO cached (k, v) VALUES ('a', 'x') ON DUPLICATE KEY UPDATE k = VALUES(v);
CREATE TABLE cached_two (k VARCHAR(40) PRIMARY KEY, v INT, UNIQUE KEY (v));
INSERT INTO cached_two VALUES ('a', 1);
-- refused: the row may be met by another key
INSERT INTO cached_two VALUES ('b', 1) ON DUPLICATE KEY UPDATE k = VALUES(k);
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
INSERT INTO counted (id, v) VALUES (1, 1), (NULL, 2), (7, 3);
INSERT INTO counted (id, v) VALUES (7, 4) ON DUPLICATE KEY UPDATE id = VALUES(id), v = VALUES(v);
INSERT INTO counted (id, v) VALUES (1, 5), (9, 6) ON DUPLICATE KEY UPDATE id = VALUES(id), v = VALUES(v);
SELECT * FROM counted ORDER BY id;
CREATE TABLE ku_same (id INT PRIMARY KEY, c INT);
CREATE TABLE ku_other (id INT PRIMARY KEY, c INT);
INSERT INTO ku_same VALUES (1, 1), (2, 2), (101, 1);
INSERT INTO ku_other VALUES (1, 1), (2, 2);
-- only: mariadb
INSERT INTO ku_same SELECT id + 100, c FROM ku_same WHERE id < 10 ON DUPLICATE KEY UPDATE ku_same.c = ku_same.c + 1000;
-- only: mariadb
INSERT INTO ku_same SELECT id + 100, c FROM ku_other ku_same WHERE id < 10 ON DUPLICATE KEY UPDATE c = ku_same.c + 1000;
-- only: mariadb
INSERT INTO ku_same SELECT ku_same.id + 100, ku_same.c FROM ku_same JOIN ku_other ON ku_same.id = ku_other.id ON DUPLICATE KEY UPDATE ku_same.c = ku_same.c + 1000;
INSERT INTO ku_same SELECT id + 100, c FROM ku_same x WHERE id < 10 ON DUPLICATE KEY UPDATE ku_same.c = ku_same.c + 1000;
INSERT INTO ku_same SELECT id + 100, c FROM ku_other WHERE id < 10 ON DUPLICATE KEY UPDATE ku_same.c = ku_same.c + 1000;
SELECT * FROM ku_same ORDER BY id;
-- Without strict mode a NULL is a zero in one of several rows, and an error in a row alone.
SET sql_mode = '';
CREATE TABLE nonull (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(5) NOT NULL DEFAULT 'q');
CREATE TABLE nonull2 (id INT PRIMARY KEY, e INT, n INT NOT NULL DEFAULT 3, UNIQUE KEY (e));
INSERT INTO nonull (id, a) VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT INTO nonull2 (id, e) VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT INTO nonull (id, a) VALUES (1, 1) ON DUPLICATE KEY UPDATE a = NULL;
INSERT INTO nonull2 (id, e) VALUES (9, 1) ON DUPLICATE KEY UPDATE n = NULL;
-- refused: each node group gets one of the rows
INSERT INTO nonull (id, a) VALUES (1, 1), (2, 2) ON DUPLICATE KEY UPDATE a = NULL;
-- refused: each node group gets one of the rows
INSERT INTO nonull (id, a) VALUES (1, 1), (2, 2) ON DUPLICATE KEY UPDATE b = NULL, a = a / 0;
-- refused: rows are written one by one
INSERT INTO nonull2 (id, e) VALUES (9, 1), (10, 2), (11, 3), (12, 4) ON DUPLICATE KEY UPDATE n = NULL;
INSERT INTO nonull2 (id, e) VALUES (9, 1), (10, 2), (11, 3), (12, 4) ON DUPLICATE KEY UPDATE n = n + 1;
SELECT * FROM nonull ORDER BY id;
SELECT * FROM nonull2 ORDER BY id;
SET sql_mode = DEFAULT;
