-- Collations whose weights, or whose text in UTF-8, do not tell which strings are equal.
CREATE TABLE seven (id INT PRIMARY KEY, v VARCHAR(8) CHARACTER SET latin7 COLLATE latin7_general_ci, w VARCHAR(8) CHARACTER SET latin7 COLLATE latin7_general_cs);
INSERT INTO seven VALUES (1,'',''),(2,' ',' '),(3,'',' '),(4,'a','a '),(5,'a ','a'),(6,'A ','A '),(7,' ',''),(8,'b','b'),(9,'a','a'),(10,NULL,NULL),(11,'  ','  '),(12,'a  ','A');
SELECT COUNT(*), MIN(id), MAX(id) FROM seven GROUP BY v;
SELECT COUNT(*), MIN(id), MAX(id) FROM seven GROUP BY LEFT(w, 2);
SELECT COUNT(*) FROM (SELECT DISTINCT w FROM seven) d;
SELECT id FROM seven ORDER BY v, id;
SELECT id FROM seven ORDER BY w DESC, id LIMIT 4;
SELECT id FROM seven WHERE v = (SELECT MIN(v) FROM seven);
-- Bytes that are no characters of Unicode.
CREATE TABLE unmapped (id INT PRIMARY KEY, h VARCHAR(8) CHARACTER SET hebrew COLLATE hebrew_bin, g VARCHAR(8) CHARACTER SET greek COLLATE greek_general_ci);
INSERT INTO unmapped VALUES (1, _hebrew x'DF', _greek x'D2'),(2, _hebrew x'FF', _greek x'FF'),(3, _hebrew x'C4', _greek x'D2'),(4, _hebrew x'C5', _greek x'E1'),(5, _hebrew x'FF', NULL),(6, 'a', 'a'),(7, NULL, _greek x'FF'),(8, _hebrew x'F1', _greek x'C1'),(9, _hebrew x'E0', 'z'),(10, _hebrew x'DF', '');
SELECT COUNT(DISTINCT h), COUNT(DISTINCT g) FROM unmapped;
SELECT COUNT(DISTINCT h), 'h' FROM unmapped;
SELECT id FROM unmapped WHERE h = (SELECT MAX(h) FROM unmapped) ORDER BY id;
SELECT id FROM unmapped WHERE g = (SELECT MAX(g) FROM unmapped) ORDER BY id;
SELECT d.c, u.id FROM (SELECT h, COUNT(*) AS c FROM unmapped GROUP BY h) AS d JOIN unmapped u ON u.h = d.h ORDER BY u.id;
SELECT COUNT(*) + 1, MAX(id) FROM unmapped GROUP BY h ORDER BY 2;
-- only: mariadb
CREATE TABLE sorted (id INT PRIMARY KEY, l VARCHAR(8) CHARACTER SET latin1 COLLATE latin1_bin, n VARCHAR(8) CHARACTER SET latin1 COLLATE latin1_swedish_nopad_ci, u VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin);
-- only: mariadb
INSERT INTO sorted VALUES (1,'a ','a ','a '),(2,'a','a','a'),(3,'a ','a ','a '),(4,'a','a','a'),(5,'a\t','a\t','a\t'),(6,'a ','a ','a '),(7,'a','a','a'),(8,'','',''),(9,' ',' ',' '),(10,'','',''),(11,' ',' ',' '),(12,'a','a','a');
-- only: mariadb
SELECT id FROM sorted ORDER BY LEFT(l, 3), id;
-- only: mariadb
SELECT id FROM sorted ORDER BY UPPER(l) DESC, id LIMIT 5;
-- only: mariadb
SELECT id FROM sorted ORDER BY LOWER(n), id;
-- only: mariadb
SELECT id FROM sorted ORDER BY l, id;
-- only: mariadb
SELECT id FROM sorted ORDER BY n, id;
-- only: mariadb
SELECT id FROM sorted ORDER BY LEFT(u, 3), id;
-- only: mariadb
SELECT COUNT(*), MIN(id) FROM sorted GROUP BY LEFT(l, 3) ORDER BY 2;
-- only: mariadb
CREATE TABLE several (id INT PRIMARY KEY, v VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_cs);
-- only: mariadb
INSERT INTO several VALUES (1,'é'),(2,'e'),(3,'E'),(4,'è'),(5,'n'),(6,'ñ'),(7,'ä'),(8,'a'),(9,'Ä'),(10,'é'),(11,'e'),(12,'o'),(13,'ö');
-- only: mariadb
SELECT COUNT(*), MIN(id), MAX(id) FROM several GROUP BY v;
-- only: mariadb
SELECT id FROM several ORDER BY v, id;
-- only: mariadb
SELECT COUNT(*) FROM (SELECT DISTINCT v FROM several) d;
-- CHAR of a collation in which trailing spaces count.
-- only: mariadb
CREATE TABLE spaced (id INT PRIMARY KEY, c CHAR(6) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci);
-- only: mariadb
INSERT INTO spaced VALUES (1,'ß'),(2,'ss'),(3,'ff'),(4,'ﬀ'),(5,'ß'),(6,'SS'),(7,'ﬀ'),(8,'a'),(9,'A'),(10,''),(11,' '),(12,'ss'),(13,'ß'),(14,'ff');
-- only: mariadb
SELECT COUNT(DISTINCT c) FROM spaced;
-- only: mariadb
SELECT COUNT(*), MIN(id), MAX(id) FROM spaced GROUP BY c;
-- only: mariadb
SELECT COUNT(*) FROM (SELECT DISTINCT c FROM spaced) d;
-- only: mariadb
SELECT id FROM spaced ORDER BY c, id;
