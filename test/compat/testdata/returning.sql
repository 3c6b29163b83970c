-- story: mariadb
-- RETURNING has its columns where no row has come, too.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20)) PARTITION BY KEY (id);
CREATE TABLE r (id INT PRIMARY KEY, a INT, b VARCHAR(20)) COMMENT 'skarv:reference';
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10));
INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd');
INSERT INTO r VALUES (1, 10, 'a'), (2, 20, 'b');
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id > 1000 RETURNING id, a + 1 AS more, b;
INSERT INTO t (id, a) SELECT id, a FROM t WHERE id > 1000 RETURNING *;
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id = 1000 RETURNING t.id, CONCAT(b, 'x');
INSERT INTO t (id, a) SELECT 1000, a FROM t WHERE id = 1000 RETURNING t.id, CONCAT(b, 'x');
INSERT INTO t (id, a) SELECT id + 100, a FROM (SELECT * FROM t) AS d WHERE id > 1000 RETURNING compat.t.id -- no row
;
INSERT INTO counted (s) SELECT b FROM t WHERE id > 1000 RETURNING id, s;
INSERT INTO counted (s) SELECT b FROM t WHERE 1 = 0 RETURNING *;
INSERT INTO r SELECT id + 10, a, b FROM r WHERE id > 1000 RETURNING id, b;
REPLACE INTO t (id, a) SELECT id + 100, a FROM t WHERE id > 1000 RETURNING id, a + 1 AS more, b;
INSERT IGNORE INTO t (id, a) SELECT id, a FROM t RETURNING id, a + 1 AS more, b;
INSERT IGNORE INTO t (id, a) VALUES (1, 1), (2, 2), (3, 3), (4, 4) RETURNING id, a + 1 AS more, b;
-- sent: length, a parameter is as wide as its value
-- args: [1000, 7]
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id > ? RETURNING id, a + ?;
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id > 2 RETURNING id, a + 1 AS more, b;
SELECT * FROM t ORDER BY id;
-- refused: each server would number its own rows
INSERT INTO t VALUES (2001, 1, 'x'), (2002, 2, 'y'), (2003, 3, 'z') RETURNING id, ROWNUM();
-- refused: each server would number its own rows
DELETE FROM t WHERE id > 2 RETURNING rownum();
SELECT id FROM t WHERE id < 4 ORDER BY id;
INSERT INTO t VALUES (3001, 1, 'x'), (3002, 2, 'y'), (3003, 3, 'z'), (3004, 3, 'z') RETURNING id;
SELECT FOUND_ROWS();
REPLACE INTO t VALUES (3001, 1, 'x') RETURNING id;
SELECT FOUND_ROWS();
SELECT id FROM t WHERE id < 4 ORDER BY id;
DELETE FROM t WHERE id = 3001 RETURNING id;
SELECT FOUND_ROWS();
SELECT id FROM t WHERE id < 4 ORDER BY id;
DELETE FROM t WHERE id > 3001 RETURNING id;
SELECT FOUND_ROWS();
