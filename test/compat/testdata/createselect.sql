-- CREATE TABLE ... SELECT
CREATE TABLE src (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 5, s VARCHAR(20) COLLATE utf8mb4_bin, d DECIMAL(8,2));
INSERT INTO src VALUES (1, 10, 'one', 1.5), (2, 20, 'two', NULL), (3, 30, 'three', -2);
CREATE TABLE c1 SELECT * FROM src;
SELECT * FROM c1 ORDER BY id;
SHOW COLUMNS FROM c1;
CREATE TABLE c2 (PRIMARY KEY (id)) AS SELECT id, a * 2 AS twice, CONCAT(s, '!') AS s FROM src WHERE a > 10;
SELECT * FROM c2 ORDER BY id;
SHOW COLUMNS FROM c2;
CREATE TABLE c3 (id INT AUTO_INCREMENT PRIMARY KEY, extra VARCHAR(10) DEFAULT 'e') SELECT a, s FROM src ORDER BY id;
SELECT a, s, extra FROM c3 ORDER BY a;
CREATE TABLE c4 (k INT PRIMARY KEY, n BIGINT) PARTITION BY KEY (k) AS SELECT a AS k, COUNT(*) AS n FROM src GROUP BY a LIMIT 2;
SELECT COUNT(*) FROM c4;
CREATE TABLE c1 SELECT 1 AS x;
CREATE TABLE IF NOT EXISTS c1 SELECT 1 AS x;
SELECT COUNT(*) FROM c1;
CREATE TABLE c5 (id INT PRIMARY KEY) SELECT 1 AS id UNION ALL SELECT 1;
SELECT * FROM c5;
CREATE TABLE c6 (PRIMARY KEY (id)) (SELECT m.id, n.s FROM src m JOIN src n ON n.id = m.a / 10);
SELECT * FROM c6 ORDER BY id;
CREATE TABLE c7 COMMENT 'skarv:reference' AS SELECT id, s FROM src;
SELECT * FROM c7 ORDER BY id;
CREATE TABLE c8 AS SELECT nosuch FROM src;
SELECT * FROM c8;
-- Queries in parentheses.
-- only: mariadb
CREATE TABLE par1 (VALUES (1, 'a'), (2, 'b'));
-- only: mariadb
CREATE TABLE par2 ((WITH w AS (SELECT 1 AS a UNION SELECT 2) SELECT * FROM w));
CREATE TABLE par3 ((SELECT 1 AS a) UNION (SELECT 2));
-- only: mariadb
SELECT * FROM par2 ORDER BY 1;
SELECT * FROM par3 ORDER BY 1;
-- only: mariadb
-- refused: keep the history in a table of its own
CREATE TABLE versioned (id INT PRIMARY KEY) WITH SYSTEM VERSIONING AS SELECT 1 AS id;
-- only: mariadb
-- refused: keep the history in a table of its own
CREATE TABLE versioned (id INT PRIMARY KEY) WITH SYSTEM VERSIONING;
-- A list of values is a query, too.
-- only: mariadb
CREATE TABLE listed (VALUES (1, 'a'), (2, 'b)'));
-- only: mariadb
CREATE TABLE listed2 AS VALUES (1, 'a');
-- only: mariadb
SELECT * FROM listed ORDER BY 1;
-- only: mariadb
DROP TABLE listed, listed2;
-- What a query converts is judged as what an INSERT converts.
CREATE TABLE conv AS SELECT id, name + 0 AS n FROM src;
CREATE TABLE conv AS SELECT COUNT(*) AS n FROM src WHERE name = 0;
CREATE TABLE conv AS SELECT id, CAST(name AS SIGNED) AS n FROM src WHERE id = 1;
CREATE TABLE conv AS SELECT SUM(name) AS n FROM src;
SHOW TABLES LIKE 'conv';
-- A query with LIMIT gives its columns the same defaults.
CREATE TABLE lim1 AS SELECT REPEAT('a', 1) AS a, 1 AS b LIMIT 0;
SHOW COLUMNS FROM lim1;
CREATE TABLE lim2 (PRIMARY KEY (id)) AS SELECT id, a, 1 AS one FROM src ORDER BY id LIMIT 1, 1;
SHOW COLUMNS FROM lim2;
SELECT * FROM lim2;
CREATE TABLE lim3 AS SELECT id, 'x' AS b FROM src UNION SELECT 1, 'y' ORDER BY id, b LIMIT 2;
SHOW COLUMNS FROM lim3;
-- only: mariadb
CREATE TABLE lim4 (PRIMARY KEY (id)) AS SELECT id, a FROM src ORDER BY id LIMIT 2 FOR UPDATE;
-- only: mariadb
CREATE TABLE par4 (WITH s AS (SELECT * FROM src WHERE id < 3) SELECT id FROM s WHERE id > 1 UNION SELECT id + 10 FROM s ORDER BY id DESC LIMIT 2);
-- only: mariadb
SELECT * FROM par4 ORDER BY id;
-- only: mariadb
CREATE TABLE par5 AS (((VALUES (1, 2), (3, 4))));
-- only: mariadb
SELECT * FROM par5 ORDER BY 1;
CREATE TABLE named (id INT PRIMARY KEY, `limit` INT DEFAULT 5);
CREATE TABLE fromnamed AS SELECT q.limit FROM named q;
SHOW CREATE TABLE fromnamed;
-- What they tell: rows and warnings of temporary ones; DROP DATABASE counts views as well.
CREATE DATABASE q1;
CREATE TABLE q1.a (i INT PRIMARY KEY, n INT);
INSERT INTO q1.a VALUES (1, 1), (2, 2), (3, 3);
CREATE VIEW q1.v AS SELECT 1;
CREATE VIEW q1.v2 AS SELECT * FROM q1.a;
CREATE TEMPORARY TABLE q1.tt AS SELECT i FROM q1.a WHERE i < 3;
CREATE TEMPORARY TABLE q1.tt2 (PRIMARY KEY (i)) SELECT i FROM q1.a WHERE i < 3 UNION SELECT n + 5 FROM q1.a;
CREATE TEMPORARY TABLE q1.tt3 SELECT 1 AS x;
SET sql_mode = '';
CREATE TEMPORARY TABLE q1.tt4 SELECT CAST(CONCAT('x', i * 0) AS SIGNED) AS v FROM q1.a;
-- skip-prepared
SHOW WARNINGS;
SET sql_mode = DEFAULT;
DROP TEMPORARY TABLE q1.tt4, q1.tt, q1.tt2, q1.tt3;
DROP DATABASE q1;
-- The names of constraints.
CREATE TABLE limits (id INT PRIMARY KEY, x INT CHECK (x > 0), CHECK (id < 9), CONSTRAINT named_limit CHECK (id > 0)) COMMENT 'CONSTRAINT `_skarv_select_chk_1`' AS SELECT 1 id, 1 x;
CREATE TABLE limits2 (id INT PRIMARY KEY, x INT CHECK (x > 0)) AS SELECT 1 id, 1 x;
SHOW CREATE TABLE limits;
SHOW CREATE TABLE limits2;
INSERT INTO limits VALUES (2, -1);
INSERT INTO limits2 VALUES (2, -1);
-- only: mariadb
-- refused: the table that tells what the query makes can have none
CREATE TABLE limits3 (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES limits (id)) AS SELECT 1 id, 1 x;
-- only: mysql
CREATE TABLE limits3 (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES limits (id)) AS SELECT 1 id, 1 x;
-- only: mysql
CREATE TABLE limits3 (id INT PRIMARY KEY, x INT REFERENCES nowhere (id)) SELECT 1 id, 1 x;
CREATE TABLE limits4 (`references` INT) AS SELECT 1 AS `references`;
DROP TABLE limits, limits2, limits4;
-- parameters: servers choose the types of columns made of them before they know the values
CREATE TABLE cspar (id INT PRIMARY KEY, x INT);
INSERT INTO cspar VALUES (1, 1), (2, 2), (3, 3);
SET @cspar = 2;
-- skip-prepared
PREPARE cspar FROM 'CREATE TABLE cspar1 SELECT ? AS a';
-- skip-prepared
-- refused: parameters in what CREATE TABLE ... SELECT selects
EXECUTE cspar USING @cspar;
-- skip-prepared
PREPARE cspar FROM 'CREATE TEMPORARY TABLE cspar1 SELECT x + ? AS a FROM cspar WHERE x > ?';
-- skip-prepared
-- refused: parameters in what CREATE TABLE ... SELECT selects
EXECUTE cspar USING @cspar, @cspar;
-- skip-prepared
PREPARE cspar FROM 'CREATE TABLE cspar1 SELECT id FROM cspar WHERE x > ? UNION SELECT ?';
-- skip-prepared
-- refused: parameters in what CREATE TABLE ... SELECT selects
EXECUTE cspar USING @cspar, @cspar;
PREPARE cspar FROM 'CREATE TABLE cspar1 SELECT id, (SELECT MAX(x) FROM cspar c WHERE c.id < ? + t.id) AS m FROM cspar t WHERE x >= (SELECT ?) ORDER BY id LIMIT ?';
EXECUTE cspar USING @cspar, @cspar, @cspar;
SELECT * FROM cspar1 ORDER BY id;
SHOW COLUMNS FROM cspar1;
DEALLOCATE PREPARE cspar;
