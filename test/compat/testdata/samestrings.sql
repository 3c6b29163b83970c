-- Strings that are equal and not the same: which of them a condition keeps before they are grouped, and which it sees after.
CREATE TABLE same (id INT PRIMARY KEY, g VARCHAR(10) COLLATE utf8mb4_general_ci, n INT, b VARBINARY(10)) DEFAULT CHARSET utf8mb4;
INSERT INTO same VALUES (1,'abc',1,'a'),(2,'ABC',1,'A'),(3,'abc ',2,'a '),(4,'ABC',2,'A'),(5,'x',1,'x'),(6,'X ',2,'x'),(7,'é',1,'x'),(8,'e',2,'y'),(9,'abc',1,'a'),(10,'Abc  ',2,'a'),(11,NULL,1,NULL),(12,'ABC',1,'A');
-- only: mariadb
SELECT COUNT(*) FROM same GROUP BY g HAVING BINARY g = 'abc';
-- only: mariadb
SELECT COUNT(*), SUM(n) FROM same GROUP BY g HAVING BINARY g = 'ABC' AND COUNT(*) > 1;
-- only: mariadb
SELECT LOWER(g), COUNT(*) FROM same GROUP BY g HAVING HEX(g) = HEX('ABC');
-- only: mariadb
SELECT MAX(n), COUNT(*) AS c FROM same GROUP BY g HAVING LENGTH(g) = 4 OR g COLLATE utf8mb4_bin = 'X ' ORDER BY c;
-- only: mariadb
SELECT COUNT(*) FROM same GROUP BY g HAVING g LIKE 'abc';
-- only: mariadb
SELECT COUNT(*), g AS k FROM same GROUP BY k HAVING k LIKE BINARY 'ABC' AND SUM(n) < 100;
SELECT UPPER(RTRIM(g)), COUNT(*) FROM same GROUP BY g HAVING g = 'abc' OR g > 'f' ORDER BY 2;
SELECT UPPER(RTRIM(g)) AS u, COUNT(*) AS c, SUM(n) + 1 FROM same GROUP BY g HAVING g IN ('abc', 'X') AND c > 2 ORDER BY c;
SELECT COUNT(*), g IS NULL FROM same GROUP BY g HAVING g IS NULL OR NOT g <> 'e' ORDER BY 1;
SELECT n AS k, COUNT(*) FROM same GROUP BY k HAVING k + 1 = 2 ORDER BY k;
SELECT c FROM (SELECT g, COUNT(*) AS c FROM same GROUP BY g) d WHERE BINARY g = 'ABC';
SELECT c FROM (SELECT g, COUNT(*) AS c FROM same GROUP BY g) d WHERE LENGTH(g) = 3 AND c > 0;
SELECT d.g, s.id FROM (SELECT DISTINCT g FROM same) d JOIN same s ON s.n = s.id WHERE BINARY d.g = 'ABC';
SELECT HEX(d.g) FROM (SELECT g FROM same UNION SELECT g FROM same) d WHERE BINARY g = 'ABC';
SELECT COUNT(*) FROM (SELECT g, COUNT(*) AS c FROM same GROUP BY g) d WHERE g = 'ABC' AND c > 1;
-- The collation of a part of a string is also that of what is looked for in it.
CREATE TABLE parted (id INT PRIMARY KEY, s VARCHAR(20) COLLATE utf8mb4_general_ci, x VARCHAR(20) COLLATE utf8mb4_bin, y VARCHAR(20) COLLATE utf8mb4_general_ci) DEFAULT CHARSET utf8mb4;
INSERT INTO parted VALUES (1,'a,b','a','b'),(2,'A,b','A','b'),(3,'b,a','b','a'),(4,'B,A','B','A'),(5,'a','q','q'),(6,'b','q','q'),(7,'aa','q','q'),(8,'AA','q','q'),(9,NULL,NULL,NULL),(10,'','','');
SELECT COUNT(*), MIN(id), MAX(id) FROM parted GROUP BY SUBSTRING_INDEX(s, x, 1);
SELECT COUNT(*), MIN(id), MAX(id) FROM parted GROUP BY TRIM(LEADING x FROM s);
SELECT COUNT(*) FROM (SELECT DISTINCT TRIM(BOTH x FROM s) AS t FROM parted) d;
SELECT COUNT(DISTINCT SUBSTRING_INDEX(s, 'q' COLLATE utf8mb4_bin, 1)) FROM parted;
SELECT COUNT(*), MIN(id) FROM parted GROUP BY SUBSTRING_INDEX(s, 'q' COLLATE utf8mb4_bin, 1);
SELECT id, SUBSTRING_INDEX(s, 'q' COLLATE utf8mb4_bin, 1) AS t FROM parted ORDER BY t, id;
SELECT id, TRIM(LEADING x FROM s) FROM parted ORDER BY 2, 1;
SELECT MIN(SUBSTRING_INDEX(s, 'q' COLLATE utf8mb4_bin, 1)), MAX(TRIM('q' COLLATE utf8mb4_bin FROM s)) FROM parted;
SELECT COUNT(*), MIN(id) FROM parted GROUP BY SUBSTRING_INDEX(s, ',', 1);
SELECT COUNT(*), MIN(id) FROM parted GROUP BY TRIM(TRAILING y FROM s);
