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

-- what Skarv keeps on the servers is not in information_schema
CREATE TABLE k (v INT, w VARCHAR(10), KEY v (v));
INSERT INTO k VALUES (1, 'a'), (1, 'a');
SELECT column_name, ordinal_position, column_key, extra FROM information_schema.columns WHERE table_schema = 'compat' AND table_name = 'k' ORDER BY ordinal_position;
SELECT index_name, s.column_name FROM information_schema.statistics s JOIN information_schema.columns USING (table_schema, table_name, column_name) WHERE s.table_schema = DATABASE() AND s.table_name = 'k';
SELECT COUNT(*) FROM information_schema.key_column_usage WHERE table_schema = 'compat' AND table_name = 'k';
SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = 'compat' AND table_name = 'k';
SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE '\_s%' OR schema_name = 'compat';
SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema LIKE '\_s%';
SELECT * FROM k;
DROP TABLE k;
