-- A view without CHECK OPTION over one that has it.
CREATE TABLE vk (id INT PRIMARY KEY, n INT);
CREATE TABLE vk_from (k INT PRIMARY KEY, n INT, id INT);
INSERT INTO vk VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO vk_from VALUES (1, 5, 1), (9, 9, 9);
CREATE VIEW vk_in AS SELECT id, n FROM vk WHERE n < 10 WITH CHECK OPTION;
CREATE VIEW vk_out AS SELECT id, n FROM vk_in;
CREATE VIEW vk_some AS SELECT id, n FROM vk_in WHERE id < 100;
INSERT INTO vk_in VALUES (49, 50);
INSERT INTO vk_out VALUES (50, 50);
INSERT INTO vk_some VALUES (51, 50);
UPDATE vk_out SET n = 20 WHERE id = 1;
UPDATE vk_some SET n = 20 WHERE id = 2;
REPLACE INTO vk_out VALUES (3, 50);
INSERT INTO vk_out SELECT id + 60, 60 FROM vk_from;
UPDATE vk_in SET n = 20 WHERE n = 2;
INSERT INTO vk_out VALUES (70, 7);
SELECT * FROM vk ORDER BY id;
-- only: mariadb
INSERT INTO vk SELECT id, n FROM vk_from ON DUPLICATE KEY UPDATE n = n + 100;
INSERT INTO vk SELECT k, n FROM vk_from ON DUPLICATE KEY UPDATE n = 100;
INSERT INTO vk SELECT k, q FROM (SELECT k, n AS q FROM vk_from) AS d ON DUPLICATE KEY UPDATE n = vk.n + 1;
INSERT INTO vk SELECT k, n FROM vk_from ON DUPLICATE KEY UPDATE vk.n = vk.n + 1;
SELECT * FROM vk ORDER BY id;
DROP VIEW vk_some, vk_out, vk_in;
DROP TABLE vk_from;
DROP TABLE vk;
