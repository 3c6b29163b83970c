-- A statement that is prepared anew asks for the types of the columns that there are, whatever servers have prepared by its text before.
CREATE TABLE kept (k BIGINT UNSIGNED NOT NULL PRIMARY KEY, v INT);
INSERT INTO kept VALUES (1, 1), (2, 2);
-- args: [1]
SELECT k, v FROM kept WHERE k = ?;
-- args: [1]
SELECT COUNT(*) FROM kept WHERE v = ?;
-- args: [1]
SELECT COUNT(*) FROM kept WHERE v >= ?;
-- args: [1]
UPDATE kept SET v = v + 10 WHERE k = ?;
DROP TABLE kept;
CREATE TABLE kept (k CHAR(5) NOT NULL PRIMARY KEY, v VARCHAR(5));
INSERT INTO kept VALUES ('1', '1'), (' 1', '01'), ('01', ' 1'), ('1x', '1x'), ('a', 'a');
-- args: ["1"]
-- args: [1]
SELECT k, v FROM kept WHERE k = ?;
-- args: ["01"]
SELECT k, v FROM kept WHERE k = ?;
-- args: ["1"]
SELECT COUNT(*) FROM kept WHERE v = ?;
-- args: ["1"]
SELECT COUNT(*) FROM kept WHERE v >= ?;
-- args: ["1"]
UPDATE kept SET v = 3 WHERE k = ?;
SELECT * FROM kept ORDER BY k;
UPDATE kept SET v = NULL;
ALTER TABLE kept MODIFY v TIME;
UPDATE kept SET v = '00:00:01' WHERE k = 'a';
-- args: ["1"]
SELECT COUNT(*) FROM kept WHERE v = ?;
-- args: ["00:00:01"]
SELECT COUNT(*) FROM kept WHERE v = ?;
-- args: [1]
SELECT COUNT(*) FROM kept WHERE v >= ?;
CREATE TEMPORARY TABLE kept (k VARCHAR(5) PRIMARY KEY, v INT);
INSERT INTO kept VALUES ('1', 1), ('01', 2);
-- args: ["01"]
SELECT k, v FROM kept WHERE k = ?;
DROP TEMPORARY TABLE kept;
CREATE TEMPORARY TABLE kept (k INT PRIMARY KEY, v VARCHAR(5));
INSERT INTO kept VALUES (1, '1'), (2, '01');
-- args: ["01"]
SELECT k, v FROM kept WHERE k = ?;
-- args: ["1"]
SELECT COUNT(*) FROM kept WHERE v = ?;
DROP TEMPORARY TABLE kept;
-- args: ["01"]
SELECT k, v FROM kept WHERE k = ?;
