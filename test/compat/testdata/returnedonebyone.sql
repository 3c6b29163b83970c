-- RETURNING of rows that are written one by one, as Django asks for them behind bulk_create(update_conflicts=True).
-- story: mariadb
CREATE TABLE ru (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, name VARCHAR(20) DEFAULT 'x', f FLOAT DEFAULT 0.1, g INT AS (n * 2), UNIQUE KEY number (n));
CREATE TABLE rp (id INT PRIMARY KEY);
INSERT INTO rp VALUES (1), (2), (3);
CREATE TABLE rf (id BIGINT AUTO_INCREMENT PRIMARY KEY, p INT, n INT, UNIQUE KEY (n), FOREIGN KEY (p) REFERENCES rp (id));
INSERT INTO `ru` (`n`, `name`) VALUES (1, 'a'), (2, 'b'), (3, 'c') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING `ru`.`id`;
INSERT INTO `ru` (`n`, `name`) VALUES (2, 'bb') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING `ru`.`id`, name AS 'called', `n` m, g;
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO `ru` (`n`, `name`) VALUES (2, 'bb') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING *;
INSERT INTO ru SET n = 3, name = 'cc' ON DUPLICATE KEY UPDATE name = VALUES(name) RETURNING id, name;
INSERT IGNORE INTO ru (n, name) VALUES (3, 'no') RETURNING id;
INSERT IGNORE INTO ru (id, n, name) VALUES (20, 3, 'no'), (21, 4, 'd'), (22, 4, 'no'), (23, 5, 'e') RETURNING ru.*, f;
REPLACE INTO ru (id, n) VALUES (30, 1), (31, 9) RETURNING id, n;
SELECT ROW_COUNT();
-- args: [31, 9, "nine"]
-- args: [32, 9, "nine!"]
INSERT INTO ru (id, n, name) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name) RETURNING id, name, f;
-- args: [33, 5]
-- args: [34, 10]
INSERT IGNORE INTO ru (id, n) VALUES (?, ?) RETURNING id, n;
-- refused: RETURNING of expressions
INSERT INTO ru (n) VALUES (2) ON DUPLICATE KEY UPDATE name = 'y' RETURNING id + 1;
-- refused: RETURNING of expressions
INSERT INTO ru (n) VALUES (2) ON DUPLICATE KEY UPDATE name = 'y' RETURNING id, CURRENT_USER;
INSERT INTO ru (n) VALUES (2) ON DUPLICATE KEY UPDATE name = 'y' RETURNING id, nothing;
INSERT INTO ru (id, n) VALUES (40, 40) RETURNING id + 1, nothing;
INSERT INTO rf (p, n) VALUES (1, 1), (2, 2) ON DUPLICATE KEY UPDATE p = VALUES(p) RETURNING id, p;
INSERT INTO rf (p, n) VALUES (3, 1), (4, 2) ON DUPLICATE KEY UPDATE p = VALUES(p) RETURNING id, p;
INSERT INTO rf (p, n) VALUES (3, 1), (1, 2) ON DUPLICATE KEY UPDATE p = VALUES(p) RETURNING id, p;
INSERT IGNORE INTO rf (id, p, n) VALUES (50, 3, 10), (51, 4, 11), (52, NULL, 12) RETURNING id, p;
BEGIN;
SELECT COUNT(*) FROM ru;
INSERT INTO ru (id, n, name) VALUES (60, 60, 'in') ON DUPLICATE KEY UPDATE name = 'out' RETURNING id, name;
INSERT INTO ru (id, n, name) VALUES (61, 60, 'in') ON DUPLICATE KEY UPDATE name = 'out' RETURNING id, name;
ROLLBACK;
SELECT * FROM ru ORDER BY id;
SELECT * FROM rf ORDER BY id;
-- LAST_INSERT_ID() behind them.
CREATE TABLE ri (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, name VARCHAR(20), UNIQUE KEY number (n));
CREATE TABLE rj (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20));
INSERT INTO ri (`n`, `name`) VALUES (1, 'a'), (2, 'b'), (3, 'c') RETURNING id;
INSERT INTO ri (`n`, `name`) VALUES (2, 'bb') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`);
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO ri (`n`, `name`) VALUES (1, 'bb') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING id;
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO rj (name) VALUES ('x'), ('y'), ('z');
INSERT INTO rj (id, name) VALUES (2, 'xx') ON DUPLICATE KEY UPDATE name = 'xx';
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO rj (id, name) VALUES (3, 'xx') ON DUPLICATE KEY UPDATE name = 'xx' RETURNING id;
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO ri (`n`, `name`) VALUES (1, 'ba'), (3,'ddd') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING id;
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO ri (`n`, `name`) VALUES (1, 'ba'), (3,'ddd') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING id;
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO ri (`n`, `name`) VALUES (1, 'bag'), (7,'ddd') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING name;
SELECT ROW_COUNT();
SELECT LAST_INSERT_ID() = (SELECT id FROM ri WHERE n = 7);
INSERT INTO ri (`n`, `name`) VALUES (8, 'bag'), (7,'ddz') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`) RETURNING name;
SELECT LAST_INSERT_ID() = (SELECT id FROM ri WHERE n = 8);
INSERT IGNORE INTO ri (`n`, `name`) VALUES (8, 'bag'), (7,'ddz') RETURNING name;
SELECT LAST_INSERT_ID() = (SELECT id FROM ri WHERE n = 8);
REPLACE INTO ri (`n`, `name`) VALUES (8, 'bag'), (7,'ddz') RETURNING name;
SELECT LAST_INSERT_ID() = (SELECT id FROM ri WHERE n = 8);
INSERT INTO ri (`n`, `name`) VALUES (8, 'bagz') ON DUPLICATE KEY UPDATE `name` = VALUES(`name`), id = LAST_INSERT_ID(id) RETURNING name;
SELECT LAST_INSERT_ID() = (SELECT id FROM ri WHERE n = 8);
