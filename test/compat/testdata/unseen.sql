-- What is wrong with a text is said although no row of it brings a server to see the part that is wrong.
CREATE TABLE un_t (id INT PRIMARY KEY, a INT, u VARCHAR(10) UNIQUE, g INT GENERATED ALWAYS AS (a + 1) VIRTUAL);
INSERT INTO un_t (id, a, u) VALUES (1, 1, 'x'), (2, 2, 'y');
CREATE TABLE un_e (id INT PRIMARY KEY, a INT, b VARCHAR(10));

-- Behind ON DUPLICATE KEY UPDATE, of rows that meet none.
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = nocol;
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE nocol = 1;
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = VALUES(nocol);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE u = CONCAT(VALUES(u), un_t.nope);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE un_e.u = 'x';
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = un_e.a;
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE u = MAX(a);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE u = (SELECT 1, 2);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = IF(1);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = LEFT(u);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = 1,;
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = ROW_NUMBER() OVER ();
-- only: mysql
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE g = 5;
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE u = DEFAULT(nocol);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE u = nofunc(1);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE u = DATE'2020-13-45';
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1'), (11, 1, 'z2') ON DUPLICATE KEY UPDATE a = un_t.nocol + 1;
INSERT INTO un_t SET id = 10, a = 1, u = 'z1' ON DUPLICATE KEY UPDATE a = nocol;
INSERT INTO un_t (id, a, u) VALUES (1, 1, 'x') ON DUPLICATE KEY UPDATE a = nocol;
BEGIN;
INSERT INTO un_t (id, a, u) VALUES (12, 1, 'z3');
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = nocol;
COMMIT;
SELECT * FROM un_t ORDER BY id;
-- Nothing is wrong with these.
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = un_t.a + VALUES(a) - 1, u = VALUES(u);
INSERT INTO un_t (id, a, u) VALUES (10, 1, 'z1') ON DUPLICATE KEY UPDATE a = IF(VALUES(a) > 0, a + 1, a), u = CONCAT(u, 'w');
SELECT * FROM un_t ORDER BY id;

-- In the SET of an UPDATE that finds no row.
UPDATE un_t SET u = nocol WHERE a = 77;
UPDATE un_t SET u = MAX(a) WHERE a = 77;
UPDATE un_t SET u = x.a WHERE a = 77;
UPDATE un_t SET u = LEFT(a) WHERE a = 77;
UPDATE un_t SET u = IF(1) WHERE a = 77;
UPDATE un_t SET u = DEFAULT(nocol) WHERE a = 77;
UPDATE un_t SET u = (SELECT 1, 2) WHERE a = 77;
-- only: mysql
UPDATE un_t SET u = u COLLATE latin1_bin WHERE a = 77;
UPDATE un_t SET u = 'x', nocol = 5 WHERE a = 77;
UPDATE un_t SET u = nocol WHERE u = 'none';
UPDATE un_t SET u = nocol WHERE u = 'x';
UPDATE un_t SET id = nocol WHERE a = 77;
UPDATE un_t SET id = nocol WHERE a = 1;
UPDATE un_t SET id = 5 WHERE a = 77 ORDER BY nocol;
UPDATE un_t SET u = 'q' WHERE a = 77 ORDER BY nocol;
UPDATE un_t SET a = nocol WHERE u = 'none';
DELETE FROM un_t WHERE a = 77 ORDER BY nocol;
DELETE FROM un_t WHERE u = 'none' AND nocol = 1;
UPDATE un_t SET u = nocol WHERE id = 1 LIMIT 0;
UPDATE un_t SET u = CONCAT(u, 'q') WHERE a = 77;
CREATE TABLE un_p (id INT PRIMARY KEY);
CREATE TABLE un_c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES un_p (id));
UPDATE un_c SET p = nocol;
UPDATE un_c SET p = (SELECT 1, 2);
UPDATE un_c SET p = id + 1;
UPDATE un_p SET id = nocol WHERE id > 1;

-- Where Skarv runs the table's triggers.
CREATE TABLE un_l (id INT PRIMARY KEY AUTO_INCREMENT, x INT);
CREATE TABLE un_g (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO un_g VALUES (1, 1, 1), (2, 2, 2);
-- skip-prepared
CREATE TRIGGER un_gu BEFORE UPDATE ON un_g FOR EACH ROW INSERT INTO un_l (x) VALUES (NEW.a);
-- skip-prepared
CREATE TRIGGER un_gi BEFORE INSERT ON un_g FOR EACH ROW INSERT INTO un_l (x) VALUES (NEW.a);
-- skip-prepared
CREATE TRIGGER un_gd BEFORE DELETE ON un_g FOR EACH ROW INSERT INTO un_l (x) VALUES (OLD.a);
UPDATE un_g SET a = nocol WHERE b = 77;
UPDATE un_g SET a = MAX(b) WHERE b = 77;
UPDATE un_g SET a = LEFT(b) WHERE b = 77;
UPDATE un_g SET a = x.b WHERE b = 77;
UPDATE un_g SET nocol = 1 WHERE b = 77;
UPDATE un_g SET a = 5 WHERE b = 77 ORDER BY nocol;
DELETE FROM un_g WHERE b = 77 ORDER BY nocol;
UPDATE un_g SET a = nocol WHERE id = 77;
INSERT INTO un_g SELECT id, a, nocol FROM un_e;
INSERT INTO un_g (id, a, nocol) SELECT id, a, a FROM un_e;
INSERT INTO un_g (id, a) SELECT id, a, a FROM un_e;
INSERT INTO un_g VALUES (5, 1, 1), (6, 1, nocol);
INSERT INTO un_g VALUES (5, 1, 1), (6, 1, MAX(1));
CREATE TABLE un_i (id INT PRIMARY KEY, a INT, b INT);
-- skip-prepared
CREATE TRIGGER un_ii BEFORE INSERT ON un_i FOR EACH ROW INSERT INTO un_l (x) VALUES (NEW.a);
INSERT INTO un_i VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE a = nocol;
INSERT INTO un_i VALUES (1, 1, 1), (2, 2, 2) ON DUPLICATE KEY UPDATE a = LEFT(b);
INSERT INTO un_i VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE nocol = 1;
INSERT INTO un_i VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE a = b + 1;
INSERT INTO un_i VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE a = b + 1;
SELECT * FROM un_i;
SELECT x FROM un_l ORDER BY x;
SELECT * FROM un_g ORDER BY id;

-- Values of which a server computes some.
INSERT INTO un_t (id, a, u) VALUES (40, 1, 'q'), (41, 2, MAX(1));
INSERT INTO un_t (id, a, u) VALUES (40, 1, 'q'), (41, 2, LEFT(1));
INSERT INTO un_e VALUES (COUNT(1), 1, 'a');
INSERT INTO un_e VALUES (ROW_NUMBER() OVER (), 1, 'a');
INSERT INTO un_e VALUES (LENGTH('max(1)'), 1, 'sum(1)');
INSERT INTO un_e VALUES (GREATEST(1, 2), 1, 'max(1)');
INSERT INTO un_t (id, a, u) VALUES (42, 1, CONCAT('q', 1)) ON DUPLICATE KEY UPDATE u = CONCAT(u, '2');
UPDATE un_t SET u = nocol LIMIT 0;
SELECT * FROM un_e ORDER BY id;
SELECT * FROM un_t ORDER BY id;
