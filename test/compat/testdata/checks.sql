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
