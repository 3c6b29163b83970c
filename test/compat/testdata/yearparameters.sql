-- Parameters that are compared with a YEAR. A string meets it as it is, unless it is an integer that no year is: then MySQL prepares the
-- statement again, for good.
CREATE TABLE years (k YEAR NOT NULL PRIMARY KEY, m YEAR, v INT NOT NULL);
INSERT INTO years VALUES (0, 2001, 0), (2001, 1999, 0), (2024, 2000, 0), (1999, 2001, 0), (1970, 1999, 0), (2000, 2000, 0);
-- args: [2024]
-- args: ["2024"]
-- args: ["2024.4"]
-- args: ["2024.0"]
-- args: ["2.024e3"]
-- args: ["24"]
-- args: [24]
-- args: ["1970x"]
-- args: ["3000"]
-- args: ["24"]
UPDATE years SET v = v + 1 WHERE k = ?;
-- args: [2024]
-- args: ["2024"]
-- args: ["-1"]
-- args: ["24"]
-- args: [24]
-- args: ["2024"]
UPDATE years SET v = v + 1 WHERE k = ?;
-- args: ["99999999999999999999"]
-- args: ["24"]
-- args: ["1999"]
UPDATE years SET v = v + 1 WHERE m = ?;
-- args: ["2024.4", 0]
-- args: ["2024", 0]
DELETE FROM years WHERE k = ? AND v = ?;
SELECT * FROM years ORDER BY k;
-- NULL leaves a parameter a YEAR when another one makes the server prepare the statement again: '0' is 2000 to it, which no number says.
-- only: mysql
-- gap: refused, the statement must be prepared anew
-- args: [null, "-1", 2024]
-- args: ["0", "1999", 0]
UPDATE years SET m = ? WHERE k = ? OR m = ?;
