-- UPDATE and DELETE, by what other node groups have, of rows with entries in global indexes and with foreign keys to rows elsewhere.
CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(30), name VARCHAR(20), n INT, UNIQUE KEY mail (email));
INSERT INTO users (id, email, name, n) VALUES (1, 'a@x', 'Ann', 1), (2, 'b@x', 'Bob', 2), (3, 'c@x', 'Cid', 3), (4, NULL, 'Dan', 4), (5, 'e@x', 'Eve', 5), (6, 'f@x', 'Fay', 6), (7, 'g@x', NULL, 7);
CREATE TABLE aliases (id INT PRIMARY KEY, user INT, alias VARCHAR(30));
INSERT INTO aliases VALUES (10, 1, 'ann@y'), (20, 2, 'b2@x'), (30, 3, NULL), (40, 4, 'dan@y'), (50, 5, 'a@x'), (60, 99, 'nobody');
UPDATE users JOIN aliases ON aliases.user = users.id SET users.email = aliases.alias WHERE users.id < 5;
SELECT * FROM users ORDER BY id;
SELECT id FROM users WHERE email = 'ann@y';
SELECT id FROM users WHERE email = 'a@x';
UPDATE users JOIN aliases ON aliases.user = users.id SET users.email = 'b2@x' WHERE users.id = 5;
UPDATE users SET email = CONCAT('n', n), name = 'two' WHERE n IN (SELECT COUNT(*) FROM aliases WHERE alias < 'b' GROUP BY alias < 'am') ORDER BY id;
UPDATE users SET email = 'same' WHERE id IN (SELECT user FROM aliases);
SELECT * FROM users ORDER BY id;
-- args: ["z@z", "nobody", 3]
UPDATE users SET email = ?, n = n + (SELECT COUNT(*) FROM aliases WHERE alias = ?) WHERE id = ?;
SELECT * FROM users WHERE email = 'z@z';
DELETE FROM users ORDER BY n DESC LIMIT 2;
SELECT id, email FROM users ORDER BY id;
INSERT INTO users (id, email) VALUES (70, 'g@x');
DELETE users FROM users LEFT JOIN aliases ON aliases.user = users.id WHERE aliases.id IS NULL;
BEGIN;
DELETE u, a FROM users u JOIN aliases a ON a.user = u.id WHERE a.alias = 'dan@y' OR a.id = 10;
SELECT * FROM users ORDER BY id;
SELECT * FROM aliases ORDER BY id;
INSERT INTO users (id, email) VALUES (71, 'g@x');
ROLLBACK;
INSERT INTO users (id, email) VALUES (71, 'g@x'), (72, 'ann@y'), (73, 'dan@y');
BEGIN;
DELETE FROM users WHERE n > (SELECT MIN(user) FROM aliases);
UPDATE users SET email = 'left@x' WHERE id > (SELECT 4 * MAX(id) FROM users u2 WHERE id < 20);
SELECT * FROM users ORDER BY id;
ROLLBACK;
SELECT * FROM users ORDER BY id;
-- only: mariadb
UPDATE IGNORE users SET email = 'same' WHERE id IN (SELECT user FROM aliases);
-- only: mysql
-- refused: which row stays depends on the plan
UPDATE IGNORE users SET email = 'same' WHERE id IN (SELECT user FROM aliases);
-- rows of several columns of key
CREATE TABLE parts (k VARCHAR(10), no INT, serial DECIMAL(10,2), w DATE, UNIQUE KEY (serial, w), PRIMARY KEY (k, no)) COMMENT 'skarv:key=k';
INSERT INTO parts VALUES ('a', 1, 1.5, '2024-01-01'), ('a', 2, 2.5, '2024-01-01'), ('it''s', 1, 3.5, '2024-01-01'), ('ö', 1, 4.5, NULL);
UPDATE parts SET serial = serial + (SELECT COUNT(*) FROM aliases) WHERE no = 1;
UPDATE parts SET k = CONCAT(k, 'x'), w = '2024-05-05' WHERE serial > (SELECT COUNT(*) FROM aliases);
DELETE FROM parts WHERE no IN (SELECT COUNT(*) FROM aliases WHERE id < 21);
DELETE FROM parts WHERE serial > (SELECT 1 + COUNT(*) FROM aliases) LIMIT 1000;
SELECT * FROM parts ORDER BY k, no;
-- foreign keys
CREATE TABLE author (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE book (id INT PRIMARY KEY, author INT, title VARCHAR(20), FOREIGN KEY (author) REFERENCES author (id));
CREATE TABLE page (id INT PRIMARY KEY, book INT, FOREIGN KEY (book) REFERENCES book (id) ON DELETE CASCADE);
CREATE TABLE note (id INT PRIMARY KEY, author INT, FOREIGN KEY (author) REFERENCES author (id) ON DELETE SET NULL);
INSERT INTO author VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cid'), (4, 'Dan');
INSERT INTO book VALUES (11, 1, 'x'), (12, 1, 'y'), (13, 2, 'z');
INSERT INTO page VALUES (21, 11), (22, 12), (23, 13);
INSERT INTO note VALUES (31, 1), (32, 3), (33, 4);
DELETE a FROM author a JOIN users u ON u.id < 100 AND a.id = 1;
DELETE FROM author ORDER BY name DESC LIMIT 1;
SELECT * FROM author ORDER BY id;
SELECT * FROM note ORDER BY id;
DELETE a FROM author a LEFT JOIN book b ON b.author = a.id WHERE b.id IS NULL;
SELECT * FROM note ORDER BY id;
UPDATE page SET book = (SELECT MAX(id) FROM book) WHERE id = 21;
UPDATE page SET book = (SELECT MAX(id) + 1 FROM book) WHERE id = 21;
UPDATE page JOIN aliases ON aliases.id = page.id - 2 SET page.book = NULL;
SELECT * FROM page ORDER BY id;
DELETE b FROM book b JOIN users u ON u.id < 72 WHERE b.id > 12;
SELECT * FROM book ORDER BY id;
SELECT * FROM page ORDER BY id;
DELETE b FROM book b JOIN page p ON p.book = b.id;
-- refused: which of the two goes first decides whether it fails
DELETE b, a FROM book b JOIN author a ON b.author = a.id;
-- only: mariadb
UPDATE author SET id = id + (SELECT COUNT(*) FROM users);
UPDATE author SET id = id + 10 * (SELECT COUNT(*) FROM users);
UPDATE author SET name = (SELECT MIN(name) FROM users);
SELECT * FROM author ORDER BY id;
-- UPDATE IGNORE of a key
CREATE TABLE keyed (id INT PRIMARY KEY, a INT);
CREATE VIEW keyedview AS SELECT a FROM keyed;
INSERT INTO keyed VALUES (1, 4), (3, 5), (5, 6);
-- only: mariadb
UPDATE IGNORE keyed SET id = 3 WHERE a IN (SELECT n + 3 FROM users);
-- only: mysql
-- refused: which row stays depends on the plan
UPDATE IGNORE keyed SET id = 3 WHERE a IN (SELECT n + 3 FROM users);
-- only: mariadb
-- refused: one server counts rows that it ignores
UPDATE IGNORE keyed SET id = 3 WHERE a IN (SELECT a FROM keyed);
-- only: mariadb
-- refused: the same
UPDATE IGNORE keyed SET id = 3 WHERE a IN (SELECT a FROM keyedview);
SELECT * FROM keyed ORDER BY id;
