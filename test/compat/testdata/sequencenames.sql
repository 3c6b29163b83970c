-- story: mysql
-- Without sequences their functions' names are free.
CREATE TABLE lastval (id INT PRIMARY KEY, nextval INT, KEY nextval (nextval));
INSERT INTO lastval (id, nextval) VALUES (1, 10), (2, 20);
SELECT id, nextval AS n FROM lastval ORDER BY id;
-- skip-prepared
CREATE FUNCTION nextval(n VARCHAR(20)) RETURNS INT DETERMINISTIC RETURN CHAR_LENGTH(n) + 1;
SELECT nextval('abc');
SELECT id, nextval('abc') + id FROM lastval ORDER BY id;
INSERT INTO lastval VALUES (nextval('ab'), nextval(''));
SELECT * FROM lastval ORDER BY id;
-- skip-prepared
DROP FUNCTION nextval;
DROP TABLE lastval;
