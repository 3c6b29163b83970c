-- ON DUPLICATE KEY UPDATE that assigns the key of the new row to the row that is met, as applications do that assign all columns: it changes nothing
-- where the two met by that key, and moves the row where they met by another one.
CREATE TABLE uk (id INT PRIMARY KEY, email VARCHAR(30) UNIQUE, name VARCHAR(30), n INT DEFAULT 0, changed DATETIME NULL);
INSERT INTO uk (id, email, name) VALUES (1, 'a', 'one'), (2, 'b', 'two'), (3, 'c', 'three'), (4, 'd', 'four'), (5, 'e', 'five'), (6, 'f', 'six'), (7, 'g', 'seven'), (8, 'h', 'eight');
INSERT INTO uk (id, email, name) VALUES (1, 'a', 'uno') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
INSERT INTO uk (id, email, name) VALUES (1, 'a', 'uno') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
INSERT INTO uk (id, email, name) VALUES (2, 'bb', 'dos'), (9, 'i', 'nueve'), (3, 'c', 'tres') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
SELECT * FROM uk ORDER BY id;
SELECT id FROM uk WHERE email = 'bb';
SELECT id FROM uk WHERE email = 'b';
-- Met by the other key: the row gets another primary key.
INSERT INTO uk (id, email, name) VALUES (101, 'a', 'moved') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
INSERT INTO uk (id, email, name) VALUES (102, 'bb', 'm'), (103, 'c', 'm'), (104, 'd', 'm'), (105, 'e', 'm'), (106, 'f', 'm'), (107, 'g', 'm'), (108, 'h', 'm') ON DUPLICATE KEY UPDATE id = VALUES(id), n = n + id;
SELECT * FROM uk ORDER BY id;
SELECT id, name FROM uk WHERE email = 'a';
SELECT id, name FROM uk WHERE email IN ('c', 'd', 'e', 'f', 'g', 'h') ORDER BY id;
SELECT name FROM uk WHERE id = 104;
SELECT name FROM uk WHERE id = 4;
-- The value of the other key goes along, and is kept unique.
INSERT INTO uk (id, email) VALUES (201, 'a') ON DUPLICATE KEY UPDATE id = VALUES(id), email = 'aa';
INSERT INTO uk (id, email) VALUES (202, 'bb') ON DUPLICATE KEY UPDATE id = VALUES(id), email = 'aa';
SELECT id, email FROM uk WHERE id > 200 OR email IN ('aa', 'bb') ORDER BY id;
INSERT INTO uk (id, email) VALUES (203, 'a');
INSERT INTO uk (id, email) VALUES (204, 'aa');
-- Several rows of one statement that meet one another.
INSERT INTO uk (id, email, name) VALUES (301, 'z', 'z1'), (302, 'z', 'z2'), (301, 'y', 'y1'), (302, 'y', 'y2') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
INSERT INTO uk (id, email, name) VALUES (401, 'w', 'w1'), (402, 'w', 'w2'), (403, 'w', 'w3'), (404, 'v', 'v1') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
SELECT * FROM uk WHERE id > 300 ORDER BY id;
BEGIN;
INSERT INTO uk (id, email, name) VALUES (501, 'w', 'back') ON DUPLICATE KEY UPDATE id = VALUES(id), name = VALUES(name);
SELECT id, name FROM uk WHERE email = 'w';
ROLLBACK;
SELECT id, name FROM uk WHERE email = 'w';
-- args: [601, "w", "asked"]
INSERT INTO uk (id, email, name) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
INSERT INTO uk SET id = 602, email = 'w', name = 'set' ON DUPLICATE KEY UPDATE id = VALUES(id), name = VALUES(name);
INSERT INTO uk (email, name, id) SELECT email, 'selected', id + 1000 FROM uk WHERE id < 200 ON DUPLICATE KEY UPDATE id = VALUES(id), name = VALUES(name);
INSERT INTO uk (id, email, name) VALUES (1 + 1101, LOWER('A'), 'computed'), (1702, CONCAT('c', ''), 'computed') ON DUPLICATE KEY UPDATE id = VALUES(id), name = VALUES(name);
SELECT * FROM uk ORDER BY id;
-- only: mysql
INSERT INTO uk (id, email, name) VALUES (701, 'w', 'alias') AS new ON DUPLICATE KEY UPDATE id = new.id, email = new.email, name = new.name;
-- only: mysql
INSERT INTO uk (id, email, name) VALUES (702, 'w', 'alias') AS new(x, y, z) ON DUPLICATE KEY UPDATE id = new.x, name = new.z;
-- only: mysql
INSERT INTO uk (id, email, name) VALUES (703, 'w', 'alias') AS new(x, y, z) ON DUPLICATE KEY UPDATE id = x, name = z;
SELECT * FROM uk WHERE id > 600 ORDER BY id;
-- refused: the distribution column
INSERT INTO uk (id, email) VALUES (801, 'w') ON DUPLICATE KEY UPDATE id = VALUES(id) + 1;
-- refused: the distribution column
INSERT INTO uk (id, email) VALUES (801, 'w') ON DUPLICATE KEY UPDATE id = n;
-- The value itself instead of VALUES().
INSERT INTO uk SET id = 901, email = 'w', name = 'itself' ON DUPLICATE KEY UPDATE id = 901, email = 'w', name = 'itself';
INSERT INTO uk SET id = 901, email = 'w', name = 'again' ON DUPLICATE KEY UPDATE id = 901, email = 'w', name = 'again';
-- args: [902, "w", "asked", 902, "asked"]
INSERT INTO uk SET id = ?, email = ?, name = ? ON DUPLICATE KEY UPDATE id = ?, name = ?;
-- args: [903, "ww", 903, "asked", 902, "w", 903, "asked"]
-- refused: the distribution column
INSERT INTO uk (id, email) VALUES (?, ?), (?, ?), (?, ?) ON DUPLICATE KEY UPDATE id = ?, name = ?;
-- refused: the distribution column
INSERT INTO uk SET id = 903, email = 'w', name = 'other' ON DUPLICATE KEY UPDATE id = 904, name = 'other';
SELECT * FROM uk WHERE id > 600 ORDER BY id;
CREATE TABLE ukv (id BIGINT AUTO_INCREMENT PRIMARY KEY, code VARCHAR(10), n INT);
INSERT INTO ukv SET id = 5, code = 'a', n = 1 ON DUPLICATE KEY UPDATE id = 5, code = 'a', n = 1;
INSERT INTO ukv SET id = 5, code = 'b', n = 2 ON DUPLICATE KEY UPDATE id = 5, code = 'b', n = 2;
INSERT INTO ukv (id, code, n) VALUES (5, 'c', 3), (5, 'd', 4) ON DUPLICATE KEY UPDATE id = 5, n = VALUES(n);
INSERT INTO ukv (id, code, n) VALUES (2 + 3, 'c', 30), (5, 'd', 40) ON DUPLICATE KEY UPDATE id = 5, n = n + VALUES(n);
-- refused: the distribution column
INSERT INTO ukv (id, code, n) VALUES (5, 'e', 5), (6, 'f', 6) ON DUPLICATE KEY UPDATE id = 5, n = VALUES(n);
-- refused: the distribution column
INSERT INTO ukv (id, code, n) VALUES (0, 'e', 5) ON DUPLICATE KEY UPDATE id = 0;
-- refused: the distribution column
INSERT INTO ukv (id, code, n) VALUES (NULL, 'e', 5) ON DUPLICATE KEY UPDATE id = NULL;
-- only: mysql
INSERT INTO ukv (id, code, n) VALUES (5, 'g', 7), (7, 'h', 8) AS new ON DUPLICATE KEY UPDATE id = new.id, code = new.code, n = new.n;
-- only: mysql
INSERT INTO ukv (id, code, n) VALUES (5, 'g', 7), (7, 'i', 8) AS new(a, b, c) ON DUPLICATE KEY UPDATE id = a, code = b, n = c;
SELECT * FROM ukv ORDER BY id;
-- Numbers of the table's own.
CREATE TABLE ukn (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(30) UNIQUE, name VARCHAR(30));
INSERT INTO ukn (email, name) VALUES ('a', 'one');
INSERT INTO ukn (email, name) VALUES ('b', 'two');
INSERT INTO ukn (id, email, name) VALUES (1, 'a', 'uno') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
SELECT LAST_INSERT_ID();
INSERT INTO ukn (id, email, name) VALUES (11, 'a', 'once') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
SELECT LAST_INSERT_ID();
INSERT INTO ukn (id, email, name) VALUES (12, 'b', 'doce'), (13, 'c', 'trece'), (14, 'a', 'catorce') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
SELECT LAST_INSERT_ID();
INSERT INTO ukn (id, email, name) VALUES (14, 'a', 'catorce'), (12, 'b', 'doce') ON DUPLICATE KEY UPDATE id = VALUES(id), email = VALUES(email), name = VALUES(name);
SELECT * FROM ukn ORDER BY id;
-- Keys of several columns, of strings, and of another order.
CREATE TABLE uks (tenant INT, code VARCHAR(20), ref VARCHAR(20), other VARCHAR(20), n INT, PRIMARY KEY (tenant, code), UNIQUE KEY r (ref), UNIQUE KEY o (other));
INSERT INTO uks VALUES (1, 'a', 'r1', 'o1', 1), (1, 'b', 'r2', 'o2', 2), (2, 'a', 'r3', 'o3', 3), (2, 'b', 'r4', 'o4', 4), (3, 'c', 'r5', NULL, 5);
INSERT INTO uks VALUES (1, 'A', 'r1', 'o1', 11) ON DUPLICATE KEY UPDATE tenant = VALUES(tenant), code = VALUES(code), n = VALUES(n);
INSERT INTO uks VALUES (7, 'q', 'r2', 'o9', 12) ON DUPLICATE KEY UPDATE tenant = VALUES(tenant), code = VALUES(code), ref = VALUES(ref), other = VALUES(other), n = VALUES(n);
INSERT INTO uks VALUES (8, 'q', 'r9', 'o3', 13) ON DUPLICATE KEY UPDATE tenant = VALUES(tenant), code = VALUES(code), ref = VALUES(ref), other = VALUES(other), n = VALUES(n);
INSERT INTO uks VALUES (9, 'q', 'r4', 'o1', 14) ON DUPLICATE KEY UPDATE tenant = VALUES(tenant), code = VALUES(code), ref = VALUES(ref), n = VALUES(n);
INSERT INTO uks VALUES (9, 'q', 'r5', 'o15', 15) ON DUPLICATE KEY UPDATE tenant = VALUES(tenant), code = VALUES(code), ref = VALUES(ref), other = VALUES(other), n = VALUES(n);
SELECT * FROM uks ORDER BY ref;
SELECT n FROM uks WHERE other = 'o9';
SELECT n FROM uks WHERE ref = 'r9';
-- refused: the distribution column
INSERT INTO uks VALUES (9, 'z', 'r5', 'o1', 16) ON DUPLICATE KEY UPDATE code = VALUES(code);
-- Foreign keys.
CREATE TABLE ukp (id INT PRIMARY KEY, name VARCHAR(20) UNIQUE);
CREATE TABLE ukc (id INT PRIMARY KEY, parent INT, label VARCHAR(20) UNIQUE, FOREIGN KEY (parent) REFERENCES ukp (id) ON UPDATE CASCADE);
INSERT INTO ukp VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO ukc VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z'), (4, NULL, 'w');
INSERT INTO ukp VALUES (11, 'a') ON DUPLICATE KEY UPDATE id = VALUES(id);
INSERT INTO ukp VALUES (2, 'b') ON DUPLICATE KEY UPDATE id = VALUES(id), name = VALUES(name);
SELECT * FROM ukc ORDER BY id;
INSERT INTO ukc VALUES (21, 3, 'x') ON DUPLICATE KEY UPDATE id = VALUES(id), parent = VALUES(parent);
INSERT INTO ukc VALUES (22, 2, 'y') ON DUPLICATE KEY UPDATE id = VALUES(id), parent = 99;
INSERT INTO ukc VALUES (23, 11, 'w') ON DUPLICATE KEY UPDATE id = VALUES(id);
SELECT * FROM ukc ORDER BY id;
CREATE TABLE ukr (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES ukp (id));
INSERT INTO ukr VALUES (1, 3);
INSERT INTO ukp VALUES (31, 'c') ON DUPLICATE KEY UPDATE id = VALUES(id);
INSERT INTO ukp VALUES (3, 'c') ON DUPLICATE KEY UPDATE id = VALUES(id), name = VALUES(name);
SELECT * FROM ukp ORDER BY id;
-- Rows that lie with those that refer to them.
CREATE TABLE ukq (id INT PRIMARY KEY, u INT UNIQUE, n INT);
CREATE TABLE ukq_items (q INT PRIMARY KEY, i INT, FOREIGN KEY (q) REFERENCES ukq (id));
INSERT INTO ukq VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5);
INSERT INTO ukq_items VALUES (1, 1), (3, 1);
INSERT INTO ukq VALUES (1, 1, 10), (2, 2, 20), (3, 3, 30) ON DUPLICATE KEY UPDATE id = VALUES(id), u = VALUES(u), n = VALUES(n);
INSERT INTO ukq VALUES (11, 2, 1) ON DUPLICATE KEY UPDATE id = VALUES(id);
INSERT INTO ukq VALUES (12, 1, 1) ON DUPLICATE KEY UPDATE id = VALUES(id);
INSERT INTO ukq VALUES (13, 3, 1) ON DUPLICATE KEY UPDATE id = VALUES(id);
INSERT INTO ukq VALUES (14, 4, 1), (15, 5, 1), (16, 14, 1) ON DUPLICATE KEY UPDATE id = VALUES(id), u = id;
SELECT * FROM ukq ORDER BY id;
SELECT * FROM ukq_items ORDER BY q, i;
CREATE TABLE ukz (id INT PRIMARY KEY, u INT UNIQUE, n INT);
CREATE TABLE ukz_items (q INT PRIMARY KEY, i INT, FOREIGN KEY (q) REFERENCES ukz (id) ON UPDATE CASCADE);
INSERT INTO ukz VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5);
INSERT INTO ukz_items VALUES (1, 1), (3, 1), (4, 1);
INSERT INTO ukz VALUES (1, 1, 10), (2, 2, 20), (6, 6, 6) ON DUPLICATE KEY UPDATE id = VALUES(id), u = VALUES(u), n = VALUES(n);
INSERT INTO ukz VALUES (11, 1, 1), (12, 2, 2), (13, 3, 3), (14, 4, 4), (15, 5, 5) ON DUPLICATE KEY UPDATE id = VALUES(id), u = VALUES(u), n = VALUES(n);
INSERT INTO ukz_items VALUES (3, 1) ON DUPLICATE KEY UPDATE q = VALUES(q);
INSERT INTO ukz_items VALUES (11, 7) ON DUPLICATE KEY UPDATE q = VALUES(q), i = VALUES(i);
SELECT * FROM ukz ORDER BY id;
SELECT * FROM ukz_items ORDER BY q;
-- Words are found where the row has gone to.
CREATE TABLE ukf (id INT PRIMARY KEY, u INT UNIQUE, body VARCHAR(100), FULLTEXT KEY (body));
INSERT INTO ukf VALUES (1, 1, 'winter wheat'), (2, 2, 'summer barley'), (3, 3, 'winter rye');
INSERT INTO ukf VALUES (21, 1, 'x'), (22, 2, 'x'), (23, 3, 'x') ON DUPLICATE KEY UPDATE id = VALUES(id);
SELECT id FROM ukf WHERE MATCH (body) AGAINST ('winter' IN BOOLEAN MODE) ORDER BY id;
SELECT * FROM ukf ORDER BY id;
