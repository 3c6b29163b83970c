-- The type of a user variable that is NULL is that of what it was on one server.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 5), (2, 6), (3, 7);
CREATE TABLE c3 (id INT PRIMARY KEY) SELECT 1 AS id, @none AS x;
SHOW COLUMNS FROM c3;
SET @k = 5;
CREATE TABLE c4 (id INT PRIMARY KEY) SELECT id, @k AS x FROM t;
SET @k = NULL;
-- refused: which is NULL
CREATE TABLE c5 (id INT PRIMARY KEY) SELECT id, @k AS x FROM t;
-- refused: which is NULL
CREATE TABLE c5 (id INT PRIMARY KEY) SELECT 1 AS id, CONCAT(@k) AS y;
SELECT MAX(v) INTO @m FROM t WHERE id > 99;
-- refused: which is NULL
CREATE TABLE c6 (id INT PRIMARY KEY) SELECT 1 AS id, @m AS x;
CREATE TABLE c6 (id INT PRIMARY KEY) SELECT id, CAST(@m AS DECIMAL(8,2)) AS x FROM t;
SHOW COLUMNS FROM c6;
CREATE TABLE c7 (id INT PRIMARY KEY) SELECT id, v FROM t WHERE v > COALESCE(@m, 5);
SELECT * FROM c7 ORDER BY id;
