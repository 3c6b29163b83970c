-- Strings of procedures beside columns with which they are compared.
CREATE TABLE kb (k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, v INT);
CREATE TABLE kl (k VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin PRIMARY KEY, v INT);
CREATE TABLE k3 (k VARCHAR(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci PRIMARY KEY, v INT);
INSERT INTO kb VALUES ('ann', 1), ('ANN', 2), ('änn', 3), ('ann}', 4), ('漢', 5), ('bob', 6), ('eve', 7), ('annå', 8);
INSERT INTO kl VALUES ('ann', 1), ('ANN', 2), ('änn', 3), ('ann}', 4), ('bob', 6), ('eve', 7);
INSERT INTO k3 VALUES ('ann', 1), ('änna', 3), ('ann}', 4), ('漢', 5), ('bob', 6), ('eve', 7), ('annå', 8);
-- skip-prepared
CREATE PROCEDURE wins(y VARCHAR(20) COLLATE utf8mb4_unicode_ci, l VARCHAR(20) CHARACTER SET latin1, m VARCHAR(20) CHARACTER SET utf8mb3, s VARCHAR(20) CHARACTER SET swe7, b VARCHAR(20) COLLATE utf8mb4_bin) BEGIN DECLARE CONTINUE HANDLER FOR 1267, 1270, 1271 SELECT 'mix'; SELECT 'kb', k, v FROM compat.kb WHERE k = y; SELECT k, v FROM compat.kb WHERE l = k; SELECT k, v FROM compat.kb WHERE k = m; SELECT k, v FROM compat.kb WHERE k = s; SELECT k, v FROM compat.kb WHERE k IN (y, l, 'eve') ORDER BY v; SELECT k, v FROM compat.kb WHERE k LIKE y ORDER BY v; SELECT k, v FROM compat.kb WHERE k BETWEEN y AND l ORDER BY v; SELECT k, v FROM compat.kb WHERE (k, v) = (y, 1); SELECT k, v FROM compat.kb WHERE k >= l ORDER BY v; UPDATE compat.kb SET v = v + 100 WHERE k = y; UPDATE compat.kb SET v = v + 1000 WHERE k = l; DELETE FROM compat.kb WHERE k = s; SELECT * FROM compat.kb ORDER BY k; SELECT 'kl', k, v FROM compat.kl WHERE k = y; SELECT k, v FROM compat.kl WHERE l = k; SELECT k, v FROM compat.kl WHERE k = m; SELECT k, v FROM compat.kl WHERE k = s; UPDATE compat.kl SET v = v + 100 WHERE k = l; SELECT * FROM compat.kl ORDER BY k; SELECT 'k3', k, v FROM compat.k3 WHERE k = y; SELECT k, v FROM compat.k3 WHERE k = b; SELECT k, v FROM compat.k3 WHERE l = k; SELECT k, v FROM compat.k3 WHERE k = m; SELECT k, v FROM compat.k3 WHERE k = s; SELECT k, v FROM compat.k3 WHERE k IN (l, y, s) ORDER BY v; UPDATE compat.k3 SET v = v + 100 WHERE k = l; SELECT * FROM compat.k3 ORDER BY v; END;
-- skip-prepared
CALL wins('ann', 'änn', 'ANN', 'annå', 'ann');
-- skip-prepared
CALL wins('ANN', 'eve', '漢', 'ann', 'ANN');
-- skip-prepared
CALL wins('漢', 'ann}', 'eve', NULL, 'bob');
-- skip-prepared
CALL wins(NULL, NULL, 'ann', 'bob', NULL);
-- Columns that have others' names.
CREATE TABLE vt (id INT PRIMARY KEY, u VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, g VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci);
INSERT INTO vt VALUES (1, 'ann', 'ann'), (2, 'ANN', 'ANN'), (3, 'bob', 'bob');
-- only: mysql
-- skip-prepared
CREATE PROCEDURE names(y VARCHAR(20) COLLATE utf8mb4_unicode_ci) BEGIN DECLARE CONTINUE HANDLER FOR 1267 SELECT 'mix'; SELECT d.i FROM (SELECT g, id FROM compat.vt) AS d(u, i) WHERE d.u = y ORDER BY 1; SELECT d.i FROM (SELECT u, id FROM compat.vt) d (g, i) WHERE d.g = y ORDER BY 1; SELECT id FROM compat.vt WHERE u = y ORDER BY id; END;
-- only: mysql
-- skip-prepared
CALL names('ANN');
-- skip-prepared
CREATE PROCEDURE listed(y VARCHAR(20) COLLATE utf8mb4_unicode_ci) BEGIN DECLARE CONTINUE HANDLER FOR 1267 SELECT 'mix'; SELECT j.u FROM compat.vt t, JSON_TABLE('[{"u":"ANN "}]', '$[*]' COLUMNS (u VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PATH '$.u')) j WHERE t.id = 1 AND j.u = y; END;
-- skip-prepared
CALL listed('ANN');
