-- Rows with another number of values than there are columns. An empty list of columns is that of all columns, unless the rows are empty, too.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20)) PARTITION BY KEY (id);
CREATE TABLE r (id INT PRIMARY KEY, a INT, b VARCHAR(20)) COMMENT 'skarv:reference';
CREATE TABLE counted (a INT, id INT AUTO_INCREMENT PRIMARY KEY, b INT DEFAULT 4);
CREATE TABLE hidden (a INT, b INT DEFAULT 4);
CREATE TABLE one (id INT PRIMARY KEY);
CREATE VIEW w AS SELECT a, id FROM t;
INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd');
INSERT INTO r VALUES (1, 10, 'a'), (2, 20, 'b');

INSERT INTO t () VALUES (1), (2);
INSERT INTO t () VALUES (), (2);
INSERT INTO t () VALUES (5, 50, 'e'), (6, 60, 'f');
INSERT INTO t () VALUES (7, 50, 'e'), (8, 60);
INSERT INTO t () VALUES (9, 90, 'i');
INSERT INTO t (id) VALUES (1, 2);
INSERT INTO t (id, a) VALUES (1, 2), (3);
INSERT INTO t (id, a) VALUES (), (3);
INSERT INTO t VALUES (1, 2), (1);
INSERT INTO t VALUES (), (1);
INSERT INTO t VALUES (11, 2, 'x'), (12);
INSERT INTO t (id, a) SELECT 1;
INSERT INTO t (id, a) SELECT id FROM t;
INSERT INTO t (id) SELECT id, a FROM t WHERE id = 7;
INSERT INTO t SELECT id, a FROM t;
REPLACE INTO t () VALUES (1), (2);
REPLACE INTO t () VALUES (1, 11, 'aa'), (2, 21, 'bb');
REPLACE INTO t (id, a) VALUES (1, 2), (3);
INSERT INTO t () VALUES (1), (2) ON DUPLICATE KEY UPDATE a = 1;
INSERT INTO t () VALUES (3, 1, 'z'), (12, 2, 'y') ON DUPLICATE KEY UPDATE a = 1;
INSERT INTO t (id, a) VALUES (1, (SELECT MAX(a) FROM r)), (3);
INSERT INTO t (id, a) VALUES (1, (SELECT MAX(a) FROM t)), (3);
INSERT INTO t () VALUES ((SELECT MAX(a) FROM t)), (3);
SELECT * FROM t ORDER BY id;

INSERT INTO r () VALUES (1), (2);
INSERT INTO r () VALUES (), (1);
INSERT INTO r () VALUES (5, 6, 'x'), (6, 7, 'y');
INSERT INTO r (id) VALUES (), (1);
INSERT INTO r (id, a) VALUES (1, 2, 3);
INSERT INTO r (id, a) SELECT 1;
SELECT * FROM r ORDER BY id;

INSERT INTO one () VALUES (1), (2), (3);
INSERT INTO one () VALUES (4), (5, 6);
SELECT * FROM one ORDER BY id;

INSERT INTO counted () VALUES (1, NULL, 2), (2, NULL, 3);
INSERT INTO counted () VALUES (), ();
INSERT INTO counted () VALUES (1), (2);
INSERT INTO counted VALUES (1, 2), (1, 2, 3);
INSERT INTO counted (a) VALUES (), (5);
INSERT INTO counted (a) VALUES (5, 6), (5);
SELECT * FROM counted ORDER BY id;

INSERT INTO hidden () VALUES (1, NULL), (2, 3);
INSERT INTO hidden () VALUES (1, NULL, 3), (2, 3);
INSERT INTO hidden () VALUES (), ();
INSERT INTO hidden VALUES (), (5);
INSERT INTO hidden VALUES (), ();
SELECT * FROM hidden ORDER BY a, b;

INSERT INTO w () VALUES (1, 21);
INSERT INTO w () VALUES (1);
INSERT INTO w () VALUES (1, 22), (2);
INSERT INTO w (a) VALUES (1, 2);
SELECT * FROM w ORDER BY id;
-- Empty rows through a view have too few values.
CREATE TABLE dflt (id INT AUTO_INCREMENT PRIMARY KEY, v INT DEFAULT 3);
CREATE VIEW vdflt AS SELECT id, v FROM dflt;
-- only: mariadb
INSERT INTO vdflt () VALUES ();
-- only: mariadb
INSERT INTO vdflt VALUES ();
SELECT * FROM dflt ORDER BY id;
