-- story: mariadb
-- RETURNING has its columns where no row has come, too.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20)) PARTITION BY KEY (id);
CREATE TABLE r (id INT PRIMARY KEY, a INT, b VARCHAR(20)) COMMENT 'skarv:reference';
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10));
INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd');
INSERT INTO r VALUES (1, 10, 'a'), (2, 20, 'b');
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id > 1000 RETURNING id, a + 1 AS more, b;
INSERT INTO t (id, a) SELECT id, a FROM t WHERE id > 1000 RETURNING *;
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id = 1000 RETURNING t.id, CONCAT(b, 'x');
INSERT INTO t (id, a) SELECT 1000, a FROM t WHERE id = 1000 RETURNING t.id, CONCAT(b, 'x');
INSERT INTO t (id, a) SELECT id + 100, a FROM (SELECT * FROM t) AS d WHERE id > 1000 RETURNING compat.t.id -- no row
;
INSERT INTO counted (s) SELECT b FROM t WHERE id > 1000 RETURNING id, s;
INSERT INTO counted (s) SELECT b FROM t WHERE 1 = 0 RETURNING *;
INSERT INTO r SELECT id + 10, a, b FROM r WHERE id > 1000 RETURNING id, b;
REPLACE INTO t (id, a) SELECT id + 100, a FROM t WHERE id > 1000 RETURNING id, a + 1 AS more, b;
INSERT IGNORE INTO t (id, a) SELECT id, a FROM t RETURNING id, a + 1 AS more, b;
INSERT IGNORE INTO t (id, a) VALUES (1, 1), (2, 2), (3, 3), (4, 4) RETURNING id, a + 1 AS more, b;
-- sent: length, a parameter is as wide as its value
-- args: [1000, 7]
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id > ? RETURNING id, a + ?;
INSERT INTO t (id, a) SELECT id + 100, a FROM t WHERE id > 2 RETURNING id, a + 1 AS more, b;
SELECT * FROM t ORDER BY id;
-- refused: each server would number its own rows
INSERT INTO t VALUES (2001, 1, 'x'), (2002, 2, 'y'), (2003, 3, 'z') RETURNING id, ROWNUM();
-- refused: each server would number its own rows
DELETE FROM t WHERE id > 2 RETURNING rownum();
SELECT id FROM t WHERE id < 4 ORDER BY id;
INSERT INTO t VALUES (3001, 1, 'x'), (3002, 2, 'y'), (3003, 3, 'z'), (3004, 3, 'z') RETURNING id;
SELECT FOUND_ROWS();
REPLACE INTO t VALUES (3001, 1, 'x') RETURNING id;
SELECT FOUND_ROWS();
SELECT id FROM t WHERE id < 4 ORDER BY id;
DELETE FROM t WHERE id = 3001 RETURNING id;
SELECT FOUND_ROWS();
SELECT id FROM t WHERE id < 4 ORDER BY id;
DELETE FROM t WHERE id > 3001 RETURNING id;
SELECT FOUND_ROWS();
-- Into a table with a global index and foreign keys of other node groups, computed of what several of them have.
CREATE TABLE asked (id BIGINT AUTO_INCREMENT PRIMARY KEY, txt VARCHAR(20));
CREATE TABLE answer (id BIGINT AUTO_INCREMENT PRIMARY KEY, txt VARCHAR(20), asked_id BIGINT NOT NULL, _order INT NOT NULL, u INT UNIQUE,
  CONSTRAINT answer_asked FOREIGN KEY (asked_id) REFERENCES asked (id));
INSERT INTO asked VALUES (1, 'q'), (2, 'r');
INSERT INTO answer (txt, asked_id, _order) VALUES ('y', 1, (SELECT COALESCE(MAX(U0._order) + 1, 0) AS o FROM answer U0 WHERE U0.asked_id = 1)) RETURNING answer.id;
SELECT LAST_INSERT_ID();
INSERT INTO answer (id, txt, asked_id, _order) VALUES (99, 'y', 1, (SELECT MAX(_order) + 1 FROM answer)) RETURNING id, _order, CONCAT(txt, 'x') AS c, 5;
INSERT INTO answer (txt, asked_id, _order) VALUES ('z', 7, (SELECT MAX(_order) FROM answer)) RETURNING id;
INSERT INTO answer (txt, asked_id, _order, u) VALUES ('n', 1, (SELECT COUNT(*) FROM asked), (SELECT MAX(id) FROM asked)), ('m', 2, (SELECT 5 + COUNT(*) FROM asked), 900) RETURNING txt, _order, u;
INSERT INTO answer (txt, asked_id, _order, u) VALUES ('o', 1, (SELECT COUNT(*) FROM asked), 900) RETURNING txt, _order, u;
INSERT INTO answer (txt, asked_id, _order, u) SELECT txt, asked_id, _order, id FROM answer WHERE id > 1000 RETURNING id, u, txt;
INSERT INTO answer (txt, asked_id, _order, u) SELECT 's', id, id, id + 10 FROM asked ORDER BY id RETURNING *;
-- args: ["p", 1, 1, "7"]
-- args: ["q", 1, 1, "8"]
INSERT INTO answer (txt, asked_id, _order) VALUES (?, ?, (SELECT MAX(_order) + 1 FROM answer WHERE asked_id = ?)) RETURNING txt, _order, CONCAT(txt, ?);
-- args: [3, "x"]
INSERT INTO asked (txt) VALUES ((SELECT MAX(_order) + ? FROM answer)) RETURNING txt, CONCAT(txt, ?);
-- refused: which row it meets is found out row by row
INSERT INTO answer (txt, asked_id, _order, u) VALUES ('n', 1, (SELECT COUNT(*) FROM asked), 900) ON DUPLICATE KEY UPDATE txt = 'upd' RETURNING txt, u;
SELECT txt, asked_id, _order, u FROM answer ORDER BY _order, txt;
DROP TABLE answer, asked;
