CREATE TABLE vd_t (id INT PRIMARY KEY, n INT, other INT DEFAULT 7);
CREATE VIEW vd_v AS SELECT id, n FROM vd_t;
CREATE VIEW vd_vv AS SELECT n, id FROM vd_v;
INSERT INTO vd_v VALUES (1, 1), (2, 2) ON DUPLICATE KEY UPDATE n = n + 10;
INSERT INTO vd_v VALUES (1, 5), (3, 2) ON DUPLICATE KEY UPDATE n = VALUES(n) + n;
INSERT INTO vd_v (n, id) VALUES (9, 3) ON DUPLICATE KEY UPDATE n = VALUES(n) + VALUES(id);
INSERT INTO vd_vv VALUES (4, 4), (5, 1) ON DUPLICATE KEY UPDATE n = VALUES(n) * 100;
INSERT INTO vd_v (id) VALUES (1) ON DUPLICATE KEY UPDATE n = other;
INSERT INTO vd_v SELECT id + 2, n FROM vd_t ON DUPLICATE KEY UPDATE n = -1;
SELECT * FROM vd_t ORDER BY id;
-- only: mysql
INSERT INTO vd_v VALUES (1, 1), (2, 2) AS new ON DUPLICATE KEY UPDATE n = new.n + 10;
-- only: mysql
-- refused: the view's name stands in the assignment
INSERT INTO vd_v VALUES (1, 5), (3, 2) AS new ON DUPLICATE KEY UPDATE n = new.n + vd_v.n;
-- only: mysql
INSERT INTO vd_v VALUES (1, 5), (3, 2) AS new(a, b) ON DUPLICATE KEY UPDATE n = b + 10;
-- only: mysql
INSERT INTO vd_v (n, id) VALUES (7, 3) AS new(a, b) ON DUPLICATE KEY UPDATE n = a + new.b;
-- only: mysql
INSERT INTO vd_v (n, id) VALUES (7, 5) AS new(a, b);
SELECT * FROM vd_t ORDER BY id;
CREATE TABLE vd_w (id INT, n INT);
CREATE VIEW vd_x AS SELECT id, n FROM vd_w;
-- only: mysql
INSERT INTO vd_w VALUES (1, 5), (3, 2) AS new(a, b);
-- only: mysql
INSERT INTO vd_w (n, id) VALUES (1, 5), (3, 2) AS new(a, b);
-- only: mysql
INSERT INTO vd_x VALUES (1, 5), (3, 2) AS new(a, b);
-- only: mysql
INSERT INTO vd_x VALUES (1, 5), (3, 2) AS new ON DUPLICATE KEY UPDATE n = new.n + 10;
INSERT INTO vd_x VALUES (1, 5), (3, 2) ON DUPLICATE KEY UPDATE n = n + 10;
SELECT * FROM vd_w ORDER BY id, n;
-- names for the columns of the new row, and one that it gets a number in
CREATE TABLE vd_n (id INT AUTO_INCREMENT PRIMARY KEY, n INT, m INT UNIQUE);
-- only: mysql
INSERT INTO vd_n (n, m) VALUES (1, 1), (2, 2) AS new(id, b);
-- only: mysql
INSERT INTO vd_n (m) VALUES (3), (4) AS new(a) ON DUPLICATE KEY UPDATE n = n + a;
-- only: mysql
INSERT INTO vd_n (m) VALUES (3) AS new(a) ON DUPLICATE KEY UPDATE n = a * 10;
SELECT n, m FROM vd_n ORDER BY m;
DROP TABLE vd_n;
DROP VIEW vd_v, vd_vv, vd_x;
DROP TABLE vd_t, vd_w;
