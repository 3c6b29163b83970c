-- the index of a key keeps nothing of columns that go, whatever is called by their names then
CREATE TABLE rx_swapped (id INT PRIMARY KEY, a INT, UNIQUE KEY k (a));
INSERT INTO rx_swapped VALUES (1, 1), (2, 2), (3, 3);
ALTER TABLE rx_swapped DROP COLUMN a, ADD COLUMN b INT, ADD UNIQUE KEY k (b);
INSERT INTO rx_swapped VALUES (4, 1), (5, 2);
INSERT INTO rx_swapped VALUES (6, 1);
ALTER TABLE rx_swapped CHANGE b c INT, ADD UNIQUE KEY other (c);
INSERT INTO rx_swapped VALUES (6, 1);
ALTER TABLE rx_swapped DROP COLUMN c, DROP KEY k, DROP KEY other, ADD COLUMN c INT, ADD UNIQUE KEY k (c);
INSERT INTO rx_swapped VALUES (7, 1), (8, 2);
INSERT INTO rx_swapped VALUES (9, 2);
SELECT * FROM rx_swapped ORDER BY id;
ALTER TABLE rx_swapped CHANGE c d BIGINT;
INSERT INTO rx_swapped VALUES (9, 2);
-- a new key together with what cannot be taken back
ALTER TABLE rx_swapped MODIFY d VARCHAR(20), ADD COLUMN e INT NOT NULL DEFAULT 3, ALGORITHM=COPY;
UPDATE rx_swapped SET e = id WHERE id > 1;
ALTER TABLE rx_swapped MODIFY d VARCHAR(21), ADD UNIQUE KEY by_e (e), ALGORITHM=COPY;
INSERT INTO rx_swapped VALUES (10, '10', 3);
UPDATE rx_swapped SET e = 10 WHERE id = 3;
ALTER TABLE rx_swapped MODIFY d VARCHAR(21), ADD UNIQUE KEY by_e (e), ALGORITHM=COPY;
INSERT INTO rx_swapped VALUES (10, '10', 3);
SELECT * FROM rx_swapped ORDER BY id;
DROP TABLE rx_swapped;
-- NOT NULL, and back
CREATE TABLE rx_user (id BIGINT PRIMARY KEY, email VARCHAR(100), code INT, UNIQUE KEY by_email (email), UNIQUE KEY by_code (code, email)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT INTO rx_user (id, email, code) VALUES (1, NULL, 70000), (2, 'ann', 1), (3, 'Ann', 2), (4, 'bob', 3), (5, 'cid', 4), (6, 'dan', 5), (7, 'eve', 6), (8, 'zoe', 8);
ALTER TABLE rx_user MODIFY email VARCHAR(100) NOT NULL, ALGORITHM=COPY;
SELECT COUNT(*) FROM rx_user WHERE email IS NULL;
UPDATE rx_user SET email = 'fay' WHERE email IS NULL;
ALTER TABLE rx_user MODIFY email VARCHAR(100) NOT NULL;
INSERT INTO rx_user (id, email, code) VALUES (9, NULL, 9);
INSERT INTO rx_user (id, email, code) VALUES (9, 'fay', 9);
SELECT id, email FROM rx_user WHERE email = 'fay';
SHOW CREATE TABLE rx_user;
ALTER TABLE rx_user MODIFY email VARCHAR(100) NULL DEFAULT 'nobody' COMMENT 'where to write';
INSERT INTO rx_user (id, code) VALUES (10, 10);
INSERT INTO rx_user (id, code) VALUES (11, 10);
-- narrower, as far as rows let it
ALTER TABLE rx_user MODIFY email VARCHAR(2) NOT NULL;
ALTER TABLE rx_user MODIFY email VARCHAR(6) NOT NULL;
SELECT id, email FROM rx_user WHERE email = 'nobody';
INSERT INTO rx_user (id, email, code) VALUES (11, 'bob', 11);
INSERT INTO rx_user (id, email, code) VALUES (11, 'gus', 11);
ALTER TABLE rx_user MODIFY code SMALLINT, ALGORITHM=COPY;
ALTER TABLE rx_user MODIFY code INT UNSIGNED NOT NULL;
-- values that are different may become equal
-- only: mysql
ALTER TABLE rx_user MODIFY email VARCHAR(60) COLLATE utf8mb4_general_ci NOT NULL, ALGORITHM=COPY;
SELECT id, email FROM rx_user WHERE email = 'ANN';
SELECT id, email FROM rx_user WHERE email = 'Ann';
DELETE FROM rx_user WHERE email = 'Ann';
ALTER TABLE rx_user MODIFY email VARCHAR(60) COLLATE utf8mb4_general_ci NOT NULL;
SELECT id, email FROM rx_user WHERE email = 'ANN';
INSERT INTO rx_user (id, email, code) VALUES (12, 'BOB', 12);
INSERT INTO rx_user (id, email, code) VALUES (12, 'hal', 12);
UPDATE rx_user SET email = 'Hal' WHERE code = 1;
UPDATE rx_user SET email = 'HAL' WHERE email = 'hal';
DELETE FROM rx_user WHERE email = 'hal';
INSERT INTO rx_user (id, email, code) VALUES (13, 'Hal', 12);
SELECT id, email, code FROM rx_user ORDER BY id;
SHOW CREATE TABLE rx_user;
ALTER TABLE rx_user MODIFY email VARCHAR(60) COLLATE utf8mb4_bin NOT NULL;
INSERT INTO rx_user (id, email, code) VALUES (14, 'hal', 13), (15, 'BOB', 13);
-- another name, type and key along with it
ALTER TABLE rx_user CHANGE email mail VARCHAR(80), CHANGE code num VARCHAR(20);
SELECT id FROM rx_user WHERE mail = 'BOB';
INSERT INTO rx_user (id, mail, num) VALUES (16, 'ida', '13');
INSERT INTO rx_user (id, mail, num) VALUES (17, 'ida', '14');
ALTER TABLE rx_user MODIFY id INT UNSIGNED AUTO_INCREMENT;
INSERT INTO rx_user (mail) VALUES ('jim');
INSERT INTO rx_user (id, mail) VALUES (30, 'jim');
SELECT mail, num FROM rx_user WHERE mail IN ('jim', 'ida') ORDER BY mail;
-- only: mysql
ALTER TABLE rx_user ADD COLUMN n INT NOT NULL DEFAULT 0, MODIFY num INT, ADD UNIQUE KEY twice (num), ALGORITHM=COPY;
ALTER TABLE rx_user ADD COLUMN n INT NOT NULL DEFAULT 0, ADD UNIQUE KEY both_of (mail, num), MODIFY num INT;
INSERT INTO rx_user (id, mail, num) VALUES (30, 'jim', 5);
SELECT * FROM rx_user ORDER BY id;
DROP TABLE rx_user;
-- the whole table gets another character set
CREATE TABLE rx_old (id INT PRIMARY KEY, name VARCHAR(20) UNIQUE, t VARCHAR(20)) CHARACTER SET latin1;
INSERT INTO rx_old VALUES (1, 'é', 'é'), (2, 'e', 'e'), (3, 'ü', 'x');
ALTER TABLE rx_old CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
DELETE FROM rx_old WHERE id = 2;
ALTER TABLE rx_old CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
INSERT INTO rx_old VALUES (4, 'U', 'x');
INSERT INTO rx_old VALUES (4, 'É', 'x');
SELECT id FROM rx_old WHERE name = 'e';
SELECT * FROM rx_old ORDER BY id;
SET sql_mode = '';
UPDATE rx_old SET name = NULL WHERE id = 1;
ALTER TABLE rx_old MODIFY name VARCHAR(20) COLLATE utf8mb4_unicode_ci NOT NULL;
SELECT * FROM rx_old WHERE name = '';
INSERT INTO rx_old VALUES (5, '', 'x');
INSERT INTO rx_old VALUES (5, 'longer than it may be', 'x');
ALTER TABLE rx_old MODIFY name VARCHAR(4) COLLATE utf8mb4_unicode_ci NOT NULL;
INSERT INTO rx_old VALUES (6, 'LONG', 'x');
SELECT * FROM rx_old WHERE name = 'long';
DROP TABLE rx_old;
SET sql_mode = DEFAULT;
-- columns that take each other's names
CREATE TABLE rx_names (id INT PRIMARY KEY, a INT, b INT);
INSERT INTO rx_names VALUES (1, 1, 10), (2, 2, 20), (3, 3, 30);
-- refused: third name
ALTER TABLE rx_names CHANGE b a INT AFTER id, CHANGE a b INT;
ALTER TABLE rx_names CHANGE b c INT AFTER id;
ALTER TABLE rx_names CHANGE a b INT AFTER c;
ALTER TABLE rx_names CHANGE c a INT;
SELECT * FROM rx_names ORDER BY id;
ALTER TABLE rx_names CHANGE a b INT, CHANGE b a INT;
SELECT * FROM rx_names ORDER BY id;
DROP TABLE rx_names;

-- Columns that are added with their keys, and that rows have values in.
CREATE TABLE rx_added (id INT PRIMARY KEY, n INT);
ALTER TABLE rx_added ADD COLUMN a INT NOT NULL UNIQUE;
ALTER TABLE rx_added ADD COLUMN b VARCHAR(20) NOT NULL DEFAULT 'x' UNIQUE;
SHOW CREATE TABLE rx_added;
INSERT INTO rx_added (id, n, a, b) VALUES (1, 1, 1, 'a'), (2, 2, 2, 'b'), (3, 3, 3, 'c');
INSERT INTO rx_added (id, n, a, b) VALUES (4, 4, 3, 'd');
ALTER TABLE rx_added ADD COLUMN c INT NOT NULL UNIQUE;
ALTER TABLE rx_added ADD COLUMN c VARCHAR(10) NOT NULL DEFAULT 'q', MODIFY n BIGINT, ADD UNIQUE (c);
ALTER TABLE rx_added ADD COLUMN c INT NOT NULL DEFAULT 4, ADD CONSTRAINT with_a UNIQUE (c, a);
ALTER TABLE rx_added ADD COLUMN d INT NOT NULL DEFAULT 4 FIRST, MODIFY n BIGINT NOT NULL, ADD CONSTRAINT with_b UNIQUE (d, b);
SHOW CREATE TABLE rx_added;
INSERT INTO rx_added (id, n, a, b) VALUES (5, 5, 3, 'e');
INSERT INTO rx_added (id, n, a, b, d) VALUES (5, 5, 5, 'c', 4);
INSERT INTO rx_added (id, n, a, b, d) VALUES (5, 5, 5, 'e', 5);
DELETE FROM rx_added WHERE id > 1;
ALTER TABLE rx_added ADD COLUMN e INT NOT NULL UNIQUE;
INSERT INTO rx_added (id, n, a, b) VALUES (6, 6, 6, 'f');
INSERT INTO rx_added (id, n, a, b, e) VALUES (6, 6, 6, 'f', 9);
SELECT * FROM rx_added ORDER BY id;
SELECT id FROM rx_added WHERE e = 0;
SELECT id FROM rx_added WHERE e = 9;
DROP TABLE rx_added;
