-- The text of a view is read in no sql_mode, and its strings have the collation of who has made it, whoever writes through it.
CREATE TABLE vm (id INT PRIMARY KEY, s VARCHAR(20), n INT) CHARACTER SET utf8mb4;
INSERT INTO vm VALUES (1, 'a', 1), (2, 'a\\b', 2), (3, '', 3), (4, 'x', 4), (5, 'a\\b', 5), (6, 'q''q', 6);
CREATE VIEW vm_concat AS SELECT id, n FROM vm WHERE CONCAT(id, 'a') IN ('1A', '2A');
CREATE VIEW vm_back AS SELECT id, n, s FROM vm WHERE s = 'a\\b' WITH CHECK OPTION;
CREATE VIEW vm_like AS SELECT id, n FROM vm WHERE s LIKE 'a%';
CREATE VIEW vm_empty AS SELECT id, n, s FROM vm WHERE s = '';
CREATE VIEW vm_call AS SELECT id, n FROM vm WHERE CONCAT(s, NULL, 'x') IS NULL;
CREATE VIEW vm_quote AS SELECT id, n, s FROM vm WHERE s = 'q\'q' AND n <> 0;
CREATE VIEW vm_column AS SELECT id, n, CONCAT(s, '\\') AS c FROM vm;
CREATE VIEW vm_plain AS SELECT id, n, s FROM vm WHERE n > 3;
CREATE VIEW vm_bound AS SELECT id, n, s FROM vm WHERE s = 'X' OR s IN ('A', 'Q') OR s BETWEEN 'Q' AND 'R';
SET sql_mode = 'NO_BACKSLASH_ESCAPES';
-- refused: under sql_mode NO_BACKSLASH_ESCAPES
UPDATE vm_back SET n = n + 10;
-- refused: under sql_mode NO_BACKSLASH_ESCAPES
DELETE FROM vm_back WHERE id = 1;
-- refused: under sql_mode NO_BACKSLASH_ESCAPES
INSERT INTO vm_back (id, s) VALUES (7, 'c');
-- refused: under sql_mode NO_BACKSLASH_ESCAPES
UPDATE vm_like SET n = n + 10;
-- refused: under sql_mode NO_BACKSLASH_ESCAPES
UPDATE vm_quote SET n = n + 10;
UPDATE vm_column SET n = n + 10 WHERE id = 2;
-- refused: under sql_mode NO_BACKSLASH_ESCAPES
UPDATE vm_column SET n = n + 10 WHERE c = 'a\';
UPDATE vm_plain SET n = n + 10, s = 'a\b' WHERE id = 4;
SELECT * FROM vm_back ORDER BY id;
SET sql_mode = 'ANSI_QUOTES,IGNORE_SPACE,PIPES_AS_CONCAT';
UPDATE vm_back SET "n" = "n" + 10 WHERE "id" > 1;
UPDATE vm_quote SET n = n + 10;
SELECT * FROM vm ORDER BY id;
-- only: mariadb
SET sql_mode = 'EMPTY_STRING_IS_NULL';
-- only: mariadb
-- refused: under sql_mode EMPTY_STRING_IS_NULL
UPDATE vm_empty SET n = n + 10;
-- only: mariadb
SELECT v.id + 0 AS id, v.n + 0 AS n FROM vm_empty AS v JOIN vm AS o ON o.n = v.n ORDER BY v.id;
-- only: mariadb
UPDATE vm_quote SET n = n + 10;
-- only: mariadb
SET sql_mode = 'ORACLE';
-- only: mariadb
-- refused: under sql_mode ORACLE
UPDATE vm_call SET n = n + 10;
-- only: mariadb
SELECT v.id + 0 AS id, v.n + 0 AS n FROM vm_call AS v JOIN vm AS o ON o.n = v.n ORDER BY v.id;
-- only: mariadb
UPDATE vm_plain SET n = n + 10;
SET sql_mode = DEFAULT;
UPDATE vm_call SET n = n + 10;
UPDATE vm_empty SET n = n + 10;
UPDATE vm_concat SET n = n + 10;
SET collation_connection = utf8mb4_bin;
-- refused: string literals have the collation
UPDATE vm_concat SET n = n + 10;
UPDATE vm_bound SET n = n + 10;
UPDATE vm_back SET n = n + 10;
UPDATE vm_like SET n = n + 10;
UPDATE vm_column SET n = n + 10 WHERE id = 3;
-- refused: string literals have the collation
UPDATE vm_column SET n = n + 10 WHERE c = 'X\\';
SELECT * FROM vm ORDER BY id;
SET NAMES utf8mb4;
DROP VIEW vm_concat, vm_back, vm_like, vm_empty, vm_call, vm_quote, vm_column, vm_plain, vm_bound;
DROP TABLE vm;
