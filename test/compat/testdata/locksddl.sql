-- story: mariadb
-- What one server makes of changes of the schema while tables are locked.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20)) PARTITION BY KEY (id);
CREATE TABLE u (id INT PRIMARY KEY, a INT) PARTITION BY KEY (id);
CREATE VIEW vv AS SELECT id FROM u;
INSERT INTO t VALUES (1, 1, 'a');
CREATE TRIGGER onu BEFORE INSERT ON u FOR EACH ROW SET NEW.a = 1;

LOCK TABLES t READ;
-- skip-prepared
CREATE VIEW nv AS SELECT id FROM t;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE OR REPLACE VIEW vv AS SELECT id FROM t;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
ALTER VIEW vv AS SELECT id FROM u;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE PROCEDURE np() SELECT 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP PROCEDURE np;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP PROCEDURE IF EXISTS np;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE FUNCTION nf() RETURNS INT DETERMINISTIC RETURN 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP FUNCTION IF EXISTS nf;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE EVENT ne ON SCHEDULE EVERY 1 YEAR DO SET @x = 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP EVENT IF EXISTS ne;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE TRIGGER ut BEFORE UPDATE ON u FOR EACH ROW SET NEW.a = 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER onu;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER IF EXISTS onu;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER no_such;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE TRIGGER tt BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 7;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER IF EXISTS tt;
SELECT a FROM u WHERE id = 1;
UNLOCK TABLES;

LOCK TABLES t WRITE;
-- skip-prepared
CREATE VIEW nv AS SELECT id FROM t;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE OR REPLACE VIEW vv AS SELECT id FROM t;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
ALTER VIEW vv AS SELECT id FROM u;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE PROCEDURE np() SELECT 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP PROCEDURE np;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP PROCEDURE IF EXISTS np;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE FUNCTION nf() RETURNS INT DETERMINISTIC RETURN 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP FUNCTION IF EXISTS nf;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE EVENT ne ON SCHEDULE EVERY 1 YEAR DO SET @x = 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP EVENT IF EXISTS ne;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE TRIGGER ut BEFORE UPDATE ON u FOR EACH ROW SET NEW.a = 1;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER onu;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER IF EXISTS onu;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER no_such;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
CREATE TRIGGER tt BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 7;
SELECT a FROM u WHERE id = 1;
-- skip-prepared
DROP TRIGGER IF EXISTS tt;
SELECT a FROM u WHERE id = 1;
UNLOCK TABLES;

LOCK TABLES u READ;
-- skip-prepared
DROP TRIGGER onu;
UNLOCK TABLES;
LOCK TABLES t READ, u WRITE;
-- skip-prepared
DROP TRIGGER onu;
SELECT a FROM t WHERE id = 1;
INSERT INTO u VALUES (1, 2);
SELECT a FROM u WHERE id = 1;
INSERT INTO t VALUES (2, 2, 'b');
UNLOCK TABLES;
SHOW TRIGGERS;
SELECT * FROM u;
