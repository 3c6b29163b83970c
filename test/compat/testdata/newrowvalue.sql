-- MariaDB's VALUE(column), the newer name of VALUES(column), wherever an INSERT goes.
-- only: mariadb
CREATE TABLE nv_t (id INT PRIMARY KEY, n INT, s VARCHAR(20));
-- only: mariadb
INSERT INTO nv_t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c') ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mariadb
INSERT INTO nv_t VALUES (1, 10, 'x') ON DUPLICATE KEY UPDATE n = VALUE(n), s = VALUE(s);
-- only: mariadb
INSERT INTO nv_t (id, n, s) VALUES (1, 5, 'y'), (2, 6, 'z'), (4, 7, 'd'), (5, 8, 'e') ON DUPLICATE KEY UPDATE n = n + VALUE(n), s = CONCAT(s, value ( s ));
-- only: mariadb
INSERT INTO nv_t (id, n, s) VALUE (2, 1, 'p'), (3, 1, 'q') ON DUPLICATE KEY UPDATE n = IF(VALUE(nv_t.n) > 0, VALUES(n) * 100, VALUE(`n`)), s = VALUE(s);
-- only: mariadb
INSERT INTO nv_t SET id = 3, n = 9 ON DUPLICATE KEY UPDATE n = CASE WHEN VALUE(n) THEN VALUE(id) ELSE VALUE(n) END, id = VALUE(id);
-- only: mariadb
INSERT INTO nv_t (id, n) SELECT id + 3, n FROM nv_t ON DUPLICATE KEY UPDATE n = nv_t.n + VALUE(n);
-- only: mariadb
INSERT INTO nv_t (id, n) SELECT q.id + 1, q.n FROM nv_t AS q ORDER BY q.id DESC LIMIT 3 ON DUPLICATE KEY UPDATE n = -VALUE(n);
-- only: mariadb
-- refused: the distribution column 'id'
INSERT INTO nv_t (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE id = VALUE(id) + 0;
-- only: mariadb
INSERT INTO nv_t (id, n) VALUES (1, 1), (3, 2) ON DUPLICATE KEY UPDATE n = VALUE(nothing);
-- only: mariadb
INSERT INTO nv_t (id, n) VALUES (1, 1), (3, 2) ON DUPLICATE KEY UPDATE n = VALUE(1);
-- only: mariadb
-- args: [1, 30, "ä"]
INSERT INTO nv_t (id, n, s) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE n = VALUE(n), s = VALUE(s);
-- only: mariadb
SELECT * FROM nv_t ORDER BY id;
-- only: mariadb
INSERT IGNORE INTO nv_t (id, n) VALUES (1, 'x'), (6, 2) ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mariadb
INSERT INTO nv_t (id, n) VALUES (1, 2), (7, 3) ON DUPLICATE KEY UPDATE n = VALUE(n) RETURNING id, n;
-- only: mariadb
SELECT * FROM nv_t ORDER BY id;
-- Global unique indexes.
-- only: mariadb
CREATE TABLE nv_unique (id INT PRIMARY KEY, u INT UNIQUE, w VARCHAR(10) UNIQUE, n INT);
-- only: mariadb
INSERT INTO nv_unique VALUES (1, 1, 'a', 0), (2, 2, 'b', 0), (3, 3, 'c', 0), (4, 4, 'd', 0);
-- only: mariadb
INSERT INTO nv_unique VALUES (11, 1, 'x', 5), (2, 22, 'y', 6), (13, 13, 'c', 7), (14, 14, 'z', 8) ON DUPLICATE KEY UPDATE n = VALUE(n), u = VALUE(u);
-- only: mariadb
INSERT INTO nv_unique (id, u, n) VALUES (9, 13, 1) ON DUPLICATE KEY UPDATE w = CONCAT('w', VALUE(id)), n = n + VALUE(n);
-- only: mariadb
INSERT INTO nv_unique (id, u, n) SELECT id + 20, u, n FROM nv_unique WHERE u > 2 ON DUPLICATE KEY UPDATE n = nv_unique.n + VALUE(n);
-- only: mariadb
SELECT * FROM nv_unique ORDER BY id;
-- Reference tables, tables on one node group, tables with an AUTO_INCREMENT column.
-- only: mariadb
CREATE TABLE nv_ref (id INT PRIMARY KEY, n INT, t DATETIME(6)) COMMENT 'skarv:reference';
-- only: mariadb
INSERT INTO nv_ref VALUES (1, 1, '2020-01-01'), (2, 2, '2020-01-02');
-- only: mariadb
INSERT INTO nv_ref (id, n) VALUES (1, 5), (3, 6) ON DUPLICATE KEY UPDATE n = VALUE(n) + n;
-- only: mariadb
INSERT INTO nv_ref (id, n) SELECT id, n FROM nv_t WHERE id < 3 ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mariadb
SELECT * FROM nv_ref ORDER BY id;
-- only: mariadb
CREATE TABLE nv_one (id INT PRIMARY KEY, n INT) COMMENT 'skarv:single';
-- only: mariadb
INSERT INTO nv_one VALUES (1, 1), (2, 2);
-- only: mariadb
INSERT INTO nv_one VALUES (1, 7), (3, 3) ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mariadb
SELECT * FROM nv_one ORDER BY id;
-- only: mariadb
CREATE TABLE nv_auto (id INT AUTO_INCREMENT PRIMARY KEY, k INT, n INT, UNIQUE KEY (k, id)) COMMENT 'skarv:key=id';
-- only: mariadb
INSERT INTO nv_auto (id, k, n) VALUES (1, 1, 1), (2, 2, 2);
-- only: mariadb
INSERT INTO nv_auto (id, k, n) VALUES (1, 1, 7), (2, 2, 8) ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mariadb
SELECT * FROM nv_auto ORDER BY id;
-- Views, triggers that Skarv runs, programs.
-- only: mariadb
CREATE VIEW nv_view AS SELECT id, n, s FROM nv_t;
-- only: mariadb
INSERT INTO nv_view VALUES (1, 41, 'v'), (2, 42, 'v') ON DUPLICATE KEY UPDATE n = VALUE(n), s = VALUE(s);
-- only: mariadb
CREATE TABLE nv_log (id INT PRIMARY KEY, n INT);
-- only: mariadb
INSERT INTO nv_log VALUES (0, 0);
-- only: mariadb
CREATE TABLE nv_fires (id INT PRIMARY KEY, n INT);
-- only: mariadb
-- skip-prepared
CREATE TRIGGER nv_tr BEFORE INSERT ON nv_fires FOR EACH ROW INSERT INTO nv_log VALUES (NEW.id, NEW.n) ON DUPLICATE KEY UPDATE n = VALUE(n) + 1;
-- only: mariadb
INSERT INTO nv_fires VALUES (1, 1), (2, 2);
-- only: mariadb
INSERT INTO nv_fires VALUES (1, 5), (3, 6) ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mariadb
SELECT * FROM nv_fires ORDER BY id;
-- only: mariadb
SELECT * FROM nv_log ORDER BY id;
-- only: mariadb
-- skip-prepared
CREATE PROCEDURE nv_p(n INT) BEGIN INSERT INTO nv_t (id, n) VALUES (1, n), (2, n + 1) ON DUPLICATE KEY UPDATE n = VALUE(n) + n; END;
-- only: mariadb
CALL nv_p(100);
-- only: mariadb
SELECT * FROM nv_t ORDER BY id;
-- A table and columns of that name.
-- only: mariadb
CREATE TABLE `value` (value INT PRIMARY KEY, n INT);
-- only: mariadb
INSERT INTO `value` (value, n) VALUES (1, 1), (2, 2);
-- only: mariadb
INSERT INTO compat.`value` (value, n) VALUE (1, 5), (3, 6) ON DUPLICATE KEY UPDATE n = VALUE(value) + VALUE(n) + value;
-- only: mariadb
INSERT INTO `value` VALUE (1, 5), (4, 6) ON DUPLICATE KEY UPDATE n = VALUE(value.value) + VALUE(compat.value.n) + `value`.value;
-- only: mariadb
SELECT * FROM `value` ORDER BY value;
-- only: mysql
CREATE TABLE nv_t (id INT PRIMARY KEY, n INT);
-- only: mysql
INSERT INTO nv_t VALUES (1, 1), (2, 2), (3, 3) ON DUPLICATE KEY UPDATE n = VALUE(n);
-- only: mysql
INSERT INTO nv_t VALUE (1, 1), (2, 2), (3, 3);
-- only: mysql
SELECT * FROM nv_t ORDER BY id;
