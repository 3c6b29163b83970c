-- LAST_INSERT_ID() behind an INSERT of several rows, some of which meet others, is the number of the first that came.
CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, e VARCHAR(9) UNIQUE, n INT);
INSERT INTO u (k, e, n) VALUES (0, 'a', 1);
INSERT INTO u (k, e, n) VALUES (1, 'b', 1);
INSERT INTO u (k, e, n) VALUES (2, 'c', 1);
INSERT INTO u (k, e, n) VALUES (3, 'd', 1);
INSERT INTO u (k, e, n) VALUES (4, 'e', 1);
INSERT INTO u (k, e, n) VALUES (5, 'f', 1);
INSERT INTO u (k, e, n) VALUES (6, 'g', 1);
INSERT INTO u (k, e, n) VALUES (7, 'h', 1);
SELECT LAST_INSERT_ID();
INSERT IGNORE INTO u (k, e, n) VALUES (0, 'a', 2), (1, 'b', 2), (2, 'c', 2);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (0, 'a', 3), (1, 'b', 3), (2, 'c', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (3, 'd', 3), (1, 'b', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (3, 'd', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (3, 'd', 4) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (4, 'e', 5), (1, 'b', 5), (3, 'd', 5) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (3, 'd', 5), (0, 'a', 5), (1, 'b', 5) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (3, 'd', 6) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (2, 'c', 3) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT IGNORE INTO u (k, e, n) VALUES (0, 'a', 2), (1, 'i', 2), (2, 'j', 2);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO u (k, e, n) VALUES (0, 'a', 3), (1, 'b', 4), (2, 'k', 2), (3, 'l', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) VALUES (5, 'm', 3), (1, 'b', 4), (1, 'n', 1), (5, 'm', 7) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO u (k, e, n) VALUES (0, 'a', 4), (6, 'o', 4), (1, 'b', 4) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 0;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
SELECT k, e, n FROM u ORDER BY e;
-- gap: numbers
INSERT IGNORE INTO u (k, e, n) VALUES (0, 'a', 2), (0, 'p', 2), (0, 'q', 2);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
BEGIN;
-- gap: numbers
INSERT INTO u (k, e, n) VALUES (0, 'a', 9), (0, 'r', 2), (0, 's', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
ROLLBACK;
DELETE FROM u WHERE id > 8;
REPLACE INTO u (k, e, n) VALUES (0, 'a', 2), (0, 't', 2), (0, 'a', 3);
SELECT COUNT(*) FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (id, k, e, n) VALUES (1001, 1, 'b', 1), (1002, 1, 'v1', 1), (1003, 2, 'c', 1) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT IGNORE INTO u (id, k, e, n) VALUES (1004, 1, 'b', 1), (1005, 1, 'w', 1), (1006, 2, 'c', 1);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT IGNORE INTO u (id, k, e, n) VALUES (1007, 7, 'h', 1), (NULL, 1, 'x', 1), (1002, 1, 'y', 1);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (id, k, e, n) VALUES (1, 1, 'b', 1), (2, 2, 'c', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 11;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (id, k, e, n) VALUES (2001, 1, 'z1', 1), (2002, 2, 'z2', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 11;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (id, k, e, n) VALUES (2003, 1, 'z3', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 11;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (id, k, e, n) VALUES (2003, 1, 'z3', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 12;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
CREATE TABLE without (id INT PRIMARY KEY, a INT, b VARCHAR(10));
INSERT INTO without VALUES (7, 7, 'x'), (19, 19, 'y'), (12, 3, 'z');
-- refused: which row has called it last
INSERT INTO without (id, a, b) VALUES (19, 1, 'j'), (7, 16, 'a'), (11, 1, 'b') ON DUPLICATE KEY UPDATE a = LAST_INSERT_ID(id);
INSERT INTO without (id, a, b) VALUES (19, 1, 'j') ON DUPLICATE KEY UPDATE a = LAST_INSERT_ID(id);
SELECT LAST_INSERT_ID();
CREATE TABLE p (id INT AUTO_INCREMENT, k INT NOT NULL, e VARCHAR(9), n INT, PRIMARY KEY (k, id), KEY (id), UNIQUE (k, e)) PARTITION BY KEY (k);
INSERT INTO p (k, e, n) VALUES (0, 'a', 1);
INSERT INTO p (k, e, n) VALUES (1, 'b', 1);
INSERT INTO p (k, e, n) VALUES (2, 'c', 1);
INSERT INTO p (k, e, n) VALUES (3, 'd', 1);
INSERT INTO p (k, e, n) VALUES (4, 'e', 1);
INSERT INTO p (k, e, n) VALUES (5, 'f', 1);
INSERT INTO p (k, e, n) VALUES (6, 'g', 1);
INSERT INTO p (k, e, n) VALUES (7, 'h', 1);
SELECT LAST_INSERT_ID();
INSERT IGNORE INTO p (k, e, n) VALUES (0, 'a', 2), (1, 'b', 2), (2, 'c', 2);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (0, 'a', 3), (1, 'b', 3), (2, 'c', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (3, 'd', 3), (1, 'b', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (3, 'd', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (3, 'd', 4) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (4, 'e', 5), (1, 'b', 5), (3, 'd', 5) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (3, 'd', 5), (0, 'a', 5), (1, 'b', 5) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (3, 'd', 6) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) VALUES (2, 'c', 3) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT IGNORE INTO p (k, e, n) VALUES (0, 'a', 2), (1, 'i', 2), (2, 'j', 2);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO p (k, e, n) VALUES (0, 'a', 3), (1, 'b', 4), (2, 'k', 2), (3, 'l', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO p (k, e, n) VALUES (5, 'm', 3), (1, 'b', 4), (1, 'n', 1), (5, 'm', 7) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO p (k, e, n) VALUES (0, 'a', 4), (6, 'o', 4), (1, 'b', 4) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 0;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
SELECT k, e, n FROM p ORDER BY e;
-- gap: numbers
INSERT IGNORE INTO p (k, e, n) VALUES (0, 'a', 2), (0, 'p', 2), (0, 'q', 2);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
BEGIN;
-- gap: numbers
INSERT INTO p (k, e, n) VALUES (0, 'a', 9), (0, 'r', 2), (0, 's', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
ROLLBACK;
DELETE FROM p WHERE id > 8;
-- gap: numbers
REPLACE INTO p (k, e, n) VALUES (0, 'a', 2), (0, 't', 2), (0, 'a', 3);
SELECT COUNT(*) FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (id, k, e, n) VALUES (1001, 1, 'b', 1), (1002, 1, 'v1', 1), (1003, 2, 'c', 1) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT IGNORE INTO p (id, k, e, n) VALUES (1004, 1, 'b', 1), (1005, 1, 'w', 1), (1006, 2, 'c', 1);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- refused: rows of several node groups that bring numbers
INSERT INTO p (id, k, e, n) VALUES (1, 1, 'b', 1), (2, 2, 'c', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 11;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- refused: rows of several node groups that bring numbers
INSERT INTO p (id, k, e, n) VALUES (2001, 1, 'z1', 1), (2002, 2, 'z2', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 11;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (id, k, e, n) VALUES (2003, 1, 'z3', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 11;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (id, k, e, n) VALUES (2003, 1, 'z3', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = 12;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
CREATE TABLE r (id INT AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL DEFAULT 0, e VARCHAR(9) UNIQUE, n INT) COMMENT 'skarv:reference';
INSERT INTO r (k, e, n) VALUES (0, 'a', 1);
INSERT INTO r (k, e, n) VALUES (1, 'b', 1);
INSERT INTO r (k, e, n) VALUES (2, 'c', 1);
INSERT INTO r (k, e, n) VALUES (3, 'd', 1);
INSERT INTO r (k, e, n) VALUES (4, 'e', 1);
INSERT INTO r (k, e, n) VALUES (5, 'f', 1);
INSERT INTO r (k, e, n) VALUES (6, 'g', 1);
INSERT INTO r (k, e, n) VALUES (7, 'h', 1);
SELECT LAST_INSERT_ID();
INSERT IGNORE INTO r (k, e, n) VALUES (0, 'a', 2), (1, 'b', 2), (2, 'c', 2);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
INSERT INTO r (k, e, n) VALUES (0, 'a', 3), (1, 'b', 3), (2, 'c', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
INSERT INTO r (k, e, n) VALUES (3, 'd', 3), (1, 'b', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
INSERT INTO r (k, e, n) VALUES (3, 'd', 3) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
INSERT INTO r (k, e, n) VALUES (3, 'd', 4) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT IGNORE INTO r (k, e, n) VALUES (0, 'a', 2), (1, 'i', 2), (2, 'j', 2);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO r (k, e, n) VALUES (0, 'a', 3), (1, 'b', 4), (2, 'k', 2), (3, 'l', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
INSERT INTO r (k, e, n) VALUES (5, 'm', 3), (1, 'b', 4), (1, 'n', 1), (5, 'm', 7) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
SELECT k, e, n FROM r ORDER BY e;
-- gap: numbers
INSERT IGNORE INTO r (k, e, n) VALUES (0, 'a', 2), (0, 'p', 2), (0, 'q', 2);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
BEGIN;
-- gap: numbers
INSERT INTO r (k, e, n) VALUES (0, 'a', 9), (0, 'r', 2), (0, 's', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
ROLLBACK;
DELETE FROM r WHERE id > 8;
REPLACE INTO r (k, e, n) VALUES (0, 'a', 2), (0, 't', 2), (0, 'a', 3);
SELECT COUNT(*) FROM r WHERE id = LAST_INSERT_ID();
INSERT INTO r (id, k, e, n) VALUES (1001, 1, 'b', 1), (1002, 1, 'v1', 1), (1003, 2, 'c', 1) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1;
SELECT e FROM r WHERE id = LAST_INSERT_ID();
INSERT IGNORE INTO r (id, k, e, n) VALUES (1004, 1, 'b', 1), (1005, 1, 'w', 1), (1006, 2, 'c', 1);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT IGNORE INTO r (id, k, e, n) VALUES (1007, 7, 'h', 1), (NULL, 1, 'x', 1), (1002, 1, 'y', 1);
SELECT e FROM r WHERE id = LAST_INSERT_ID();
CREATE TABLE src (id INT PRIMARY KEY, e VARCHAR(9));
INSERT INTO src VALUES (1, 'A'), (2, 'B'), (3, 'C'), (4, 'D');
DELETE FROM p;
INSERT INTO p (k, e, n) VALUES (1, 'A', 1);
INSERT INTO p (k, e, n) VALUES (2, 'B', 1);
-- gap: numbers
INSERT IGNORE INTO p (k, e, n) SELECT id, e, 5 FROM src ORDER BY id;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT IGNORE INTO p (k, e, n) SELECT id, e, 5 FROM src ORDER BY id;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
INSERT INTO p (k, e, n) SELECT id, e, 6 FROM src ORDER BY id ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
UPDATE src SET e = CONCAT(e, '2') WHERE id IN (2, 4);
-- gap: numbers
INSERT INTO p (k, e, n) SELECT id, e, 7 FROM src ORDER BY id ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM p WHERE id = LAST_INSERT_ID();
UPDATE src SET e = LEFT(e, 1);
DELETE FROM u;
INSERT INTO u (k, e, n) VALUES (1, 'A', 1);
INSERT INTO u (k, e, n) VALUES (2, 'B', 1);
-- gap: numbers
INSERT IGNORE INTO u (k, e, n) SELECT id, e, 5 FROM src ORDER BY id;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT IGNORE INTO u (k, e, n) SELECT id, e, 5 FROM src ORDER BY id;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
INSERT INTO u (k, e, n) SELECT id, e, 6 FROM src ORDER BY id ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
UPDATE src SET e = CONCAT(e, '2') WHERE id IN (2, 4);
-- gap: numbers
INSERT INTO u (k, e, n) SELECT id, e, 7 FROM src ORDER BY id ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM u WHERE id = LAST_INSERT_ID();
UPDATE src SET e = LEFT(e, 1);
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (1, 'R0', 1) RETURNING e;
-- only: mariadb
INSERT IGNORE INTO p (k, e, n) VALUES (1, 'A', 1), (2, 'R1', 1), (3, 'R2', 1) RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (1, 'A', 1), (2, 'R3', 1), (3, 'R4', 1) ON DUPLICATE KEY UPDATE n = 8 RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (1, 'A', 1), (2, 'R3', 1), (3, 'R4', 1) ON DUPLICATE KEY UPDATE n = 9 RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (3, 'R5', 1) RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (1, 'A', 1) ON DUPLICATE KEY UPDATE n = 10 RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (1, 'A', 1), (2, 'R3', 1), (1, 'R0', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id) RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- only: mariadb
INSERT INTO p (k, e, n) VALUES (2, 'R3', 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id) RETURNING e;
-- only: mariadb
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO p (k, e, n) VALUES (5, 'S', 1);
-- gap: numbers
INSERT INTO p (k, e, n) VALUES (5, 'S', 1) ON DUPLICATE KEY UPDATE id = VALUES(id) + 100, n = 3;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
-- refused: nobody could tell the rows apart by their numbers
INSERT INTO p (k, e, n) VALUES (5, 'S', 1), (6, 'T', 1) ON DUPLICATE KEY UPDATE id = VALUES(id), n = 3;
-- refused: 5000000 may have been given to the first row
INSERT IGNORE INTO p (id, k, e, n) VALUES (5000000, 9, 'U', 1), (NULL, 9, 'U', 2), (5000001, 9, 'V', 3);
-- What is warned of stays to be shown.
DELETE FROM p;
INSERT INTO p (id, k, e, n) VALUES (9000000, 1, 'W', 1);
-- gap: numbers
INSERT IGNORE INTO p (k, e, n) VALUES (1, 'W', 1), (2, 'X', 1), (3, 'Y', 1);
SHOW WARNINGS;
SHOW COUNT(*) WARNINGS;
SELECT e FROM p WHERE id = LAST_INSERT_ID();
DELETE FROM u;
INSERT INTO u (id, k, e, n) VALUES (9000000, 1, 'W', 1);
-- gap: numbers
INSERT IGNORE INTO u (k, e, n) VALUES (1, 'W', 1), (2, 'X', 1), (3, 'Y', 1);
SHOW WARNINGS;
SHOW COUNT(*) WARNINGS;
SELECT e FROM u WHERE id = LAST_INSERT_ID();
DELETE FROM r;
INSERT INTO r (id, k, e, n) VALUES (9000000, 1, 'W', 1);
-- gap: numbers
INSERT IGNORE INTO r (k, e, n) VALUES (1, 'W', 1), (2, 'X', 1), (3, 'Y', 1);
SHOW WARNINGS;
SHOW COUNT(*) WARNINGS;
SELECT e FROM r WHERE id = LAST_INSERT_ID();
-- One row.
CREATE TABLE one (id INT AUTO_INCREMENT PRIMARY KEY, k INT, e VARCHAR(9) UNIQUE, n INT);
INSERT INTO one (e, n) VALUES ('a', 1), ('b', 1), ('c', 1);
INSERT INTO one (e, n) VALUES ('a', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM one WHERE id = LAST_INSERT_ID();
INSERT INTO one (e, n) VALUES ('a', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM one WHERE id = LAST_INSERT_ID();
INSERT INTO one (e, n) VALUES ('b', 2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id);
SELECT e FROM one WHERE id = LAST_INSERT_ID();
INSERT IGNORE INTO one (e, n) VALUES ('c', 5);
SELECT e FROM one WHERE id = LAST_INSERT_ID();
-- Row by row, with triggers that sessions run.
CREATE TABLE logged (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20));
CREATE TABLE trg (id INT AUTO_INCREMENT PRIMARY KEY, e VARCHAR(9) UNIQUE, n INT);
CREATE TRIGGER trg_ai AFTER INSERT ON trg FOR EACH ROW INSERT INTO logged (what) VALUES (NEW.e);
INSERT INTO trg (e, n) VALUES ('a', 1);
INSERT INTO trg (e, n) VALUES ('b', 1);
SELECT e FROM trg WHERE id = LAST_INSERT_ID();
INSERT INTO trg (e, n) VALUES ('a', 2), ('b', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM trg WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT INTO trg (e, n) VALUES ('a', 3), ('c', 2), ('d', 2) ON DUPLICATE KEY UPDATE n = VALUES(n);
SELECT e FROM trg WHERE id = LAST_INSERT_ID();
-- gap: numbers
INSERT IGNORE INTO trg (e, n) VALUES ('a', 3), ('e', 2), ('d', 2);
SELECT e FROM trg WHERE id = LAST_INSERT_ID();
SELECT what FROM logged ORDER BY what;
