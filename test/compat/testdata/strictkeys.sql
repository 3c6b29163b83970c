-- In strict mode, a row that is found by a string for its key, which then changes. MariaDB warns where it notes all rows before it writes the first
-- one, but fails where a unique key can give one row only.
CREATE TABLE k1 (k INT PRIMARY KEY, v INT, u INT, c CHAR(5));
INSERT INTO k1 VALUES (0, 0, 0, 'x'), (1, 1, 1, 'y'), (5, 5, 5, 'z');
UPDATE k1 SET k = 2024 WHERE k = 'a';
UPDATE k1 SET k = 2024 WHERE k = '5x' AND v = 7;
UPDATE k1 SET k = 2024 WHERE k = 5 AND v = '5a';
UPDATE k1 SET k = 2024 WHERE k = 5 AND c = 0;
UPDATE k1 SET v = 3 WHERE k = 'a';
SELECT * FROM k1 ORDER BY k;
ALTER TABLE k1 ADD UNIQUE KEY (u);
UPDATE k1 SET k = 2024 WHERE u = '5x';
UPDATE k1 SET k = 2024 WHERE u = 5 AND v = '5x';
SELECT * FROM k1 ORDER BY k;
-- only: mariadb
UPDATE k1 SET k = 2025 WHERE v = '5x';
DELETE FROM k1 WHERE u = '1x';
DELETE FROM k1 WHERE k = '0a';
SELECT * FROM k1 ORDER BY k;
CREATE TABLE k2 (a INT, b INT, c CHAR(5), PRIMARY KEY (a, b));
INSERT INTO k2 VALUES (1, 1, 'x'), (1, 2, 'y');
UPDATE k2 SET a = 8 WHERE a = 1 AND b = 1 AND c = 0;
UPDATE k2 SET a = 8 WHERE a = 1 AND b = '1x';
UPDATE k2 SET a = 8 WHERE a = 1 AND b = 1 AND c = 0 ORDER BY b;
-- only: mariadb
UPDATE k2 SET a = 8 WHERE a = 1 AND c = 0;
SELECT * FROM k2 ORDER BY a, b;
-- BIT: a query looks a string up by its bytes, a write compares numbers.
CREATE TABLE k3 (k BIT(8) PRIMARY KEY, v INT);
INSERT INTO k3 VALUES (0, 1), (1, 1), (49, 1), (97, 1);
UPDATE k3 SET v = v + 1 WHERE k = '1';
UPDATE k3 SET v = v + 1 WHERE k = '49';
UPDATE k3 SET k = 200 WHERE k = 49;
UPDATE k3 SET k = 201 WHERE k = b'1100001';
-- refused: found by a query
UPDATE k3 SET k = 202 WHERE k = '1';
-- refused: found by a query
UPDATE k3 SET k = 202 WHERE k IN (1, '1 ');
SELECT k + 0, v FROM k3 ORDER BY k;
DELETE FROM k3 WHERE k = '200';
SELECT k + 0, v FROM k3 ORDER BY k;
