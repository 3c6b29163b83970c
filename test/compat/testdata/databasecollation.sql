-- A table takes the collation of its database where it names none; so do the values of its global indexes.
CREATE DATABASE dc_bin CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE DATABASE dc_gen CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE DATABASE dc_l1 CHARACTER SET latin1 COLLATE latin1_general_cs;
CREATE TABLE dc_bin.t (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em));
INSERT INTO dc_bin.t VALUES (1, 'a'), (2, 'b');
INSERT INTO dc_bin.t VALUES (11, 'A');
INSERT INTO dc_bin.t VALUES (12, 'a ');
SELECT id FROM dc_bin.t WHERE em = 'A' ORDER BY id;
REPLACE INTO dc_bin.t VALUES (13, 'B'), (14, 'b');
UPDATE dc_bin.t SET em = 'Q' WHERE em = 'b';
SELECT * FROM dc_bin.t ORDER BY id;
SHOW CREATE TABLE dc_bin.t;
CREATE TABLE dc_gen.t (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em));
INSERT INTO dc_gen.t VALUES (1, 'a'), (2, 'ss');
INSERT INTO dc_gen.t VALUES (11, 'a ');
INSERT INTO dc_gen.t VALUES (12, 'ß');
INSERT INTO dc_gen.t VALUES (13, 'Ä');
SELECT * FROM dc_gen.t ORDER BY id;
CREATE TABLE dc_l1.t (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em))ENGINE=InnoDB COMMENT 'charset';
INSERT INTO dc_l1.t VALUES (1, 'a'), (2, 'A'), (3, 'é');
INSERT INTO dc_l1.t VALUES (11, 'a ');
INSERT INTO dc_l1.t VALUES (12, 'É');
INSERT INTO dc_l1.t VALUES (13, 'é');
SHOW CREATE TABLE dc_l1.t;
-- What the statement says comes first, and one word of it decides the rest.
CREATE TABLE dc_bin.o1 (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em)) COLLATE utf8mb4_general_ci;
INSERT INTO dc_bin.o1 VALUES (1, 'a');
INSERT INTO dc_bin.o1 VALUES (2, 'A');
CREATE TABLE dc_bin.o2 (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em)) DEFAULT CHARSET = latin1;
INSERT INTO dc_bin.o2 VALUES (1, 'a');
INSERT INTO dc_bin.o2 VALUES (2, 'A');
CREATE TABLE dc_bin.o3 (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em)) ENGINE=InnoDB CHARACTER SET latin1;
INSERT INTO dc_bin.o3 VALUES (1, 'a');
INSERT INTO dc_bin.o3 VALUES (2, 'A');
CREATE TABLE dc_gen.o4 (id INT PRIMARY KEY, em VARCHAR(30) COLLATE utf8mb4_bin, b VARCHAR(30) BINARY, UNIQUE KEY (em), UNIQUE KEY (b));
INSERT INTO dc_gen.o4 VALUES (1, 'a', 'a');
INSERT INTO dc_gen.o4 VALUES (2, 'A', 'A');
INSERT INTO dc_gen.o4 VALUES (3, 'b', 'A');
-- only: mariadb
CREATE TABLE dc_bin.o5 (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em)) CHARACTER SET DEFAULT;
-- only: mariadb
INSERT INTO dc_bin.o5 VALUES (1, 'a');
-- only: mariadb
INSERT INTO dc_bin.o5 VALUES (2, 'A');
-- The distribution key, too, and keys that come later.
CREATE TABLE dc_bin.k (em VARCHAR(30) PRIMARY KEY, v VARCHAR(30));
INSERT INTO dc_bin.k VALUES ('a', 'x'), ('A', 'X'), ('a ', 'y');
SELECT * FROM dc_bin.k WHERE em = 'A' ORDER BY em;
ALTER TABLE dc_bin.k ADD UNIQUE KEY v (v);
INSERT INTO dc_bin.k VALUES ('b', 'Y');
INSERT INTO dc_bin.k VALUES ('c', 'Y');
ALTER TABLE dc_bin.k ADD COLUMN w VARCHAR(10) NULL, ADD UNIQUE KEY w (w);
UPDATE dc_bin.k SET w = em;
SELECT em, w FROM dc_bin.k ORDER BY em;
CREATE TABLE dc_gen.l LIKE dc_bin.k;
INSERT INTO dc_gen.l VALUES ('a', 'x', '1'), ('A', 'X', '2');
SELECT em FROM dc_gen.l ORDER BY em;
CREATE TABLE dc_bin.s (PRIMARY KEY (id), UNIQUE KEY (em)) SELECT id, CONCAT(em, '') AS em FROM dc_bin.t;
SELECT COUNT(*) FROM dc_bin.s;
CREATE TABLE dc_bin.g (id INT PRIMARY KEY, a VARCHAR(10), b VARCHAR(20) AS (CONCAT(a, a)), UNIQUE KEY (a), FOREIGN KEY (a) REFERENCES dc_bin.t (em));
INSERT INTO dc_bin.g (id, a) VALUES (1, 'a');
INSERT INTO dc_bin.g (id, a) VALUES (2, 'A');
INSERT INTO dc_bin.g (id, a) VALUES (3, 'C');
SELECT * FROM dc_bin.g WHERE b = 'AA' ORDER BY id;
DROP TABLE dc_bin.g;
-- Another default, for tables that are made from then on.
-- skip-prepared
ALTER DATABASE dc_gen COLLATE utf8mb4_bin;
CREATE TABLE dc_gen.later (id INT PRIMARY KEY, em VARCHAR(30), UNIQUE KEY (em));
INSERT INTO dc_gen.later VALUES (1, 'a');
INSERT INTO dc_gen.later VALUES (2, 'A');
ALTER TABLE dc_gen.t ADD COLUMN n VARCHAR(10), ADD UNIQUE KEY n (n);
UPDATE dc_gen.t SET n = 'n' WHERE id = 1;
UPDATE dc_gen.t SET n = 'N' WHERE id = 2;
ALTER TABLE dc_gen.t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT INTO dc_gen.t VALUES (21, 'A', 'N');
SELECT id, em, n FROM dc_gen.t ORDER BY id;
DROP DATABASE dc_bin;
DROP DATABASE dc_gen;
DROP DATABASE dc_l1;
