-- Tables without a primary key have UNIQUE keys all the same, kept by global indexes over the hidden key.
CREATE TABLE a (v INT, w INT);
INSERT INTO a VALUES (1, 1), (2, 2), (3, 3), (NULL, NULL), (NULL, 5);
ALTER TABLE a ADD UNIQUE (v);
INSERT INTO a VALUES (2, 7);
INSERT INTO a VALUES (4, 7);
INSERT INTO a VALUES (NULL, 7);
INSERT INTO a (w) VALUES (7);
INSERT INTO a VALUES (10, 1), (11, 1), (12, 1), (1, 1), (13, 1);
INSERT IGNORE INTO a VALUES (10, 1), (11, 1), (12, 1), (1, 1), (13, 1);
INSERT INTO a VALUES (10, 100), (20, 100) ON DUPLICATE KEY UPDATE w = VALUES(w) + w;
REPLACE INTO a VALUES (11, 200), (21, 200);
SELECT LAST_INSERT_ID();
SELECT v, w FROM a ORDER BY v, w;
SELECT w FROM a WHERE v = 11;
UPDATE a SET v = 99 WHERE w = 200 AND v = 11;
UPDATE a SET v = 99 WHERE v = 21;
UPDATE a SET v = v + 100 WHERE v > 0;
UPDATE a SET v = 1000 WHERE w = 7 ORDER BY v LIMIT 2;
DELETE FROM a WHERE v = 101;
INSERT INTO a SELECT v + 1000, w FROM a WHERE v IS NOT NULL;
INSERT INTO a SELECT 1102, 3;
INSERT IGNORE INTO a SELECT 1102, 3;
INSERT INTO a SELECT 1102, 3 ON DUPLICATE KEY UPDATE w = 77;
REPLACE INTO a SELECT 1103, 4;
SELECT LAST_INSERT_ID();
SELECT * FROM a ORDER BY v, w;
SHOW COLUMNS FROM a;
SELECT index_name, column_name, non_unique FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'a';
SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND table_name = 'a';

-- Several of them from the beginning; what ALTER TABLE makes of them.
CREATE TABLE b (a INT, b VARCHAR(20), c INT, UNIQUE KEY x (a), UNIQUE KEY y (b, c));
INSERT INTO b VALUES (1, 'a', 1), (2, 'b', 1), (3, NULL, NULL);
INSERT INTO b VALUES (4, 'B', 1);
INSERT INTO b VALUES (2, 'z', 1);
INSERT INTO b VALUES (1, 'b', 1) ON DUPLICATE KEY UPDATE c = 9;
REPLACE INTO b VALUES (2, 'a', 9);
SELECT * FROM b ORDER BY a, b, c;
UPDATE b SET a = b.a + 1 ORDER BY a DESC;
DELETE FROM b WHERE b = 'a';
UPDATE b JOIN a ON a.v = b.a + 98 SET b.c = 5;
ALTER TABLE b DROP KEY x;
INSERT INTO b VALUES (4, 'q', 1), (4, 'r', 1);
ALTER TABLE b ADD UNIQUE KEY x (a);
DELETE FROM b WHERE a = 4 AND b = 'q';
DELETE FROM b WHERE a = 4 AND b IS NULL;
ALTER TABLE b ADD UNIQUE KEY x (a), ADD COLUMN d INT UNIQUE;
INSERT INTO b VALUES (5, 's', 1, 1), (6, 's', 2, 1);
INSERT INTO b VALUES (5, 's', 1, 1), (6, 's', 2, 2);
ALTER TABLE b MODIFY a BIGINT, MODIFY b VARCHAR(30);
INSERT INTO b VALUES (4, 't', 1, 5);
ALTER TABLE b MODIFY a VARCHAR(20);
INSERT INTO b VALUES ('4', 't', 1, 5);
ALTER TABLE b ADD id INT AUTO_INCREMENT PRIMARY KEY FIRST;
INSERT INTO b (a, b, c) VALUES ('4', 't', 1);
INSERT INTO b (a, b, c) VALUES ('44', 't', 1);
SELECT a, b, c, d FROM b ORDER BY a;

-- Copies of such a table, and tables in its place.
CREATE TABLE c LIKE a;
INSERT INTO c SELECT * FROM a;
INSERT INTO c VALUES (1103, 0);
TRUNCATE TABLE c;
INSERT INTO c VALUES (1103, 0);
INSERT INTO c VALUES (1103, 0);
CREATE TABLE d (UNIQUE (v)) SELECT * FROM a;
INSERT INTO d VALUES (1103, 0);
SELECT COUNT(*) FROM d;
RENAME TABLE c TO c2, d TO c, c2 TO d;
INSERT INTO c VALUES (1103, 0);
INSERT INTO d VALUES (1104, 0);
SELECT COUNT(*), MAX(v) FROM c;
SELECT COUNT(*), MAX(v) FROM d;

-- A transaction over node groups, and others that refer to it.
CREATE TABLE g (a INT, b TEXT, UNIQUE (a));
INSERT INTO g VALUES (102, 'x');
ALTER TABLE g ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES a (v);
INSERT INTO g VALUES (2, 'y');
INSERT INTO g VALUES (103, 'y'), (104, 'z');
INSERT INTO g VALUES (103, 'y');
DELETE FROM a WHERE v = 103;
UPDATE a SET v = 5000 WHERE v = 104;
DELETE FROM g WHERE a = 104;
UPDATE a SET v = 5000 WHERE v = 104;
START TRANSACTION;
INSERT INTO a VALUES (7000, 1);
INSERT INTO g VALUES (7000, 1);
UPDATE a SET w = w + 1 WHERE v = 7000;
ROLLBACK;
START TRANSACTION;
INSERT INTO a VALUES (7000, 1);
INSERT INTO g VALUES (7000, 1);
COMMIT;
SELECT * FROM g ORDER BY a;
SELECT * FROM a WHERE v IN (7000, 1103, 8) ORDER BY v;
SELECT * FROM a WHERE v = 7000 FOR UPDATE;

-- A key that can have no global index: a new table lives on one node group, one that is there is refused it.
CREATE TABLE e (a INT, b FLOAT, UNIQUE (b), UNIQUE (a));
INSERT INTO e VALUES (1, 1.5);
INSERT INTO e VALUES (2, 1.5);
-- refused: its rows are spread by the hidden key
ALTER TABLE g ADD f FLOAT, ADD UNIQUE (f);
CREATE TABLE h (a INT UNIQUE) COMMENT 'skarv:reference';
INSERT INTO h VALUES (1), (NULL), (NULL);
INSERT INTO h VALUES (1);
DROP TABLE g, a, b, c, d, e, h;
