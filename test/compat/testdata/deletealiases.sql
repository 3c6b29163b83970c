-- Rows of one table deleted under two names, and writes to several tables of which one has a UNIQUE KEY without the distribution key.
CREATE TABLE wp_options (option_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, option_name VARCHAR(191) NOT NULL DEFAULT '', option_value LONGTEXT NOT NULL, autoload VARCHAR(20) NOT NULL DEFAULT 'yes', UNIQUE KEY option_name (option_name), KEY autoload (autoload));
INSERT INTO wp_options (option_name, option_value) VALUES ('_transient_a', 'x'), ('_transient_timeout_a', '10'), ('_transient_b', 'y'), ('_transient_timeout_b', '9999999999'), ('siteurl', 'u');
DELETE a, b FROM wp_options a, wp_options b WHERE a.option_name LIKE '\_transient\_%' AND a.option_name NOT LIKE '\_transient\_timeout\_%' AND b.option_name = CONCAT('_transient_timeout_', SUBSTRING(a.option_name, 12)) AND b.option_value < 1700000000;
SELECT ROW_COUNT();
SELECT option_name FROM wp_options ORDER BY option_name;
INSERT INTO wp_options (option_name, option_value) VALUES ('_transient_a', 'x');
INSERT INTO wp_options (option_name, option_value) VALUES ('siteurl', 'x');
-- The same row under both names counts once.
CREATE TABLE tree (id INT PRIMARY KEY, parent INT, n INT);
INSERT INTO tree VALUES (1, NULL, 1), (2, 1, 1), (3, 1, 2), (4, 2, 1), (5, 4, 3), (6, 3, 1), (7, 99, 1);
DELETE p, c FROM tree p JOIN tree c ON c.parent = p.id WHERE p.n = 1;
SELECT ROW_COUNT();
SELECT * FROM tree ORDER BY id;
DELETE FROM p, c USING tree p LEFT JOIN tree c ON c.parent = p.id WHERE p.id IN (3, 7);
SELECT ROW_COUNT();
SELECT * FROM tree ORDER BY id;
DELETE p, c, q FROM tree p JOIN tree c JOIN tree q WHERE p.id = c.id AND q.id = 99;
SELECT ROW_COUNT();
-- One of the names is only read.
INSERT INTO tree VALUES (10, NULL, 1), (11, 10, 1), (12, 10, 2), (13, 11, 1);
DELETE p, c FROM tree p JOIN tree c ON c.parent = p.id JOIN tree r ON r.id = p.parent WHERE r.id = 10;
SELECT ROW_COUNT();
SELECT * FROM tree ORDER BY id;
-- Settings of the session that concern statements are for its own.
CREATE TABLE safe (id INT PRIMARY KEY, parent INT, n INT, KEY (parent));
INSERT INTO safe VALUES (1, NULL, 1), (2, 1, 1), (3, 1, 2), (4, 2, 1), (5, 4, 3), (6, 3, 1), (7, 99, 1);
SET sql_safe_updates = 1;
DELETE p, c FROM safe p JOIN safe c ON c.parent = p.id WHERE p.id = 1 AND c.id IN (2, 3);
SELECT * FROM safe ORDER BY id;
SET sql_safe_updates = 0;
SET sql_select_limit = 1;
DELETE p, c FROM safe p JOIN safe c ON c.n = p.n;
SELECT ROW_COUNT();
SET sql_select_limit = DEFAULT;
SELECT * FROM safe ORDER BY id;
DROP TABLE safe;
-- A key of two columns, of strings.
CREATE TABLE pairs (a VARCHAR(10) NOT NULL, b INT NOT NULL, m VARCHAR(20), PRIMARY KEY (a, b), UNIQUE KEY m (m)) COMMENT 'skarv:key=a';
INSERT INTO pairs VALUES ('x', 1, 'x1'), ('X', 2, 'x2'), ('y', 1, 'y1'), ('y', 2, NULL), ('é', 1, 'e1');
DELETE l, r FROM pairs l JOIN pairs r ON l.b = r.b AND l.a < r.a WHERE l.m <> 'none';
SELECT ROW_COUNT();
SELECT * FROM pairs ORDER BY a, b;
INSERT INTO pairs VALUES ('z', 1, 'x1'), ('z', 2, 'x2');
SELECT * FROM pairs ORDER BY a, b;
-- In a transaction that is undone.
BEGIN;
DELETE l, r FROM pairs l JOIN pairs r ON l.b = r.b;
SELECT ROW_COUNT();
SELECT COUNT(*) FROM pairs;
ROLLBACK;
SELECT * FROM pairs ORDER BY a, b;
-- Several tables, each with such a key.
CREATE TABLE users (id INT PRIMARY KEY, mail VARCHAR(30) UNIQUE, n INT);
INSERT INTO users VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, NULL, 4);
UPDATE users u JOIN pairs p ON p.b = u.id SET u.mail = CONCAT(u.mail, '2'), p.m = CONCAT(p.m, u.n);
SELECT * FROM users ORDER BY id;
SELECT * FROM pairs ORDER BY a, b;
INSERT INTO users VALUES (5, 'a', 5), (6, 'b2', 5);
INSERT INTO users VALUES (5, 'a', 5);
UPDATE users u JOIN pairs p ON p.b = u.id SET u.mail = 'c', p.m = CONCAT(p.m, 'x') WHERE u.id = 1 AND p.a = 'z';
SELECT * FROM users ORDER BY id;
SELECT * FROM pairs ORDER BY a, b;
DELETE u, p FROM users u JOIN pairs p ON p.b = u.id;
SELECT ROW_COUNT();
SELECT * FROM users ORDER BY id;
SELECT * FROM pairs ORDER BY a, b;
INSERT INTO users VALUES (7, 'a2', 5);
INSERT INTO pairs VALUES ('w', 1, 'x11');
-- Rows that others refer to, on other node groups, and triggers.
CREATE TABLE parent (id INT PRIMARY KEY, g INT, code VARCHAR(10) UNIQUE);
CREATE TABLE child (id INT PRIMARY KEY, code VARCHAR(10), FOREIGN KEY (code) REFERENCES parent (code) ON DELETE SET NULL);
INSERT INTO parent VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 3, 'd');
INSERT INTO child VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'a');
DELETE l, r FROM parent l JOIN parent r ON r.g = l.g AND r.id > l.id;
SELECT ROW_COUNT();
SELECT * FROM parent ORDER BY id;
SELECT * FROM child ORDER BY id;
CREATE TABLE gone (n INT AUTO_INCREMENT PRIMARY KEY, id INT);
CREATE TABLE noted (id INT PRIMARY KEY, g INT);
INSERT INTO noted VALUES (1, 1), (2, 1), (3, 1), (4, 2);
-- skip-prepared
CREATE TRIGGER noted_gone AFTER DELETE ON noted FOR EACH ROW INSERT INTO gone (id) VALUES (OLD.id);
-- refused: whose triggers use other tables
DELETE l, r FROM noted l JOIN noted r ON r.g = l.g AND r.id > l.id;
DROP TABLE child, parent, noted, gone;
-- What is written under two names by UPDATE is not sure to be done.
-- refused: changing
UPDATE users l JOIN users r ON r.id = l.id + 1 SET l.mail = 'l', r.mail = 'r';
SELECT * FROM users ORDER BY id;
DROP TABLE wp_options, tree, pairs, users;
