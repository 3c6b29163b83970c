CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), d DECIMAL(10,2), b BLOB, at DATETIME(3), KEY v (v));
CREATE TABLE r (id INT PRIMARY KEY, v VARCHAR(20)) COMMENT='skarv:reference';
CREATE TABLE s (id INT PRIMARY KEY, v VARCHAR(20)) COMMENT='skarv:single';
CHECKSUM TABLE t;
INSERT INTO t VALUES (1, 'a', 1.5, x'00ff', '2024-01-01'), (2, 'b', NULL, NULL, NULL), (3, 'c', -7, 'xyz', NOW(3) - INTERVAL MICROSECOND(NOW(3)) MICROSECOND);
UPDATE t SET at = '2024-05-05 10:11:12.345' WHERE id = 3;
INSERT INTO t SELECT id + 10, CONCAT(v, v), d * 2, b, at FROM t WHERE id = 1;
INSERT INTO t (id, v) VALUES (20, 'x'), (21, 'y'), (22, 'z'), (23, ''), (24, NULL), (25, 'x'), (26, 'x');
INSERT INTO r VALUES (1, 'a'), (2, 'b');
INSERT INTO s VALUES (1, 'a'), (2, 'c');
CHECKSUM TABLE t;
CHECKSUM TABLE compat.t, r, s;
CHECKSUM TABLE t EXTENDED;
CHECKSUM TABLE t QUICK;
BEGIN;
DELETE FROM t WHERE id = 1;
CHECKSUM TABLE t;
ROLLBACK;
CHECKSUM TABLE `t`;
CREATE TABLE n (a INT);
-- refused: its hidden key is part of what a server counts
CHECKSUM TABLE n;
CREATE VIEW w AS SELECT * FROM t;
-- refused: a view has no rows of its own
CHECKSUM TABLE w;
-- Tables that are not there.
CREATE TABLE ckm (id INT PRIMARY KEY);
INSERT INTO ckm VALUES (1), (2), (3), (4);
CHECKSUM TABLE ckm, ck_nosuch;
CHECKSUM TABLE ck_nosuch QUICK;
CHECKSUM TABLE ck_nosuch, ck_neither, ckm;
CHECKSUM TABLE ckm t;
CHECKSUM TABLE ckm QUICK EXTENDED;
CHECKSUM TABLE ckm,;
CHECKSUM TABLE;
