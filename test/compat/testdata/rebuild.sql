-- Tables made without a primary key get one afterwards: their rows go to the node groups where they then belong.

-- What phpMyAdmin writes: tables, rows, then keys, then counters, then references.
CREATE TABLE users (id INT NOT NULL, email VARCHAR(40) NOT NULL, name VARCHAR(20) CHARACTER SET latin1 DEFAULT NULL, born DATE, w DOUBLE, b VARBINARY(5), e ENUM('x','y'), bits BIT(3));
INSERT INTO users VALUES (3, 'c@x', 'Zoë', '2001-02-03', -0.5, X'00FF', 'x', b'101'), (1, 'a@x', NULL, NULL, 1e100, '', 'y', NULL), (2, 'b@x', '\\''"', '1000-01-01', 0, NULL, NULL, b'0');
INSERT INTO users (id, email) VALUES (40, 'd@x'), (50, 'e@x'), (60, 'f@x'), (70, 'g@x'), (80, 'h@x'), (90, 'i@x'), (100, 'j@x');
CREATE TABLE posts (id INT UNSIGNED NOT NULL, user_id INT NOT NULL, t TEXT, at TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00');
INSERT INTO posts VALUES (1, 3, 'eins', '2024-05-06 07:08:09'), (2, 1, NULL, '2024-05-06 07:08:09'), (3, 3, '', '1999-12-31 23:59:59');
ALTER TABLE users ADD PRIMARY KEY (id), ADD UNIQUE KEY email (email), ADD KEY name (name);
ALTER TABLE posts ADD PRIMARY KEY (id), ADD KEY user_id (user_id);
ALTER TABLE users MODIFY id INT NOT NULL AUTO_INCREMENT, AUTO_INCREMENT = 200;
ALTER TABLE posts MODIFY id INT UNSIGNED NOT NULL AUTO_INCREMENT;
ALTER TABLE posts ADD CONSTRAINT writer FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
SELECT * FROM users ORDER BY id;
SELECT id, email, HEX(name), bits + 0 FROM users WHERE id = 3;
SELECT * FROM posts ORDER BY id;
INSERT INTO users (email) VALUES ('k@x');
INSERT INTO posts (user_id, t, at) VALUES (2, 'x', '2024-05-06 07:08:09');
SELECT LAST_INSERT_ID();
INSERT INTO users (email) VALUES ('a@x');
INSERT INTO users (id, email) VALUES (2, 'z@x');
INSERT INTO posts (user_id) VALUES (4711);
UPDATE users SET id = 1000 WHERE id = 60;
DELETE FROM users WHERE email = 'c@x';
SELECT COUNT(*), SUM(id) FROM users;
SELECT id, user_id FROM posts ORDER BY id;

-- Several columns, some of them NULL until now; new columns; a column renamed.
CREATE TABLE pairs (a INT, b VARCHAR(10), c INT);
INSERT INTO pairs VALUES (1, 'x', 5), (1, 'y', 6), (2, 'x', 7), (3, 'X ', 8);
ALTER TABLE pairs CHANGE c count INT, ADD d INT DEFAULT 9, ADD f VARCHAR(5) NOT NULL AFTER a, ADD PRIMARY KEY (b, a);
SELECT * FROM pairs ORDER BY a, b;
INSERT INTO pairs (a, b) VALUES (1, 'Y');
INSERT INTO pairs (a) VALUES (9);
SELECT COLUMN_NAME, IS_NULLABLE, COLUMN_KEY FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'pairs' ORDER BY ordinal_position;

-- What hinders it leaves everything as it was.
CREATE TABLE twice (a INT, b INT);
INSERT INTO twice VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (2, 6), (NULL, 7);
ALTER TABLE twice ADD PRIMARY KEY (b, a);
DELETE FROM twice WHERE a IS NULL;
ALTER TABLE twice ADD PRIMARY KEY (a);
ALTER TABLE twice ADD PRIMARY KEY (nosuch);
ALTER TABLE twice ADD PRIMARY KEY (b), ADD UNIQUE KEY u (a);
INSERT INTO twice VALUES (1, 1);
SELECT a, b FROM twice ORDER BY b, a;
ALTER TABLE twice ADD KEY (a);
DELETE FROM twice WHERE b = 1 LIMIT 1;
ALTER TABLE twice ADD PRIMARY KEY (b);
INSERT INTO twice VALUES (1, 1);
SELECT a, b FROM twice ORDER BY b, a;

-- A unique key without NULL stands for a primary key, as it does in a new table.
CREATE TABLE uni (a INT NOT NULL, b INT);
INSERT INTO uni VALUES (1, 1), (2, 2), (3, 3);
ALTER TABLE uni ADD UNIQUE KEY (a);
INSERT INTO uni VALUES (2, 9);
SELECT * FROM uni ORDER BY a;

-- Rows are numbered over all node groups, in the order in which they were inserted.
CREATE TABLE numbered (v VARCHAR(10));
INSERT INTO numbered VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f'), ('g'), ('h'), ('i');
ALTER TABLE numbered ADD id INT NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST;
SELECT * FROM numbered ORDER BY id;
INSERT INTO numbered (v) VALUES ('j');
SELECT LAST_INSERT_ID();
SELECT * FROM numbered WHERE id = 10;

-- Empty ones.
CREATE TABLE none (v VARCHAR(10));
ALTER TABLE none ADD id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, ADD PRIMARY KEY (id), AUTO_INCREMENT = 7;
INSERT INTO none (v) VALUES ('x');
SELECT * FROM none;
CREATE TABLE none2 (v VARCHAR(10) NOT NULL);
CREATE UNIQUE INDEX v ON none2 (v);
INSERT INTO none2 VALUES ('x'), ('y');
INSERT INTO none2 VALUES ('X');
SELECT * FROM none2 ORDER BY v;

CREATE TABLE kept (a INT NOT NULL, b INT);
INSERT INTO kept VALUES (1, 2), (2, 3);
-- refused: another ALTER TABLE can do it
ALTER TABLE kept ADD PRIMARY KEY (a), RENAME TO kept2;
ALTER TABLE kept ADD PRIMARY KEY (a), MODIFY b BIGINT;
SELECT * FROM kept ORDER BY a;

-- Rows without a number, in a column that is counted from now on.
CREATE TABLE some (a BIGINT, v INT);
INSERT INTO some VALUES (1, 1), (2, 2), (NULL, 3), (7, 4), (0, 5), (-3, 6), (NULL, 7);
ALTER TABLE some MODIFY a BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY;
SELECT a, v FROM some ORDER BY v;
INSERT INTO some (v) VALUES (8);
SELECT LAST_INSERT_ID();

-- A key of ENUM with what was no member.
SET sql_mode = '';
CREATE TABLE members (e ENUM('a', 'b', 'c', 'd') NOT NULL);
INSERT INTO members VALUES (4), (1), (0), ('x'), (3);
ALTER TABLE members ADD PRIMARY KEY (e);
DELETE FROM members WHERE e = 0 LIMIT 1;
ALTER TABLE members ADD PRIMARY KEY (e);
SELECT e, e + 0 FROM members ORDER BY e;
SELECT e FROM members WHERE e = 0;
SELECT e FROM members WHERE e = '';
DELETE FROM members WHERE e = 0;
INSERT INTO members VALUES (0);
SELECT e, e + 0 FROM members ORDER BY e;
SET sql_mode = DEFAULT;
INSERT INTO members VALUES (0);
DROP TABLE members;
CREATE TABLE kept_parent (id INT PRIMARY KEY);
CREATE TABLE kept_child (a INT NOT NULL, p INT, CONSTRAINT kept_fk FOREIGN KEY (p) REFERENCES kept_parent (id));
INSERT INTO kept_parent VALUES (1), (2);
INSERT INTO kept_child VALUES (1, 1), (2, 2), (3, NULL);
ALTER TABLE kept_child ADD PRIMARY KEY (a);
SELECT a, p FROM kept_child ORDER BY a;
