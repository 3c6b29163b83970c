-- story: mariadb
-- With EMPTY_STRING_IS_NULL '' is NULL, but no empty string that comes from elsewhere is.

CREATE TABLE emptied (id INT PRIMARY KEY, s VARCHAR(20), x VARCHAR(20) DEFAULT '', b VARBINARY(5), UNIQUE (x, id));
CREATE TABLE emptied_log (id INT PRIMARY KEY, s VARCHAR(20));
SET sql_mode = 'EMPTY_STRING_IS_NULL', @e = LEFT('a', 0), @i = 1;
PREPARE p FROM 'INSERT INTO emptied VALUES (?, ?, 1, ?)';
EXECUTE p USING @i, @e, @e;
EXECUTE p USING 2, LEFT('a', 0), LEFT('b', 0);
EXECUTE p USING 3, '', NULL;
SELECT id, s IS NULL, b IS NULL FROM emptied ORDER BY id;
EXECUTE IMMEDIATE 'SELECT ? IS NULL' USING @e;
EXECUTE IMMEDIATE 'SELECT ? IS NULL' USING LEFT('a', 0);
EXECUTE IMMEDIATE 'SELECT ? IS NULL' USING '';
EXECUTE IMMEDIATE 'SELECT ? IS NULL FROM emptied WHERE id = 2' USING @e;
EXECUTE IMMEDIATE 'SELECT COUNT(*), ? IS NULL FROM emptied' USING @e;
EXECUTE IMMEDIATE 'UPDATE emptied SET x = ? WHERE id < 9' USING LEFT('a', 0);
SELECT id, s IS NULL, x IS NULL FROM emptied ORDER BY id;
-- skip-prepared
CREATE TRIGGER emptied_in AFTER INSERT ON emptied FOR EACH ROW INSERT INTO emptied_log VALUES (NEW.id, NEW.s);
-- skip-prepared
CREATE TRIGGER emptied_up BEFORE UPDATE ON emptied FOR EACH ROW UPDATE emptied_log SET s = CONCAT(NEW.s, 'u') WHERE id = NEW.id;
INSERT INTO emptied VALUES (10, LEFT('a', 0), 'x', 'b'), (11, 'a', LEFT('a', 0), ''), (12, '', 'x', LEFT('a', 0));
INSERT INTO emptied SELECT id + 100, LEFT('a', 0), s, b FROM emptied;
SELECT id, s IS NULL, x IS NULL, b IS NULL FROM emptied ORDER BY id;
SELECT id, s IS NULL FROM emptied_log ORDER BY id;
UPDATE emptied SET b = 'q' WHERE id > 9;
UPDATE emptied SET s = LEFT('a', 0) WHERE id IN (12, 101);
UPDATE emptied SET id = id + 1000 WHERE id > 9;
SELECT id, s IS NULL, x IS NULL, b IS NULL FROM emptied ORDER BY id;
SELECT id, s, s IS NULL FROM emptied_log ORDER BY id;
SET sql_mode = DEFAULT;
DROP TABLE emptied, emptied_log;
