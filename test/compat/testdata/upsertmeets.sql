-- ON DUPLICATE KEY UPDATE of a table with a global index: which row it meets, and whether it has changed, is no matter of texts.
CREATE TABLE um_float (id INT PRIMARY KEY, u INT UNIQUE, f FLOAT, v VARCHAR(40) CHARACTER SET utf8mb4);
INSERT INTO um_float VALUES (1, 1, 1, 'a'), (2, 2, 1, 'a'), (3, 3, 1, 'a'), (4, 4, 1, 'a');
INSERT INTO um_float (id, u) VALUES (12, 1) ON DUPLICATE KEY UPDATE f = 1.0000001;
INSERT INTO um_float (id, u) VALUES (13, 2), (14, 3) ON DUPLICATE KEY UPDATE f = 1.0000001;
INSERT INTO um_float (id, u) VALUES (12, 1) ON DUPLICATE KEY UPDATE f = 1.5;
SELECT id, u, f * 1e0 FROM um_float ORDER BY id;
UPDATE um_float SET v = _utf8mb4 x'C582';
SET NAMES latin1;
INSERT INTO um_float (id, u) VALUES (12, 1) ON DUPLICATE KEY UPDATE v = _utf8mb4 x'C59B';
SET NAMES utf8mb4;
SET character_set_results = ascii;
INSERT INTO um_float (id, u) VALUES (12, 2) ON DUPLICATE KEY UPDATE v = _utf8mb4 x'C59B';
SET NAMES utf8mb4;
SELECT id, HEX(v) FROM um_float ORDER BY id;
-- Names of keys, and values, that look like the text around them.
CREATE TABLE um_dot (a INT, b INT, c INT, d INT, n INT, PRIMARY KEY (a, b), UNIQUE KEY `x.y` (a, c), UNIQUE KEY gg (d)) COMMENT 'skarv:key=a';
INSERT INTO um_dot VALUES (1, 1, 1, 1, 0), (2, 2, 2, 2, 0), (3, 3, 3, 3, 0), (4, 4, 4, 4, 0);
INSERT INTO um_dot VALUES (1, 9, 1, 9, 0) ON DUPLICATE KEY UPDATE n = n + 1;
INSERT INTO um_dot VALUES (3, 9, 3, 9, 0), (4, 4, 4, 9, 0), (5, 9, 5, 2, 0) ON DUPLICATE KEY UPDATE n = n + 1;
INSERT IGNORE INTO um_dot VALUES (1, 9, 1, 9, 0);
REPLACE INTO um_dot VALUES (2, 9, 2, 9, 5);
SELECT * FROM um_dot ORDER BY a;
CREATE TABLE `um.for key 'x` (a INT, b INT, c INT, d INT, n INT, PRIMARY KEY (a, b), UNIQUE KEY `x' for key 'PRIMARY` (a, c), UNIQUE KEY PRIMAR (d)) COMMENT 'skarv:key=a';
INSERT INTO `um.for key 'x` VALUES (1, 1, 1, 1, 0), (2, 2, 2, 2, 0);
INSERT INTO `um.for key 'x` VALUES (1, 9, 1, 9, 0), (2, 2, 9, 9, 0), (3, 3, 3, 2, 0) ON DUPLICATE KEY UPDATE n = n + 1;
SELECT * FROM `um.for key 'x` ORDER BY a;
CREATE TABLE um_key (id VARCHAR(50) PRIMARY KEY, u INT UNIQUE, n INT);
INSERT INTO um_key VALUES ('it for key ''x''', 1, 0), ('a.b', 2, 0), ('q for key ''u', 3, 0), (' for key ''um_key.u''', 4, 0);
INSERT INTO um_key VALUES ('it for key ''x''', 11, 0) ON DUPLICATE KEY UPDATE n = n + 1;
INSERT INTO um_key VALUES ('q for key ''u', 13, 0), (' for key ''um_key.u''', 14, 0) ON DUPLICATE KEY UPDATE n = n + 1;
INSERT INTO um_key VALUES ('a.b', 11, 0) ON DUPLICATE KEY UPDATE n = n + 1;
INSERT IGNORE INTO um_key VALUES ('it for key ''x''', 11, 0);
REPLACE INTO um_key VALUES ('it for key ''x''', 12, 7);
SELECT * FROM um_key ORDER BY u;
-- A name that the client's character set has not.
CREATE TABLE um_name (a INT, b INT, c INT, d INT, n INT, PRIMARY KEY (a, b), UNIQUE KEY `ключ` (a, c), UNIQUE KEY `другой` (d)) COMMENT 'skarv:key=a';
INSERT INTO um_name VALUES (1, 1, 1, 1, 0), (2, 2, 2, 2, 0), (3, 3, 3, 3, 0);
SET NAMES latin1;
INSERT INTO um_name VALUES (1, 9, 1, 9, 0), (2, 2, 9, 9, 0), (9, 9, 9, 3, 0), (7, 7, 7, 7, 7) ON DUPLICATE KEY UPDATE n = n + 1;
SET NAMES utf8mb4;
SELECT * FROM um_name ORDER BY a;
-- A column that is assigned to itself stays as it is, whatever stands before it: so object mappers say that nothing is to be done.
CREATE TABLE um_self (id INT PRIMARY KEY, a INT);
CREATE TABLE um_selfu (id INT PRIMARY KEY, a INT UNIQUE);
INSERT INTO um_self VALUES (1, 5), (2, 9), (3, 1);
INSERT INTO um_selfu SELECT * FROM um_self;
INSERT INTO um_self VALUES (1, 7) ON DUPLICATE KEY UPDATE id = um_self.id;
INSERT INTO um_self VALUES (1, 8), (4, 4), (2, 1) ON DUPLICATE KEY UPDATE um_self.id = compat.um_self.id, a = um_self.a + 1;
INSERT INTO um_selfu VALUES (1, 7), (8, 5), (9, 10) ON DUPLICATE KEY UPDATE id = um_selfu.id, a = um_selfu.a + 100;
INSERT INTO um_selfu VALUES (1, 7), (8, 105), (9, 10) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(um_selfu.id);
INSERT INTO um_selfu SELECT * FROM um_self ON DUPLICATE KEY UPDATE id = um_selfu.id;
INSERT INTO um_self SELECT * FROM um_selfu ON DUPLICATE KEY UPDATE id = um_self.id, a = um_selfu.a;
INSERT INTO um_self SELECT x.* FROM um_self x ON DUPLICATE KEY UPDATE id = um_self.id;
-- only: mariadb
INSERT INTO um_self SELECT * FROM um_selfu um_self ON DUPLICATE KEY UPDATE id = um_self.id;
-- refused: distribution column 'id'
INSERT INTO um_self VALUES (1, 7) ON DUPLICATE KEY UPDATE id = um_self.a;
-- refused: distribution column 'id'
INSERT INTO um_self SELECT * FROM um_selfu ON DUPLICATE KEY UPDATE id = um_selfu.id;
SELECT * FROM um_self ORDER BY id;
SELECT * FROM um_selfu ORDER BY id;
