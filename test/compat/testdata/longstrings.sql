-- Strings that are longer than what servers sort by.
CREATE TABLE longer (id INT PRIMARY KEY, s VARCHAR(100) COLLATE utf8mb4_general_ci, w VARCHAR(255) COLLATE utf8mb4_bin, x TEXT COLLATE utf8mb4_general_ci, b VARBINARY(2000), n INT) DEFAULT CHARSET utf8mb4;
INSERT INTO longer WITH RECURSIVE i AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM i WHERE i < 24) SELECT i, CONCAT(REPEAT('p', 60), CHAR(97 + (i * 7) % 5)), CONCAT(REPEAT('q', 250), CHAR(97 + (i * 7) % 5)), CONCAT(REPEAT('t', 700), CHAR(97 + (i * 7) % 5)), CONCAT(REPEAT('b', 1100), CHAR(97 + (i * 7) % 5)), i % 3 FROM i;
SELECT id FROM longer ORDER BY s, id;
SELECT id FROM longer ORDER BY w DESC, id;
SELECT COUNT(*), RIGHT(s, 1) FROM longer GROUP BY s ORDER BY 2;
SELECT COUNT(*), w FROM longer GROUP BY w;
SELECT DISTINCT s, w FROM longer;
SELECT s FROM longer UNION SELECT w FROM longer;
SELECT id FROM longer ORDER BY n, id, x;
SELECT id FROM longer ORDER BY LEFT(x, 100), id;
SELECT COUNT(DISTINCT n), MAX(RIGHT(x, 1)), MIN(RIGHT(b, 1)) FROM longer;
-- refused: long strings that differ behind the part that servers sort by
SELECT id FROM longer ORDER BY x, id;
-- refused: long strings that differ behind the part that servers sort by
SELECT DISTINCT x FROM longer;
-- refused: long strings that differ behind the part that servers sort by
SELECT b, COUNT(*) FROM longer GROUP BY b;
SET max_sort_length = 64;
-- refused: SET max_sort_length
SELECT DISTINCT s FROM longer;
-- refused: SET max_sort_length
SELECT s, COUNT(*) FROM longer GROUP BY s;
-- refused: SET max_sort_length
SELECT id FROM longer ORDER BY w, id;
SELECT id FROM longer ORDER BY n, id;
SET max_sort_length = 4000;
SELECT id FROM longer ORDER BY x, id;
SELECT DISTINCT x, b FROM longer;
SELECT COUNT(*), RIGHT(b, 1) AS r FROM longer GROUP BY b ORDER BY r;
SET max_sort_length = DEFAULT;
SELECT COUNT(*), RIGHT(s, 1) FROM longer GROUP BY s ORDER BY 2;
-- MariaDB sorts strings that differ in NULs at their ends as if they were equal, also where these count.
-- only: mariadb
CREATE TABLE endsinnul (id INT PRIMARY KEY, s VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci, b VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin);
-- only: mariadb
INSERT INTO endsinnul SELECT seq, IF(seq % 2, 'a', CONCAT('A', CHAR(0))), IF(seq % 2, 'a', CONCAT('a', CHAR(0))) FROM seq_1_to_40;
-- only: mariadb
-- refused: HEX(column)
SELECT HEX(s), COUNT(*) FROM endsinnul GROUP BY s;
-- only: mariadb
-- refused: HEX(column)
SELECT id FROM endsinnul ORDER BY b, id LIMIT 6;
-- only: mariadb
SELECT HEX(b) h, COUNT(*) FROM endsinnul GROUP BY h ORDER BY h;
-- only: mariadb
SELECT b, COUNT(*) FROM endsinnul WHERE id % 2 GROUP BY b;
