-- story: mariadb
-- Where a call stands inside another statement.
CREATE SEQUENCE s;
CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT);
INSERT INTO t VALUES (1, NULL), (2, NULL), (3, NULL);
-- skip-prepared
SET STATEMENT max_statement_time = 50 FOR SELECT NEXTVAL(s);
-- skip-prepared
SET STATEMENT max_statement_time = 50 FOR INSERT INTO t VALUES (10 + NEXTVAL(s), NEXTVAL(s));
-- refused: for each row
SET STATEMENT max_statement_time = 50 FOR UPDATE t SET v = NEXTVAL(s);
-- refused: if there is one
SET STATEMENT max_statement_time = 50 FOR INSERT INTO t VALUES (1, 2) ON DUPLICATE KEY UPDATE v = NEXTVAL(s);
-- refused: a function is run by each server
SET STATEMENT max_statement_time = 50 FOR CREATE FUNCTION f() RETURNS BIGINT RETURN NEXTVAL(s);
-- refused: each server has its own
SET STATEMENT max_statement_time = NEXTVAL(s) FOR SELECT 1;
SELECT * FROM t ORDER BY id;
SELECT NEXTVAL(s);

-- Functions beside a sequence that is read.
CREATE FUNCTION n() RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM t);
-- refused: what it reads is elsewhere
SELECT n() FROM s;
-- refused: what it reads is elsewhere
SELECT COUNT(*) FROM s WHERE compat.n() > 0;
SELECT COUNT(*), MAX(increment), CONCAT('a', ABS(-1)) FROM s;

-- Views, and the servers' own tables.
-- refused: the other servers have no such sequence
CREATE VIEW w AS SELECT next_not_cached_value FROM s;
-- refused: the other servers have no such sequence
CREATE OR REPLACE VIEW w AS SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM compat.s WHERE minimum_value < t.id);
CREATE VIEW w AS SELECT id FROM nothing_;
SELECT table_name, COUNT(*) FROM information_schema.columns WHERE table_schema = 'compat' GROUP BY table_name ORDER BY table_name;
SHOW TABLES;

-- Names that are no calls.
CREATE TABLE lastval (id INT PRIMARY KEY, nextval INT, KEY nextval (nextval), KEY setval (nextval, id));
INSERT INTO lastval (id, nextval) VALUES (1, 10), (2, 20);
INSERT INTO lastval (id, nextval) VALUES (3, 1000 + NEXTVAL(s));
REPLACE lastval (id, nextval) VALUES (1, 11);
INSERT IGNORE lastval (id) VALUES (2);
SELECT id, nextval previous FROM lastval ORDER BY id;
UPDATE lastval SET nextval = 5 WHERE id = 1;
CREATE TABLE IF NOT EXISTS nextval (setval INT PRIMARY KEY);
ALTER TABLE lastval ADD INDEX lastval (id, nextval);
CREATE VIEW setval (lastval) AS SELECT id FROM lastval;
SELECT * FROM setval ORDER BY lastval;
SELECT previous value FROM (SELECT id AS previous FROM lastval) AS d ORDER BY 1;
DROP VIEW setval;
DROP TABLE lastval, nextval, t;
DROP FUNCTION n;
DROP SEQUENCE s;
