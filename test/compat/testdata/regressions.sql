-- What test/logic found, made small.
CREATE TABLE t4 (code VARCHAR(12), a INT, PRIMARY KEY (code));
INSERT INTO t4 VALUES ('ann', 1), ('bob', 2), ('cid', NULL);
-- refused: the row would be stored with '' as its key, on another node group
INSERT IGNORE INTO t4 (code, a) VALUES (NULL, 2);
-- refused: as one of several rows
INSERT IGNORE INTO t4 (code, a) VALUES ('dan', 1), (NULL, 2);
INSERT INTO t4 (code, a) VALUES ('dan', 1), (NULL, 2);
SELECT * FROM t4;
CREATE TABLE t8 (id INT AUTO_INCREMENT PRIMARY KEY, b INT);
INSERT INTO t8 (id, b) VALUES (9, 3), (-1, 4), (2, 5), (-7, 5);
INSERT INTO t8 (id, b) VALUES (10, 3), (-2, 4), (3, 5), (8, 5);
SELECT * FROM t8 ORDER BY id;
