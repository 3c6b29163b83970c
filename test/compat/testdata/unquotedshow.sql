-- What SHOW CREATE TABLE quotes by sql_quote_show_create and sql_mode is nothing that writes depend on.
CREATE TABLE uq_t (id INT PRIMARY KEY, g INT, u INT UNIQUE, v VARCHAR(20) NOT NULL DEFAULT 'x', e VARCHAR(20) NOT NULL DEFAULT (CONCAT('q', 'r')), CONSTRAINT uq_check CHECK (g < 1000));
CREATE TABLE uq_o (id INT PRIMARY KEY, g INT);
INSERT INTO uq_o VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8);
-- skip-prepared
CREATE TRIGGER uq_i BEFORE INSERT ON uq_t FOR EACH ROW BEGIN DECLARE x INT; SELECT COUNT(*) INTO x FROM uq_o; SET NEW.g = x, NEW.v = CONCAT(IFNULL(NEW.v, 'nul'), x); END;
-- skip-prepared
CREATE TRIGGER uq_u BEFORE UPDATE ON uq_t FOR EACH ROW BEGIN DECLARE x INT; SELECT COUNT(*) INTO x FROM uq_o; SET NEW.g = x + 1, NEW.v = CONCAT(IFNULL(NEW.v, 'nul'), x); END;
SET sql_quote_show_create = 0;
INSERT INTO uq_t (id, u, g) VALUES (11, 11, 1), (12, 12, 5000);
INSERT INTO uq_t (id, u, g, v) VALUES (14, 14, 1, NULL), (15, 15, NULL, 'z');
UPDATE uq_t SET g = 4000 WHERE id = 11;
UPDATE uq_t SET v = NULL WHERE id = 12;
SET sql_quote_show_create = 1;
SET sql_mode = 'ANSI_QUOTES';
INSERT INTO uq_t (id, u, g) VALUES (21, 21, 1), (22, 22, 5000);
INSERT INTO uq_t (id, u, g, v) VALUES (25, 25, NULL, 'z');
UPDATE uq_t SET g = 4000 WHERE id = 21;
UPDATE uq_t SET v = NULL WHERE id = 22;
SET sql_mode = DEFAULT;
SELECT @@sql_quote_show_create;
SELECT * FROM uq_t ORDER BY id;
SET sql_quote_show_create = 0;
CREATE TEMPORARY TABLE uq_temp (id INT PRIMARY KEY, n INT, CHECK (n < 100));
INSERT INTO uq_temp VALUES (1, 10), (2, 20);
SELECT uq_o.id, n FROM uq_temp JOIN uq_o USING (id) ORDER BY id;
UPDATE uq_o JOIN uq_temp USING (id) SET uq_o.g = n;
CREATE TEMPORARY TABLE `uq temp` (id INT PRIMARY KEY, n INT);
INSERT INTO `uq temp` SELECT * FROM uq_o;
SELECT SUM(n) FROM `uq temp`;
DROP TEMPORARY TABLE uq_temp, `uq temp`;
CREATE TABLE uq_made (n INT, PRIMARY KEY (id), CHECK (n < 100)) SELECT id, g FROM uq_o;
SELECT * FROM uq_made ORDER BY id;
CREATE TABLE uq_text (id INT PRIMARY KEY, t TEXT, FULLTEXT KEY (t), CHECK (id < 100));
INSERT INTO uq_text VALUES (1, 'one two'), (2, 'two three'), (3, 'four');
SELECT a.id, b.id FROM uq_text a JOIN uq_text b ON a.id = b.id + 1 ORDER BY a.id;
SELECT a.id, a.n FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY t) AS n FROM uq_text) a ORDER BY a.n;
SET sql_quote_show_create = 1;
