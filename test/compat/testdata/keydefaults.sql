-- Defaults of columns that rows are distributed by: digits of a string are not a number.
CREATE TABLE zips (zip VARCHAR(5) NOT NULL DEFAULT '00700', id INT, PRIMARY KEY (zip, id)) PARTITION BY KEY (zip);
INSERT INTO zips (id) VALUES (1), (2);
INSERT INTO zips VALUES (DEFAULT, 3), ('00700', 4);
SELECT * FROM zips WHERE zip = '00700';
DELETE FROM zips WHERE zip = '00700' AND id = 1;
UPDATE zips SET id = 10 WHERE zip = '00700' AND id = 2;
SELECT zip, id FROM zips ORDER BY id;
CREATE TABLE flags (flag ENUM('0', '1', '2') NOT NULL DEFAULT '1', id INT, PRIMARY KEY (flag, id)) PARTITION BY KEY (flag);
INSERT INTO flags (id) VALUES (1), (2);
SELECT * FROM flags WHERE flag = '1';
SELECT * FROM flags WHERE flag = '0';
CREATE TABLE spaced (k VARCHAR(9) NOT NULL DEFAULT ' 7', id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO spaced (id) VALUES (1);
SELECT * FROM spaced WHERE k = ' 7';
CREATE TABLE named (k VARCHAR(9) NOT NULL DEFAULT 'null', id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO named (id) VALUES (1);
SELECT * FROM named WHERE k = 'null';
CREATE TABLE hexed (k VARCHAR(9) NOT NULL DEFAULT '0x41', id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO hexed (id) VALUES (1);
SELECT * FROM hexed WHERE k = '0x41';
-- The same of a unique key that spans node groups.
CREATE TABLE coded (id INT PRIMARY KEY, code VARCHAR(5) NOT NULL DEFAULT '007' UNIQUE);
INSERT INTO coded (id) VALUES (1);
INSERT INTO coded (id) VALUES (2);
SELECT * FROM coded WHERE code = '007';
INSERT INTO coded VALUES (3, '007');
DELETE FROM coded WHERE code = '007';
INSERT INTO coded VALUES (4, '007');
SELECT * FROM coded;
-- What an expression comes to is not known before.
CREATE TABLE computed (k VARCHAR(9) NOT NULL DEFAULT (CONCAT('0', '7')), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO computed (id) VALUES (1);
SELECT * FROM computed WHERE k = '07';
CREATE TABLE bits (k VARCHAR(9) NOT NULL DEFAULT (0x41), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO bits (id) VALUES (1);
SELECT * FROM bits WHERE k = 'A';
CREATE TABLE raw (k VARBINARY(9) NOT NULL DEFAULT 'ab', id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO raw (id) VALUES (1);
INSERT INTO raw VALUES ('ab', 2);
SELECT * FROM raw WHERE k = 'ab' ORDER BY id;
-- So it is of columns that hold no strings.
CREATE TABLE trues (k INT NOT NULL DEFAULT (TRUE), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO trues (id) VALUES (1);
INSERT INTO trues VALUES (DEFAULT, 2);
SELECT * FROM trues WHERE k = 1 ORDER BY id;
CREATE TABLE sixteens (k INT NOT NULL DEFAULT (0x10), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO sixteens (id) VALUES (1);
SELECT * FROM sixteens WHERE k = 16;
-- only: mysql
CREATE TABLE beside (b INT NOT NULL, k INT NOT NULL DEFAULT (b), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
-- only: mysql
INSERT INTO beside (b, id) VALUES (5, 1), (6, 1), (7, 1), (8, 1);
-- only: mysql
SELECT * FROM beside WHERE k = 5;
-- only: mysql
SELECT * FROM beside WHERE k = 6;
-- only: mysql
SELECT * FROM beside WHERE k = 7;
-- only: mysql
SELECT * FROM beside WHERE k = 8;
CREATE TABLE dates (k DATE NOT NULL DEFAULT (DATE'2020-01-02'), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO dates (id) VALUES (1);
SELECT * FROM dates WHERE k = '2020-01-02';
CREATE TABLE tenths (k DECIMAL(5,2) NOT NULL DEFAULT (1.5), id INT, PRIMARY KEY (k, id)) PARTITION BY KEY (k);
INSERT INTO tenths (id) VALUES (1);
SELECT * FROM tenths WHERE k = 1.5;
CREATE TABLE sole (id INT PRIMARY KEY, code INT NOT NULL DEFAULT (TRUE) UNIQUE);
INSERT INTO sole (id) VALUES (1);
INSERT INTO sole VALUES (2, 1);
SELECT * FROM sole WHERE code = 1;
