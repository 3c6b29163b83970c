-- writes row by row: what the rows hold, whatever the client's character sets and modes
CREATE TABLE lg (n INT PRIMARY KEY AUTO_INCREMENT, id INT, what VARCHAR(200)) CHARSET utf8mb4;
CREATE TABLE b (id INT PRIMARY KEY, v INT, s VARCHAR(20)) CHARSET utf8mb4;
INSERT INTO b VALUES (1, 1, '漢'), (2, 2, 'abc');
CREATE VIEW vb AS SELECT id, v, s FROM b WHERE v < 100 WITH CHECK OPTION;
SET character_set_connection = latin1;
UPDATE vb SET v = v + 1;
SELECT HEX(s), v FROM b ORDER BY id;
SET NAMES utf8mb4;
CREATE TABLE src (id INT PRIMARY KEY, s VARCHAR(20)) CHARSET utf8mb4;
INSERT INTO src VALUES (1, '漢字é'), (2, 'abc');
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), v INT DEFAULT 0) CHARSET utf8mb4;
-- skip-prepared
CREATE TRIGGER t_ai AFTER INSERT ON t FOR EACH ROW INSERT INTO lg (id, what) VALUES (NEW.id, NEW.s);
-- skip-prepared
CREATE TRIGGER t_au AFTER UPDATE ON t FOR EACH ROW INSERT INTO lg (id, what) VALUES (NEW.id, CONCAT(OLD.s, '>', NEW.s));
-- skip-prepared
SET NAMES latin1;
-- skip-prepared
INSERT INTO t (id, s) SELECT id, s FROM src;
SELECT id, HEX(s) FROM t ORDER BY id;
-- skip-prepared
SET NAMES utf8mb4;
SET character_set_connection = latin1;
INSERT INTO t (id, s) SELECT id + 30, s FROM src;
UPDATE t SET v = v + 1;
SET NAMES utf8mb4;
SET character_set_results = latin1;
INSERT INTO t (id, s) SELECT id + 60, s FROM src;
SET NAMES utf8mb4;
SELECT id, HEX(s), v FROM t ORDER BY id;
SELECT id, HEX(what) FROM lg ORDER BY id, what;
INSERT INTO t (id, s) (SELECT id + 100, s FROM src);
INSERT INTO t (id, s) ((SELECT id + 110, s FROM src));
INSERT INTO t (id, s) SELECT id + 120, s FROM src ORDER BY id LIMIT 1;
-- refused: temporary table
INSERT INTO t (id, s) SELECT id + 130, s FROM src UNION ALL SELECT id + 140, s FROM src;
SELECT id, s FROM t WHERE id > 100 ORDER BY id;
-- keys of several bytes a character
CREATE TABLE k (id VARCHAR(20) PRIMARY KEY, v INT) CHARSET utf8mb4;
-- skip-prepared
CREATE TRIGGER k_ad AFTER DELETE ON k FOR EACH ROW INSERT INTO lg (id, what) VALUES (OLD.v, 'deleted');
-- skip-prepared
CREATE TRIGGER k_au AFTER UPDATE ON k FOR EACH ROW INSERT INTO lg (id, what) VALUES (OLD.v, 'updated');
INSERT INTO k VALUES ('漢é', 1000);
SET character_set_connection = latin1;
UPDATE k SET v = v + 1;
DELETE FROM k;
SET NAMES utf8mb4;
SELECT * FROM k;
SELECT id, what FROM lg WHERE id >= 1000 ORDER BY id;
-- values that lose something as literals
CREATE TABLE kinds (id INT PRIMARY KEY, l1 VARCHAR(20) CHARACTER SET latin1, f FLOAT, y YEAR, z INT(6) ZEROFILL, e ENUM('x','y'), tm TIME(2), d DATE, vb VARBINARY(20)) CHARSET utf8mb4;
CREATE TABLE seen (id INT, l1 VARBINARY(20), what VARCHAR(100), n INT, i BIGINT);
-- skip-prepared
CREATE TRIGGER kinds_ai AFTER INSERT ON kinds FOR EACH ROW INSERT INTO seen (id, l1, what, n, i) VALUES (NEW.id, NEW.l1, CONCAT_WS('/', NEW.f, HEX(NEW.l1), NEW.y, NEW.z, NEW.e, NEW.tm, NEW.vb), NEW.e + 0, NEW.tm + 0);
INSERT INTO kinds VALUES (1, 'é', 1.1, 2020, 42, 'y', '-00:00:01.5', '2020-01-02', '123');
INSERT INTO kinds VALUES (2, 'ab', 16777217, '0000', 1234567, 'x', '838:59:59', NULL, NULL);
SELECT id, HEX(l1), what, n, i FROM seen ORDER BY id;
CREATE TABLE target (id INT PRIMARY KEY, i BIGINT, b VARBINARY(50));
-- skip-prepared
CREATE TRIGGER target_ai AFTER INSERT ON target FOR EACH ROW INSERT INTO lg (id, what) VALUES (NEW.id, NEW.i);
INSERT INTO target (id, b) SELECT id, l1 FROM kinds;
INSERT INTO target (id, i) SELECT id + 10, tm FROM kinds;
INSERT INTO target (id, i) SELECT id + 20, d FROM kinds;
INSERT INTO target (id, i) SELECT id + 30, vb FROM kinds;
SELECT id, i, HEX(b) FROM target ORDER BY id;
-- skip-prepared
CREATE PROCEDURE taken() BEGIN DECLARE vb VARBINARY(50); DECLARE i BIGINT; SELECT l1 INTO vb FROM kinds WHERE id = 1; SELECT tm INTO i FROM kinds WHERE id = 1; SELECT l1 INTO @u FROM kinds WHERE id = 1; SELECT HEX(vb), i, HEX(@u); END;
-- skip-prepared
CALL taken();
-- skip-prepared
CREATE PROCEDURE member(e ENUM('x','y')) INSERT INTO seen (id, what) VALUES (e + 0, e);
-- skip-prepared
CALL member('y');
SELECT id, what FROM seen WHERE l1 IS NULL;
SET @m = (SELECT MAX(f) FROM kinds);
SELECT @m, (SELECT COUNT(*) FROM kinds WHERE f = @m);
-- skip-prepared
CREATE PROCEDURE arms() BEGIN DECLARE i INT DEFAULT 0; WHILE i < 10 DO CASE FLOOR(RAND() * 2) WHEN 0 THEN SET i = i + 1; WHEN 1 THEN SET i = i + 1; END CASE; END WHILE; CASE (SELECT COUNT(*) FROM kinds) WHEN 1 THEN SELECT 'one'; WHEN 2 THEN SELECT 'two'; END CASE; CASE DATE('2020-01-02') WHEN '2020-1-2' THEN SELECT 'date'; ELSE SELECT 'string'; END CASE; SELECT i; END;
-- skip-prepared
CALL arms();
-- CHECK constraints are for what the triggers leave
CREATE TABLE c (id INT PRIMARY KEY, v INT CHECK (v > 0), w INT NOT NULL DEFAULT 5, CONSTRAINT small CHECK (v < 100));
-- skip-prepared
CREATE TRIGGER c_bi BEFORE INSERT ON c FOR EACH ROW BEGIN IF NEW.v < 0 THEN SET NEW.v = -NEW.v; END IF; IF NEW.w < 0 THEN SET NEW.w = 0; END IF; INSERT INTO lg (id, what) VALUES (NEW.id + 5000, NEW.w); END;
-- skip-prepared
CREATE TRIGGER c_bu BEFORE UPDATE ON c FOR EACH ROW BEGIN IF NEW.v < 0 THEN SET NEW.v = -NEW.v; END IF; INSERT INTO lg (id, what) VALUES (NEW.id + 5000, NEW.v); END;
INSERT INTO c (id, v) VALUES (1, -5);
UPDATE c SET v = -v;
INSERT IGNORE INTO c VALUES (2, -5, 1), (3, 5, 1), (4, 500, 1);
INSERT INTO c VALUES (5, 500, 1);
INSERT INTO c VALUES (6, 0, 1);
UPDATE c SET v = 200 WHERE id = 1;
INSERT IGNORE INTO c VALUES (12, 3, NULL);
SELECT * FROM c ORDER BY id;
SELECT id, what FROM lg WHERE id > 5000 ORDER BY id, what;
-- rows that are gone along with others
CREATE TABLE tree (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES tree (id) ON DELETE CASCADE);
-- skip-prepared
CREATE TRIGGER tree_ad AFTER DELETE ON tree FOR EACH ROW INSERT INTO lg (id, what) VALUES (OLD.id + 9000, 'gone');
INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, NULL);
DELETE FROM tree;
SELECT id, what FROM lg WHERE id > 9000 ORDER BY id;
-- values that sql_mode would not take
SET sql_mode = '';
CREATE TABLE ty (id INT PRIMARY KEY, e ENUM('a','b'), d DATE, n INT);
-- skip-prepared
CREATE TRIGGER ty_au AFTER UPDATE ON ty FOR EACH ROW INSERT INTO lg (id, what) VALUES (NEW.id + 7000, CONCAT('[', NEW.e, OLD.d, ']'));
INSERT INTO ty VALUES (1, 'zzz', '0000-00-00', 1), (2, 'a', '2020-00-01', 1);
SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE';
UPDATE ty SET n = n + 1;
SET sql_mode = DEFAULT;
SELECT id, what FROM lg WHERE id BETWEEN 7000 AND 7999 ORDER BY id;
-- rows wider than a row of variables
CREATE TABLE big (id INT PRIMARY KEY, x VARCHAR(10000) CHARACTER SET utf8mb4, y VARBINARY(9000));
-- skip-prepared
CREATE TRIGGER big_au AFTER UPDATE ON big FOR EACH ROW INSERT INTO lg (id, what) VALUES (NEW.id + 8000, CONCAT(LENGTH(OLD.x), '>', LENGTH(NEW.x), '>', HEX(NEW.y), HEX(OLD.y)));
INSERT INTO big VALUES (1, 'abc', 'z');
UPDATE big SET x = 'abcd';
SELECT id, what FROM lg WHERE id > 8000 AND id < 9000;
-- ids
CREATE TABLE auto (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
-- skip-prepared
CREATE TRIGGER auto_ai AFTER INSERT ON auto FOR EACH ROW INSERT INTO lg (id, what) VALUES (6000 + NEW.id, NEW.v);
INSERT INTO auto (v) VALUES (1), (2), (3);
SELECT LAST_INSERT_ID();
INSERT INTO auto VALUES (NULL, 4), (NULL, 6), (20, 5);
SELECT LAST_INSERT_ID();
INSERT INTO auto (v) VALUES (7);
SELECT * FROM auto ORDER BY id;
-- stored programs run in the collation of their CREATE
-- skip-prepared
SET NAMES utf8mb4;
-- skip-prepared
CREATE PROCEDURE folds() BEGIN SELECT COUNT(*) FROM c WHERE 'a' = 'A'; IF 'b' = 'B' THEN SELECT 'ci'; ELSE SELECT 'cs'; END IF; END;
-- skip-prepared
CREATE TABLE col (id INT PRIMARY KEY);
-- skip-prepared
CREATE TRIGGER col_ai AFTER INSERT ON col FOR EACH ROW INSERT INTO lg (id, what) VALUES (NEW.id + 20000, CONCAT('漢é', 'a' = 'A', COLLATION('x')));
-- skip-prepared
SET collation_connection = utf8mb4_bin;
-- skip-prepared
CALL folds();
-- skip-prepared
INSERT INTO col VALUES (1);
-- skip-prepared
CREATE PROCEDURE binary_folds() SELECT 'a' = 'A';
-- skip-prepared
SET character_set_connection = latin1;
-- skip-prepared
INSERT INTO col VALUES (2);
-- skip-prepared
SET NAMES utf8mb4;
-- skip-prepared
CALL binary_folds();
-- skip-prepared
SELECT id, HEX(what) FROM lg WHERE id > 20000 ORDER BY id;
