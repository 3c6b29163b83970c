-- String literals in views are in the character set of whoever has made the view, whoever reads it.
CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20)) CHARSET utf8mb4;
INSERT INTO t VALUES (1, 'é'), (2, 'ü'), (3, 'Ã©'), (4, 'ş'), (5, 'a');
CREATE TABLE o (id INT PRIMARY KEY, tid INT, v INT);
INSERT INTO o VALUES (10, 1, 5), (11, 2, 6), (12, 3, 7), (13, 4, 8), (14, 5, 9);
CREATE TABLE k (name VARCHAR(20) PRIMARY KEY, v INT) CHARSET utf8mb4;
INSERT INTO k VALUES ('é', 1), ('Ã©', 2);
CREATE VIEW unicode AS SELECT id, name, 'é' AS l, COLLATION('é') AS c FROM t WHERE name = 'é';
CREATE VIEW keyed AS SELECT name, v, 'ş' AS l FROM k WHERE name = 'é';
SET NAMES latin1;
CREATE VIEW latin AS SELECT id, name, 'Ã©' AS l, COLLATION('a') AS c FROM t WHERE name = 'Ã©';
CREATE VIEW introduced AS SELECT id, name, _latin1 x'E9' AS l FROM t WHERE name = _latin1 x'E9';
CREATE VIEW mixed AS SELECT id, name, 'Ã©' AS l FROM t WHERE name = _utf8mb4 x'C59F';
CREATE VIEW national AS SELECT id, name FROM t WHERE name = N'a';
SELECT id, HEX(name), HEX(l), c FROM unicode ORDER BY id;
SELECT u.id + 0 AS id, HEX(u.name), HEX(l), o.v FROM unicode AS u JOIN o ON o.tid = u.id ORDER BY o.id;
SELECT COUNT(*), HEX(MAX(l)), MAX(c) FROM unicode JOIN o ON o.tid = unicode.id;
SELECT HEX(name), v, HEX(l) FROM keyed;
SELECT HEX(keyed.name), keyed.v, HEX(l), o.v FROM keyed JOIN o ON o.id = keyed.v + 9;
SELECT HEX(name), v, HEX(l) FROM keyed WHERE name = 'é';
SELECT id, HEX(name), HEX(l), c FROM latin ORDER BY id;
SELECT w.id + 0 AS id, HEX(w.name), HEX(l), o.v FROM latin AS w JOIN o ON o.tid = w.id ORDER BY o.id;
-- args: [7]
SELECT w.id + 0 AS id, HEX(w.name), HEX(l), o.v FROM latin AS w JOIN o ON o.tid = w.id AND o.v = ? ORDER BY o.id;
-- args: ["Ã©"]
SELECT w.id + 0 AS id, HEX(w.name), HEX(l), o.v FROM latin AS w JOIN o ON o.tid = w.id AND w.name = ? ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), o.v FROM introduced AS w JOIN o ON o.tid = w.id ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), o.v FROM mixed AS w JOIN o ON o.tid = w.id ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), o.v FROM national AS w JOIN o ON o.tid = w.id ORDER BY o.id;
-- refused: beyond ASCII
UPDATE keyed SET v = 5;
SET NAMES utf8mb4;
SELECT u.id + 0 AS id, HEX(u.name), HEX(l), o.v FROM unicode AS u JOIN o ON o.tid = u.id ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), HEX(l), o.v FROM latin AS w JOIN o ON o.tid = w.id ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), o.v FROM introduced AS w JOIN o ON o.tid = w.id ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), o.v FROM mixed AS w JOIN o ON o.tid = w.id ORDER BY o.id;
SELECT w.id + 0 AS id, HEX(w.name), o.v FROM national AS w JOIN o ON o.tid = w.id ORDER BY o.id;
SELECT HEX(keyed.name), keyed.v, HEX(l), o.v FROM keyed JOIN o ON o.id = keyed.v + 9;
UPDATE keyed SET v = 5;
SELECT HEX(name), v FROM k ORDER BY name;
SET collation_connection = utf8mb4_bin;
CREATE VIEW bin AS SELECT id, 'a' = 'A' AS same, COLLATION('x') AS c FROM t;
SET collation_connection = utf8mb4_unicode_ci;
SELECT bin.id + 0 AS id, IF(same, 'y', 'n') AS same, o.v FROM bin JOIN o ON o.tid = bin.id ORDER BY o.id;
SELECT COUNT(*), MAX(c) FROM bin JOIN o ON o.tid = bin.id;
SET NAMES utf8mb4;
