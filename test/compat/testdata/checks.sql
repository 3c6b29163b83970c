-- CHECK constraints of tables that are copied, and of copies that are written to.
CREATE TABLE c (id INT PRIMARY KEY, a INT, b INT, CHECK (a < 10), CONSTRAINT named CHECK (b > a));
CREATE TABLE o (id INT PRIMARY KEY, cid INT, v INT);
INSERT INTO c VALUES (1, 1, 2), (2, 5, 6), (3, 9, 100), (4, NULL, 0);
INSERT INTO o VALUES (10, 1, 3), (20, 2, 4), (30, 3, 50), (40, 9, 1);
INSERT INTO c VALUES (5, 10, 11);
SELECT c.id, o.v FROM c JOIN o ON o.cid = c.id WHERE c.a + o.v > 4 ORDER BY 1;
SELECT id, SUM(a) OVER (ORDER BY id) FROM c ORDER BY 1;
INSERT INTO c SELECT id, v, v + 1 FROM o WHERE v < 5;
SELECT * FROM c ORDER BY id;
INSERT INTO c SELECT id + 1, v, v + 1 FROM o;
INSERT INTO c SELECT id + 1, v, v FROM o WHERE v < 5;
SELECT * FROM c ORDER BY id;
UPDATE c JOIN o ON o.cid = c.id SET c.a = o.v WHERE o.v < 10;
UPDATE c JOIN o ON o.cid = c.id SET c.a = o.v;
SELECT * FROM c ORDER BY id;
DELETE c FROM c JOIN o ON o.id = c.id WHERE o.v < 4;
SELECT * FROM c ORDER BY id;
-- only: mysql
-- refused: CHECK constraints
INSERT IGNORE INTO c SELECT id + 2, v, v + 1 FROM o;
-- only: mysql
-- refused: CHECK constraints
UPDATE IGNORE c JOIN o ON o.cid = c.id SET c.a = o.v;
-- only: mariadb
INSERT IGNORE INTO c SELECT id + 2, v, v + 1 FROM o;
SELECT * FROM c ORDER BY id;
-- Constraints that rows of one node group hinder: no table has them then.
CREATE TABLE n (id INT PRIMARY KEY, a INT);
INSERT INTO n VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
ALTER TABLE n ADD CHECK (id <> 1);
ALTER TABLE n ADD CHECK (id <> 2);
ALTER TABLE n ADD CHECK (id <> 3);
ALTER TABLE n ADD CHECK (id <> 4), ADD COLUMN e INT;
ALTER TABLE n ADD CONSTRAINT odd CHECK (id <> 2);
ALTER TABLE n ADD CONSTRAINT odd CHECK (id <> 3);
ALTER TABLE n ADD CHECK (id <> 6);
SHOW CREATE TABLE n;
-- only: mysql
ALTER TABLE n ADD CONSTRAINT one CHECK (id <> 1) NOT ENFORCED, ADD CONSTRAINT two CHECK (id <> 2) NOT ENFORCED, ADD CONSTRAINT three CHECK (id <> 3) NOT ENFORCED;
-- only: mysql
ALTER TABLE n ALTER CHECK one ENFORCED;
-- only: mysql
ALTER TABLE n ALTER CHECK two ENFORCED;
-- only: mysql
ALTER TABLE n ALTER CHECK three ENFORCED, ADD COLUMN e INT;
-- only: mysql
SHOW CREATE TABLE n;
DELETE FROM n WHERE id IN (1, 3);
-- only: mysql
ALTER TABLE n ALTER CHECK one ENFORCED;
-- only: mysql
ALTER TABLE n ALTER CONSTRAINT three ENFORCED;
INSERT INTO n (id) VALUES (3);
INSERT INTO n (id) VALUES (6);
SHOW CREATE TABLE n;
