-- Indexes that servers make and drop by themselves for foreign keys: what a change leaves that rows refuse.
CREATE TABLE impr (id INT PRIMARY KEY, k INT UNIQUE) COMMENT 'skarv:reference';
INSERT INTO impr VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE impu (id INT PRIMARY KEY, x INT, w INT, CONSTRAINT impfx FOREIGN KEY (x) REFERENCES impr (id));
INSERT INTO impu VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4);
ALTER TABLE impu ADD UNIQUE uq (x);
SHOW CREATE TABLE impu;
ALTER TABLE impu ADD CHECK (w < 4), ADD INDEX xw (x, w);
SHOW CREATE TABLE impu;
ALTER TABLE impu ADD UNIQUE uq (x), ADD UNIQUE uw (w), ADD n INT NOT NULL;
SHOW CREATE TABLE impu;
ALTER TABLE impu DROP FOREIGN KEY impfx, ADD CONSTRAINT impfw FOREIGN KEY (w) REFERENCES impr (k);
SHOW CREATE TABLE impu;
ALTER TABLE impu ADD CONSTRAINT impfw FOREIGN KEY (x) REFERENCES impr (k), ADD CHECK (x < 3);
SHOW CREATE TABLE impu;
ALTER TABLE impu ADD CONSTRAINT impfw FOREIGN KEY (x) REFERENCES impr (k);
SHOW CREATE TABLE impu;
CREATE INDEX xw ON impu (x, w);
SHOW CREATE TABLE impu;
ALTER TABLE impu DROP FOREIGN KEY impfx, DROP FOREIGN KEY impfw;
SHOW CREATE TABLE impu;
CREATE TABLE impv (a INT, b INT, x INT, PRIMARY KEY (a, b), CONSTRAINT impvx FOREIGN KEY (x) REFERENCES impr (id)) COMMENT 'skarv:key=a';
INSERT INTO impv VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1), (6, 1, 1), (4, 2, 1);
ALTER TABLE impv ADD UNIQUE uq (x, a);
SHOW CREATE TABLE impv;
CREATE UNIQUE INDEX uq ON impv (x, a);
SHOW CREATE TABLE impv;
DELETE FROM impv WHERE b = 2;
CREATE UNIQUE INDEX uq ON impv (x, a);
SHOW CREATE TABLE impv;
-- foreign keys over node groups; MariaDB names a table of its own where these have no parents
CREATE TABLE impp (id INT PRIMARY KEY, k INT, UNIQUE KEY uk (k));
INSERT INTO impp VALUES (1, 1), (2, 2), (3, 3);
CREATE TABLE impc (id INT PRIMARY KEY, pid INT, q INT, CONSTRAINT impk1 FOREIGN KEY (pid) REFERENCES impp (id));
INSERT INTO impc VALUES (1, 1, 9), (2, 2, 9), (3, 3, 9), (4, 3, 9);
-- only: mysql
ALTER TABLE impc ADD UNIQUE uq (pid, q), ADD CONSTRAINT impk3 FOREIGN KEY (q) REFERENCES impp (k);
SHOW CREATE TABLE impc;
ALTER TABLE impc ADD UNIQUE uq2 (q);
ALTER TABLE impc ADD INDEX pq (pid, q), ADD UNIQUE uq3 (q);
ALTER TABLE impc ADD UNIQUE uq3 (pid);
SHOW CREATE TABLE impc;
-- only: mysql
ALTER TABLE impc DROP FOREIGN KEY impk1, ADD CONSTRAINT impk9 FOREIGN KEY (q) REFERENCES impp (k);
SHOW CREATE TABLE impc;
INSERT INTO impc VALUES (5, 99, 1);
ALTER TABLE impc DROP FOREIGN KEY impk1;
INSERT INTO impc VALUES (5, 99, 1);
-- only: mysql
ALTER TABLE impc ADD CONSTRAINT impk2 FOREIGN KEY (pid) REFERENCES impp (id);
SHOW CREATE TABLE impc;
-- only: mysql
ALTER TABLE impc ADD z INT DEFAULT 8, ADD CONSTRAINT impk2 FOREIGN KEY (z) REFERENCES impp (id);
SHOW CREATE TABLE impc;
SET foreign_key_checks = 0;
ALTER TABLE impc ADD CONSTRAINT impk2 FOREIGN KEY (pid) REFERENCES impp (id);
SHOW CREATE TABLE impc;
ALTER TABLE impc ADD z INT DEFAULT 8, ADD CONSTRAINT impk4 FOREIGN KEY (z) REFERENCES impp (id);
SHOW CREATE TABLE impc;
SET foreign_key_checks = 1;
INSERT INTO impc (id, pid, z) VALUES (6, 98, 1);
INSERT INTO impc (id, pid, z) VALUES (6, 1, 8);
INSERT INTO impc (id, pid, z) VALUES (6, 1, 1);
DELETE FROM impp WHERE id = 1;
SELECT * FROM impc ORDER BY id;
-- a key to a column of the table itself that gets another name
CREATE TABLE impself (id INT PRIMARY KEY, par INT, KEY (par), CONSTRAINT impse FOREIGN KEY (par) REFERENCES impself (id));
INSERT INTO impself VALUES (1, NULL), (2, 1), (3, 1), (4, 2);
ALTER TABLE impself RENAME COLUMN id TO pk;
SHOW CREATE TABLE impself;
ALTER TABLE impself CHANGE pk ident INT NOT NULL, ADD z INT;
ALTER TABLE impself RENAME COLUMN par TO parent, RENAME COLUMN ident TO par;
SHOW CREATE TABLE impself;
INSERT INTO impself VALUES (5, 99, 1);
INSERT INTO impself VALUES (5, 4, 1);
DELETE FROM impself WHERE par = 4;
SELECT * FROM impself ORDER BY par;
