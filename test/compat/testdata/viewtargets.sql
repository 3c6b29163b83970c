-- Writes that read what they write by a view that a server does not merge, or by a derived table: it makes those rows when it needs them.
CREATE TABLE vt (id INT PRIMARY KEY, n INT);
INSERT INTO vt VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6);
CREATE TABLE vto (id INT PRIMARY KEY, n INT NOT NULL);
INSERT INTO vto VALUES (4, 4), (5, 5), (6, 6);
CREATE VIEW vtc AS SELECT COUNT(*) AS c, MAX(id) AS m, SUM(n) AS s FROM vt;
CREATE VIEW vtv AS SELECT c, m, s FROM vtc;
CREATE VIEW vtl AS SELECT id, n FROM vt ORDER BY id DESC LIMIT 1;
CREATE VIEW vtm AS SELECT id, n FROM vt;
-- refused: VALUES of several rows with subqueries over the table they are inserted into
INSERT INTO vt VALUES (11, (SELECT c FROM vtc)), (12, (SELECT c FROM vtc)), (13, (SELECT c FROM vtc));
-- refused: VALUES of several rows with subqueries over the table they are inserted into
INSERT INTO vt VALUES (11, (SELECT c FROM vtv)), (12, 1);
-- refused: VALUES of several rows with subqueries over the table they are inserted into
INSERT INTO vt VALUES ((SELECT m FROM vtc) + 1, 1), ((SELECT m FROM vtc) + 1, 2);
-- refused: VALUES of several rows with subqueries over the table they are inserted into
REPLACE INTO vt VALUES (11, (SELECT id FROM vtl)), (12, (SELECT id FROM vtl));
-- refused: VALUES of several rows with subqueries over the table they are inserted into
INSERT IGNORE INTO vt VALUES (11, (SELECT c FROM vtc)), (12, (WITH w AS (SELECT c FROM vtc) SELECT c FROM w));
-- refused: VALUES of several rows with subqueries over the table they are inserted into
INSERT INTO vt VALUES (1, (SELECT c FROM vtc)), (2, (SELECT c FROM vtc)) ON DUPLICATE KEY UPDATE n = VALUES(n);
INSERT INTO vt VALUES (11, (SELECT c FROM vtc));
INSERT INTO vto VALUES (7, (SELECT MAX(n) FROM vt)), (8, (SELECT MAX(n) FROM vt WHERE id = 2)), (9, (SELECT MAX(n) FROM vt WHERE id = 3));
INSERT INTO vto VALUES (10, (SELECT MAX(n) FROM vt));
SELECT * FROM vto ORDER BY id;
DELETE FROM vto WHERE id > 6;
INSERT INTO vt SET id = 12, n = (SELECT c FROM vtv);
REPLACE INTO vt VALUES (12, (SELECT m FROM vtc));
INSERT INTO vt VALUES ((SELECT m FROM vtc) + 1, (SELECT id FROM vtl));
SELECT * FROM vt ORDER BY id;
INSERT INTO vt SELECT id + 20, (SELECT c FROM vtc) FROM vto;
INSERT INTO vt SELECT o.id + 30, d.c FROM vto o JOIN vtc d;
INSERT INTO vt SELECT o.id + 40, d.c FROM vto o LEFT JOIN vtc d ON o.id > 4;
SELECT * FROM vt ORDER BY id;
DELETE FROM vt WHERE id > 6;
-- only: mariadb
-- refused: a write to table 'vt' that reads it by a view or a derived table
INSERT INTO vt SELECT id + 10, IF(id > 4, (SELECT c FROM vtc), 0) FROM vto;
-- only: mysql
INSERT INTO vt SELECT id + 10, IF(id > 4, (SELECT c FROM vtc), 0) FROM vto;
-- only: mariadb
-- refused: a write to table 'vt' that reads it by a view or a derived table
INSERT INTO vt SELECT id + 10, (SELECT c FROM vtc WHERE vto.id > 4) FROM vto;
INSERT INTO vt SELECT id + 50, IF(id > 4, (SELECT c FROM vtc), 0) FROM vto UNION ALL SELECT 99, (SELECT c FROM vtc);
SELECT * FROM vt ORDER BY id;
DELETE FROM vt WHERE id > 6;
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = IF(id > 3, (SELECT s FROM vtc), n + 100);
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = CASE WHEN id < 4 THEN (SELECT s FROM vtc) ELSE n + 100 END ORDER BY id DESC;
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = IF(id > 3, (SELECT SUM(n) FROM (SELECT n FROM vt GROUP BY n) d), n + 100);
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = COALESCE(IF(id < 4, id + 100, NULL), (SELECT s FROM vtc));
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = (SELECT IF(vt.id > 3, (SELECT s FROM vtc), vt.n + 100));
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = COALESCE((SELECT s FROM vtc WHERE vt.id > 3), n + 100);
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = (SELECT COALESCE(MAX(d.s), 0) FROM vto JOIN (SELECT SUM(n) AS s FROM vt) d ON vto.id = vt.id);
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt JOIN vto ON vto.id = vt.id SET vt.n = IF(vt.id > 4, (SELECT COUNT(*) FROM (SELECT n FROM vt GROUP BY n) d), 9);
-- refused: a write to table 'vt' that reads it by a view or a derived table
UPDATE vt SET n = n + 100 WHERE id < 3 OR (SELECT s FROM vtc) > 100;
-- refused: a write to table 'vt' that reads it by a view or a derived table
DELETE FROM vt WHERE id < 3 OR (SELECT s FROM vtc) < 20;
-- refused: a write to table 'vt' that reads it by a view or a derived table
DELETE FROM vt WHERE id < 3 OR EXISTS (SELECT 1 FROM (SELECT SUM(n) AS s FROM vt) d WHERE d.s < 20 AND vt.id > 3);
-- refused: a write to table 'vt' that reads it by a view or a derived table
DELETE vt FROM vt LEFT JOIN vto ON vto.id = vt.id WHERE vt.id < 3 OR (SELECT s FROM vtc) < 20;
UPDATE vt SET n = IF(id > 3, (SELECT s FROM vtc), n + 100) WHERE id = 4;
UPDATE vt SET n = (SELECT s FROM vtc) + n WHERE id < 3;
UPDATE vt SET n = n + (SELECT s FROM vtc) WHERE id > 4;
UPDATE vt SET n = ROUND((SELECT s FROM vtv), 1), id = id WHERE n < (SELECT s FROM vtc) - 100 AND id IN (SELECT id FROM (SELECT id FROM vt GROUP BY id) x);
SELECT * FROM vt ORDER BY id;
UPDATE vt SET n = (SELECT COUNT(d.n) FROM (SELECT id, n FROM vt GROUP BY id, n) d WHERE d.id <= vt.id);
SELECT * FROM vt ORDER BY id;
UPDATE vt JOIN (SELECT MAX(id) AS id FROM vt GROUP BY n DIV 2) d ON d.id = vt.id SET vt.n = vt.n + 50;
DELETE FROM vt WHERE id NOT IN (SELECT m FROM (SELECT MAX(id) AS m FROM vt GROUP BY n DIV 3) d) AND (SELECT c FROM vtc) > 3;
SELECT * FROM vt ORDER BY id;
CREATE TABLE vtp (id INT PRIMARY KEY, n INT);
CREATE TABLE vtk (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES vtp (id) ON DELETE CASCADE);
CREATE VIEW vtkm AS SELECT id, pid FROM vtk;
CREATE VIEW vtka AS SELECT COUNT(*) AS c FROM vtk;
INSERT INTO vtp VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO vtk VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 3);
-- only: mariadb
-- refused: subqueries over sharded or single tables in VALUES
REPLACE INTO vtp VALUES (1, (SELECT COUNT(*) FROM vtkm)), (2, (SELECT COUNT(*) FROM vtkm)), (3, (SELECT COUNT(*) FROM vtkm));
SELECT * FROM vtk ORDER BY id;
