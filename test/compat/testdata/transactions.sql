-- Transactions over several node groups: what one server shows, the cluster shows. MySQL does not prepare BEGIN and its like.
CREATE TABLE a (id INT PRIMARY KEY, v INT NOT NULL);
CREATE TABLE h (v INT);
INSERT INTO a (id, v) VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8);
-- skip-prepared
BEGIN;
UPDATE a SET v = v + 10 WHERE id = 1;
UPDATE a SET v = v + 10 WHERE id = 2;
UPDATE a SET v = v + 10 WHERE id = 3;
SELECT * FROM a ORDER BY id;
COMMIT;
SELECT * FROM a ORDER BY id;
-- skip-prepared
BEGIN;
INSERT INTO a (id, v) VALUES (11, 1), (12, 2), (13, 3), (14, 4);
DELETE FROM a WHERE id = 4;
SELECT SUM(v), COUNT(*) FROM a;
ROLLBACK;
SELECT SUM(v), COUNT(*) FROM a;
-- A statement that fails in one group is undone in all, and the transaction goes on.
-- skip-prepared
START TRANSACTION;
UPDATE a SET v = 0 WHERE id = 5;
INSERT INTO a (id, v) VALUES (21, 1), (22, 2), (23, 3), (24, 4), (25, 5), (8, 0);
SELECT id FROM a WHERE id > 20;
UPDATE a SET v = 0 WHERE id = 6;
COMMIT;
SELECT * FROM a ORDER BY id;
-- The same in autocommit.
INSERT INTO a (id, v) VALUES (31, 1), (32, 2), (33, 3), (34, 4), (35, 5), (8, 0);
SELECT COUNT(*) FROM a;
UPDATE a SET v = v + 1;
DELETE FROM a WHERE v > 17;
SELECT SUM(v), COUNT(*) FROM a;
-- Savepoints hold in groups that come later, too.
-- skip-prepared
BEGIN;
-- skip-prepared
SAVEPOINT before_all;
UPDATE a SET v = 100 WHERE id = 1;
-- skip-prepared
SAVEPOINT s1;
UPDATE a SET v = 100 WHERE id = 2;
UPDATE a SET v = 100 WHERE id = 3;
-- skip-prepared
SAVEPOINT s2;
UPDATE a SET v = 200;
-- skip-prepared
ROLLBACK TO s2;
SELECT * FROM a ORDER BY id;
-- skip-prepared
ROLLBACK TO SAVEPOINT s1;
SELECT * FROM a ORDER BY id;
-- skip-prepared
ROLLBACK TO s2;
UPDATE a SET v = 300 WHERE id = 7;
-- skip-prepared
RELEASE SAVEPOINT s1;
-- skip-prepared
ROLLBACK TO s1;
COMMIT;
SELECT * FROM a ORDER BY id;
-- skip-prepared
BEGIN;
-- skip-prepared
SAVEPOINT before_all;
UPDATE a SET v = 0;
-- skip-prepared
ROLLBACK TO `BEFORE_ALL`;
COMMIT;
SELECT * FROM a ORDER BY id;
-- autocommit = 0, and what commits without being asked.
SET autocommit = 0;
UPDATE a SET v = v + 1 WHERE id = 1;
UPDATE a SET v = v + 1 WHERE id = 2;
UPDATE a SET v = v + 1 WHERE id = 3;
ROLLBACK;
SELECT * FROM a ORDER BY id;
UPDATE a SET v = v + 1;
COMMIT;
UPDATE a SET v = v + 1 WHERE id IN (1, 2, 3);
SET autocommit = 1;
ROLLBACK;
SELECT * FROM a ORDER BY id;
-- skip-prepared
BEGIN;
UPDATE a SET v = v + 1;
-- skip-prepared
BEGIN;
ROLLBACK;
SELECT * FROM a ORDER BY id;
-- skip-prepared
BEGIN;
UPDATE a SET v = v + 1;
CREATE TABLE a2 (id INT PRIMARY KEY);
ROLLBACK;
SELECT * FROM a ORDER BY id;
-- skip-prepared
BEGIN;
UPDATE a SET v = v + 1;
-- skip-prepared
LOCK TABLES a WRITE;
ROLLBACK;
-- skip-prepared
UNLOCK TABLES;
SELECT * FROM a ORDER BY id;
-- Isolation and READ ONLY reach every group.
-- skip-prepared
START TRANSACTION READ ONLY;
SELECT COUNT(*) FROM a;
UPDATE a SET v = 0 WHERE id = 1;
UPDATE a SET v = 0 WHERE id = 2;
UPDATE a SET v = 0 WHERE id = 3;
UPDATE a SET v = 0;
COMMIT;
SET TRANSACTION READ ONLY;
-- skip-prepared
BEGIN;
UPDATE a SET v = 0 WHERE id = 1;
UPDATE a SET v = 0 WHERE id = 2;
UPDATE a SET v = 0 WHERE id = 3;
COMMIT;
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
-- skip-prepared
BEGIN;
SELECT SUM(v) FROM a;
UPDATE a SET v = v + 1 WHERE id = 1;
UPDATE a SET v = v + 1 WHERE id = 2;
COMMIT AND CHAIN;
UPDATE a SET v = v + 1 WHERE id = 3;
UPDATE a SET v = v + 1 WHERE id = 5;
ROLLBACK;
SELECT * FROM a ORDER BY id;
-- Tables without a primary key have a hidden one here.
-- skip-prepared
BEGIN;
INSERT INTO h VALUES (1), (2), (3), (4), (5), (6);
DELETE FROM h WHERE v = 2;
COMMIT;
SELECT v FROM h ORDER BY v;
-- Rows that are written and then seen by the same transaction, aggregated over all groups.
-- skip-prepared
BEGIN;
REPLACE INTO a (id, v) VALUES (41, 1), (42, 2), (43, 3), (44, 4), (45, 5);
INSERT INTO a (id, v) VALUES (41, 9), (42, 9), (46, 9) ON DUPLICATE KEY UPDATE v = VALUES(v);
SELECT v, COUNT(*) FROM a WHERE id > 40 GROUP BY v ORDER BY v;
INSERT IGNORE INTO a (id, v) VALUES (41, 0), (47, 0), (48, 0);
DELETE FROM a WHERE id IN (42, 43);
SELECT id, v FROM a WHERE id > 40 ORDER BY id FOR UPDATE;
COMMIT WORK;
SELECT id, v FROM a WHERE id > 40 ORDER BY id;
-- A transaction that may write in a session that may not.
SET SESSION TRANSACTION READ ONLY;
-- skip-prepared
START TRANSACTION READ WRITE;
INSERT INTO a (id, v) VALUES (71, 1), (72, 2), (73, 3), (74, 4), (75, 5);
UPDATE a SET v = v + 1 WHERE id > 70;
UPDATE a SET v = v + 1 WHERE id = 72;
COMMIT;
SELECT id, v FROM a WHERE id > 70 ORDER BY id;
UPDATE a SET v = 0 WHERE id = 71;
-- skip-prepared
BEGIN;
UPDATE a SET v = 0 WHERE id > 70;
ROLLBACK;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- skip-prepared
START TRANSACTION READ WRITE;
DELETE FROM a WHERE id > 70;
COMMIT;
SELECT COUNT(*) FROM a WHERE id > 70;
SET SESSION TRANSACTION READ WRITE;
SET TRANSACTION READ ONLY;
-- skip-prepared
START TRANSACTION READ WRITE;
REPLACE INTO a (id, v) VALUES (71, 1), (72, 2), (73, 3), (74, 4), (75, 5);
COMMIT;
-- skip-prepared
START TRANSACTION READ WRITE;
DELETE FROM a WHERE id > 70;
COMMIT;
-- COMMIT and ROLLBACK end what SET TRANSACTION was for.
SET TRANSACTION READ ONLY;
COMMIT;
REPLACE INTO a (id, v) VALUES (71, 1), (72, 2), (73, 3);
SET TRANSACTION READ ONLY;
ROLLBACK;
DELETE FROM a WHERE id > 70;
-- Access modes that contradict each other, and a list that does not go on.
-- skip-prepared
START TRANSACTION READ ONLY, READ WRITE;
-- skip-prepared
START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT, READ ONLY;
-- skip-prepared
START TRANSACTION READ ONLY,;
BEGIN;
INSERT INTO a VALUES (801, 1);
COMMIT AND NOTHING;
ROLLBACK EVERYTHING;
-- skip-prepared
SAVEPOINT one two;
ROLLBACK;
SELECT COUNT(*) FROM a WHERE id = 801;
-- What was said of the next transaction is for the one that a COMMIT AND CHAIN of none begins.
-- skip-prepared
SET TRANSACTION READ ONLY;
-- skip-prepared
COMMIT AND CHAIN;
INSERT INTO a VALUES (802, 1);
-- skip-prepared
COMMIT AND CHAIN;
INSERT INTO a VALUES (802, 1);
-- skip-prepared
COMMIT;
INSERT INTO a VALUES (802, 1);
DELETE FROM a WHERE id = 802;
-- Names of savepoints are compared as identifiers are.
CREATE TABLE saved_names (id INT PRIMARY KEY);
BEGIN;
INSERT INTO saved_names VALUES (1), (2), (3), (4);
SAVEPOINT é;
INSERT INTO saved_names VALUES (5), (6), (7), (8);
ROLLBACK TO e;
SELECT * FROM saved_names ORDER BY id;
SAVEPOINT `a `;
ROLLBACK TO a;
SAVEPOINT ß;
ROLLBACK TO s;
ROLLBACK TO ss;
SAVEPOINT ÅÄ;
INSERT INTO saved_names VALUES (9), (10), (11), (12);
SAVEPOINT aa;
DELETE FROM saved_names;
ROLLBACK TO Aå;
SELECT COUNT(*) FROM saved_names;
SAVEPOINT Æ;
ROLLBACK TO ae;
ROLLBACK TO æ;
SAVEPOINT `İ`;
ROLLBACK TO i;
-- skip-prepared
-- refused: utf8mb3
SAVEPOINT `😀`;
RELEASE SAVEPOINT E;
ROLLBACK TO e;
COMMIT;
DROP TABLE saved_names;
