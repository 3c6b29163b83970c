-- A row gets a key that another row of the statement has: a duplicate, unless that one has been changed before.
CREATE TABLE w (code VARCHAR(8), n INT, b INT, v INT, k INT, PRIMARY KEY (code, n), KEY (k));
INSERT INTO w VALUES ('ß', 4, 2, 1, 1), ('ß', 17, 4, 2, 2), ('ann', 1, 1, 3, 3), ('Zoe', 1, 2, 4, 4), ('bob', 8, 9, 5, 5), ('é', 3, 4, 6, 6);
UPDATE w SET n = w.b;
SELECT * FROM w ORDER BY v;
UPDATE w SET n = w.b + 2 WHERE code = 'ß';
UPDATE w SET n = n + 2 WHERE code = 'ß';
UPDATE w SET n = n + 2 WHERE code = 'ß' ORDER BY n DESC, code;
UPDATE w SET n = n - 2 WHERE code = 'ß' AND v < 3;
SELECT * FROM w ORDER BY v;
-- Names go down a chain, and up.
CREATE TABLE chain (name VARCHAR(10) PRIMARY KEY, next VARCHAR(10), v INT);
INSERT INTO chain VALUES ('bob', 'ann', 1), ('Carl', 'bob', 2), ('dora', 'CARL', 3), ('é', 'Dora', 4), ('fred', 'e', 5), ('Gil', 'fred', 6), ('zoe', 'gil', 7);
UPDATE chain SET name = next;
SELECT * FROM chain ORDER BY v;
UPDATE chain SET next = CASE v WHEN 1 THEN 'bob' WHEN 2 THEN 'carl' WHEN 3 THEN 'dora' WHEN 4 THEN 'e' WHEN 5 THEN 'fred' WHEN 6 THEN 'gil' ELSE 'zoe' END;
UPDATE chain SET name = next;
UPDATE chain SET name = next ORDER BY name;
SELECT * FROM chain ORDER BY v;
UPDATE chain SET name = next ORDER BY name DESC;
SELECT * FROM chain ORDER BY v;
UPDATE chain SET name = CONCAT(name, 'x');
UPDATE IGNORE chain SET name = IF(v > 3, 'same', 'bobx');
SELECT * FROM chain ORDER BY v;
-- Equal rows of the ORDER BY may come in any order.
UPDATE chain SET v = 0, name = CASE name WHEN 'same' THEN 'b1' WHEN 'bobx' THEN 'b0' ELSE name END;
-- refused: one of two equal rows takes the other one's key
UPDATE chain SET name = IF(name = 'b0', 'b1', 'b2') WHERE name IN ('b0', 'b1') ORDER BY v;
UPDATE chain SET name = IF(name = 'b0', 'b1', 'b2') WHERE name IN ('b0', 'b1') ORDER BY v, name DESC;
UPDATE chain SET name = IF(name = 'b1', 'b0', 'b1') WHERE name IN ('b2', 'b1') ORDER BY v, name;
SELECT * FROM chain ORDER BY name;
-- Dates, decimals and byte strings.
CREATE TABLE days (d DATE, m DECIMAL(6,2), x VARBINARY(4), v INT, PRIMARY KEY (d, m, x));
INSERT INTO days VALUES ('2026-01-09', -10.5, 'a', 1), ('2026-01-10', -9, 'A', 2), ('2026-01-11', 9, '', 3), ('2026-01-12', 10, 'b', 4);
UPDATE days SET d = d + INTERVAL 1 DAY, m = -9, x = 'A';
UPDATE days SET m = 0, x = '';
UPDATE days SET d = d - INTERVAL 1 DAY;
SELECT * FROM days ORDER BY v;
UPDATE days SET d = d + INTERVAL 1 DAY;
UPDATE days SET d = '2026-01-01', m = v + 0.5, x = 'b';
UPDATE days SET m = m - 1;
UPDATE days SET m = m + 1 ORDER BY m DESC, d, x;
UPDATE days SET x = CHAR(100 - v), m = 7;
UPDATE days SET x = CHAR(ORD(x) - 1);
SELECT d, m, HEX(x), v FROM days ORDER BY v;
-- By an index a server comes to the rows in another order than by the primary key: only it knows whether it takes it.
CREATE TABLE byk (id INT PRIMARY KEY, k INT, w INT, KEY (k));
INSERT INTO byk VALUES (1, 9, 1), (2, 8, 2), (3, 7, 3), (4, 6, 4), (5, 5, 5);
-- refused: by k, 5 comes first
UPDATE byk SET id = id - 1 WHERE k > 0;
-- refused: USE INDEX
UPDATE byk FORCE INDEX (k) SET id = id - 1;
UPDATE byk SET id = id - 1 WHERE k > 0 ORDER BY id;
UPDATE byk SET id = id + 1 WHERE k > 0 ORDER BY id DESC;
UPDATE byk SET id = id + 1 WHERE w > 0;
UPDATE byk SET id = id - 1 WHERE w > 0;
UPDATE byk SET id = id + 100 WHERE k > 0;
UPDATE byk SET id = 500 WHERE k > 0;
UPDATE byk SET id = id - 100 WHERE k = 7;
UPDATE IGNORE byk SET id = id + 100 WHERE k > 0 ORDER BY id;
-- refused: which of them gets it
UPDATE IGNORE byk SET id = 600 WHERE k > 0;
UPDATE IGNORE byk SET id = 600 WHERE w > 0;
SELECT * FROM byk ORDER BY w;
-- A unique key without the distribution key.
CREATE TABLE mails (id INT PRIMARY KEY, e INT, w INT, UNIQUE KEY (e));
INSERT INTO mails VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5);
UPDATE mails SET e = e - 1;
UPDATE mails SET e = e + 1;
UPDATE mails SET e = e + 1 ORDER BY id DESC;
-- refused: by e or by id
UPDATE mails SET e = e - 1 WHERE e > 0;
UPDATE mails SET e = e - 1 WHERE e > 0 ORDER BY id;
UPDATE mails SET e = e + 10 WHERE e > 0;
UPDATE mails SET e = 11 - e + 11 WHERE id > 0;
UPDATE mails SET e = 3 WHERE e > 0;
UPDATE mails SET e = e + 1, id = id + 1 ORDER BY id DESC;
SELECT * FROM mails ORDER BY id;
-- In a transaction a statement that is refused leaves nothing.
DELETE FROM byk;
INSERT INTO byk VALUES (1, 9, 1), (2, 8, 2), (3, 7, 3);
BEGIN;
UPDATE byk SET w = w + 10 WHERE w > 2;
-- refused: by k
UPDATE byk SET id = id - 1 WHERE k > 0;
SELECT * FROM byk ORDER BY w;
ROLLBACK;
-- Over copies: of a join only a server knows the order.
DELETE FROM byk;
INSERT INTO byk VALUES (1, 9, 1), (2, 8, 2), (3, 7, 3);
CREATE TABLE other (id INT PRIMARY KEY, v INT);
INSERT INTO other VALUES (11, 1), (12, 2), (13, 3), (14, 0);
-- refused: 3 may come before 2
UPDATE byk JOIN other ON other.v = byk.w SET byk.id = byk.id - 1;
UPDATE byk JOIN other ON other.v = byk.w SET byk.id = byk.id + 10;
UPDATE byk JOIN other ON other.v = byk.w SET byk.id = byk.id + 10 WHERE other.id = 12;
SELECT * FROM byk ORDER BY w;
UPDATE byk SET id = id + (SELECT MAX(v) FROM other);
UPDATE byk SET id = id - (SELECT MAX(v) FROM other) + 20 WHERE w > 0;
SELECT * FROM byk ORDER BY w;
DROP TABLE other, w, chain, days, byk, mails;
