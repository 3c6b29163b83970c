-- Sums of quotients that have more digits before or behind the point than most DECIMALs: they are added up where all rows are.
CREATE TABLE wideq (id INT PRIMARY KEY, g INT, x DECIMAL(40,0), z DECIMAL(38,30), w DECIMAL(45,28), b BIGINT UNSIGNED, KEY (g));
INSERT INTO wideq VALUES (1, 1, 1000000000000000000000000000000000000000, 1.7, 1.7, 18446744073709551615), (2, 1, 2000000000000000000000000000000000000000, 2.3, 2.3, 18446744073709551615), (3, 1, 3, 1.111111111111111111111111111117, 5.5, 3), (4, 2, 4, 4, 4, 4), (5, 2, 5, 5.5, 5, 5), (6, 2, 6, 6, 6, 6), (7, 2, 7, 7, 7, 7), (8, 2, 8, 8, 8, 8);
SELECT SUM(x / 3), AVG(x / 3), AVG(x / id / 3) FROM wideq;
SELECT SUM(x / 0.0001), AVG(x / 0.0001) FROM wideq;
SELECT SUM(b / 0.0001), SUM(b / 0.00000000000001) FROM wideq;
SELECT SUM(b / 0.5), SUM(b / 0.25), SUM(b * 1.5 / 7), SUM(b * 12345678901234567890123456789 / 7) FROM wideq;
SELECT SUM(q), AVG(q) FROM (SELECT x / 3 AS q FROM wideq) s;
SELECT g, SUM(x / 3), AVG(x / 3) FROM wideq GROUP BY g ORDER BY g;
SELECT g, SUM(z / 3), AVG(w / 7) FROM wideq GROUP BY g ORDER BY g;
SELECT SUM(z / 3), AVG(z / 3), SUM(w / 3), AVG(w / 3), SUM(z / 3 + w / 7) FROM wideq;
SELECT SUM(ROUND(x / 7, 3) / 3), SUM(ROUND(id / 7, 20) / 3), SUM(ROUND(x / 3)), SUM(CASE WHEN g = 1 THEN x / 3 WHEN g = 2 THEN z END) FROM wideq;
SELECT SUM(id / 7 / 7 / 7), SUM(id / (g / 7)), AVG(id / (z / 3)), SUM(x % 7 / 3), SUM(x DIV 7 / 3) FROM wideq;
SELECT SUM(-x / 3), SUM((x + id) / 3), SUM(x * id / 3 - id) FROM wideq;
ALTER TABLE wideq ADD f DOUBLE DEFAULT 1.2345678901;
SELECT SUM(ROUND(f, 3) / 7), AVG(ROUND(f, 3) / 7), SUM(ROUND(LENGTH(x), 1) / 7), SUM(ROUND(x, id) / 7) FROM wideq;
SET div_precision_increment = 30;
SELECT SUM(id / 7), AVG(id / 7), SUM(1.5 * id / 7), SUM(z / 3), SUM(b / 3) FROM wideq;
SELECT g, SUM(id / 7), AVG(id / 7), SUM(z / 3) FROM wideq GROUP BY g ORDER BY g;
SET div_precision_increment = 12;
SELECT SUM(id / 7), AVG(id / 7), SUM(1.5 * id / 7), SUM(x / 3), AVG(x / 7) FROM wideq;
SET div_precision_increment = 0;
SELECT SUM(id / 7), AVG(id / 7), SUM(1.5 * id / 7), SUM(x / 3), AVG(x / 7) FROM wideq;
SELECT AVG(id), AVG(id / 7 + 0.5), AVG(b / 7) FROM wideq;
SET div_precision_increment = 9;
SELECT SUM(id / 7), AVG(id / 7), AVG(1.5 * id / 7), SUM(x / 3), AVG(x / 7), AVG(x) FROM wideq;
SET div_precision_increment = DEFAULT;
SELECT AVG(id / 7 + 0.12345678901234), AVG(id * 0.12345678901234), AVG(1.0000000001 * id / 7) FROM wideq;
SELECT SUM(id / 7), AVG(id / 7) FROM wideq;
-- only: mysql
SELECT /*+ SET_VAR(div_precision_increment = 30) */ SUM(id / 7), AVG(id / 7), SUM(x / 7) FROM wideq;
-- skip-prepared
-- only: mariadb
SET STATEMENT div_precision_increment = 30 FOR SELECT SUM(id / 7), AVG(id / 7), SUM(x / 7) FROM wideq;
