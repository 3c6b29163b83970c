-- story: mariadb
-- Servers are not told that unique_checks is off: with foreign_key_checks = 0, which Skarv sets for statements whose foreign keys it enforces, they take rows in bulk.
CREATE TABLE par (id INT PRIMARY KEY, code INT, v INT, UNIQUE KEY (code));
CREATE TABLE chi (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES par (id) ON DELETE CASCADE);
CREATE TABLE t (id INT PRIMARY KEY, a INT);
SELECT @@unique_checks, @@session.unique_checks + 0 AS n, @@global.unique_checks;
SET @was = @@unique_checks, unique_checks = 0;
-- sent: length, of a value that is written
SELECT @was, @@unique_checks, @@local.unique_checks, @@foreign_key_checks;
SHOW VARIABLES LIKE 'unique_checks';
INSERT INTO par VALUES (15, 7, 3), (21, 5, 22), (2, NULL, 13), (13, 5, 19);
SELECT * FROM par;
BEGIN;
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4);
INSERT INTO par VALUES (15, 7, 3), (21, 5, 22), (2, NULL, 13), (13, 5, 19);
INSERT INTO chi VALUES (1, NULL), (2, NULL), (3, 77);
INSERT INTO par VALUES (15, 7, 3), (21, 5, 22), (2, NULL, 13), (13, 6, 19);
INSERT INTO chi VALUES (1, 15), (2, 21), (3, 2), (4, 13), (5, 15);
INSERT INTO chi VALUES (6, 15), (7, 21), (8, 2), (5, 13);
SELECT * FROM t ORDER BY id;
COMMIT;
SELECT * FROM par ORDER BY id;
SELECT * FROM chi ORDER BY id;
SET unique_checks = DEFAULT;
SELECT @@unique_checks;
SET unique_checks = 0, foreign_key_checks = 0;
TRUNCATE t;
-- gap: one server takes the rows in bulk, and says 1180
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (1, 4);
SELECT * FROM t;
-- sent: length, of a value that is written
SET STATEMENT unique_checks = 0 FOR SELECT @@unique_checks;
SET unique_checks = @was;
SELECT @@unique_checks, @@foreign_key_checks;
-- sent: length, of a value that is written
SET STATEMENT unique_checks = 0 FOR SELECT @@unique_checks;
CREATE PROCEDURE p() BEGIN SET unique_checks = 0; SELECT @@unique_checks; END;
-- sent: length, of a value that is written
CALL p();
-- sent: length, of a value that is written
SELECT @@unique_checks;
SET SESSION unique_checks = OFF;
-- sent: length, of a value that is written
SELECT @@unique_checks;
SET unique_checks = 1, @a = @@unique_checks;
SELECT @a;
