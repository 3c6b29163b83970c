-- what client libraries and tools send that is easily forgotten

-- skip-prepared
/* nothing but a comment */;
-- skip-prepared
/*!99999 for a later server */;
CREATE TABLE c (id INT PRIMARY KEY, v INT);
SET SESSION TRANSACTION READ ONLY;
DROP TABLE c;
CREATE TABLE d (id INT PRIMARY KEY);
INSERT INTO c VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO c VALUES (1, 1);
SET SESSION TRANSACTION READ WRITE;
START TRANSACTION READ ONLY;
DROP TABLE c;
ROLLBACK;
CREATE TABLE c (id INT PRIMARY KEY, v INT);
INSERT INTO c VALUES (1, 1), (2, 2), (3, 3);
SELECT * FROM c ORDER BY id;
DROP TABLE c;
