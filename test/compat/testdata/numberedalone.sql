-- An AUTO_INCREMENT column that no key tells rows apart by.
CREATE TABLE na (id INT NOT NULL AUTO_INCREMENT, v VARCHAR(20), KEY (id));
INSERT INTO na (v) VALUES ('one'), ('two');
SELECT LAST_INSERT_ID();
INSERT INTO na VALUES (2, 'again'), (NULL, 'three');
SELECT LAST_INSERT_ID();
INSERT INTO na (v) VALUES ('four') ON DUPLICATE KEY UPDATE v = 'met';
SELECT * FROM na ORDER BY id, v;
UPDATE na SET v = CONCAT(v, '!') WHERE id = 2;
DELETE FROM na WHERE id = 2 ORDER BY v LIMIT 1;
SELECT * FROM na ORDER BY id, v;
CREATE TABLE na_other (id INT PRIMARY KEY, n INT);
INSERT INTO na_other SELECT id, COUNT(*) FROM na GROUP BY id;
INSERT INTO na (v) SELECT CONCAT('from ', id) FROM na_other ORDER BY id;
SELECT COUNT(*), MAX(id) FROM na;
SELECT o.id, COUNT(na.id) FROM na_other o LEFT JOIN na USING (id) GROUP BY o.id ORDER BY o.id;
BEGIN;
INSERT INTO na VALUES (5, 'taken back');
ROLLBACK;
SELECT COUNT(*) FROM na WHERE v = 'taken back';
ALTER TABLE na ADD COLUMN w INT DEFAULT 7, ADD KEY (v);
SELECT DISTINCT w FROM na;
SHOW COLUMNS FROM na;
-- refused: it is said where its rows lie
CREATE TABLE na2 (id INT NOT NULL AUTO_INCREMENT, g INT, KEY (id)) PARTITION BY KEY (g);
CREATE TABLE na2 (id INT AUTO_INCREMENT, g INT, UNIQUE KEY (id));
INSERT INTO na2 (g) VALUES (1), (2), (3), (4), (5), (6), (7);
SELECT COUNT(*) FROM na2;
DROP TABLE na, na2, na_other;
