-- Of a statement that fails MyISAM keeps the rows before the fault: such a table stays on one node group, where it is as on one server.
CREATE TABLE old (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20), FULLTEXT (v)) ENGINE=MyISAM;
INSERT INTO old VALUES (1, 'one'), (2, 'two');
INSERT INTO old VALUES (3, 'three'), (2, 'again'), (4, 'four');
INSERT INTO old (v) VALUES ('next');
SELECT LAST_INSERT_ID();
SELECT * FROM old ORDER BY id;
SELECT id FROM old WHERE MATCH (v) AGAINST ('three' IN BOOLEAN MODE);
UPDATE old SET id = id + 1 ORDER BY id DESC;
SELECT * FROM old ORDER BY id;
SHOW CREATE TABLE old;
CREATE TABLE inside (part INT, id INT AUTO_INCREMENT, PRIMARY KEY (part, id)) ENGINE=MyISAM;
INSERT INTO inside (part) VALUES (1), (2), (1), (2), (1);
SELECT * FROM inside ORDER BY part, id;
CREATE TABLE keyless (id INT, v INT) ENGINE=MyISAM;
INSERT INTO keyless VALUES (1, 1), (1, 1), (2, 2);
CREATE TABLE alike LIKE keyless;
INSERT INTO alike SELECT * FROM keyless;
SELECT COUNT(*), SUM(v) FROM alike;
SET default_storage_engine = MyISAM;
CREATE TABLE chosen (id INT PRIMARY KEY);
SET default_storage_engine = DEFAULT;
INSERT INTO chosen VALUES (1), (2), (1);
SELECT * FROM chosen ORDER BY id;
-- only: mariadb
CREATE TABLE selected ENGINE=MyISAM SELECT id, v FROM old;
-- only: mariadb
SELECT COUNT(*) FROM selected;
-- only: mariadb
DROP TABLE selected;
-- only: mariadb
CREATE TABLE aria (id INT PRIMARY KEY, v INT) ENGINE=Aria TRANSACTIONAL=0;
-- only: mariadb
INSERT INTO aria VALUES (1, 1), (2, 2), (1, 3);
-- only: mariadb
SELECT * FROM aria ORDER BY id;
-- only: mariadb
SHOW CREATE TABLE aria;
-- only: mariadb
DROP TABLE aria;
SELECT table_name, engine, table_comment FROM information_schema.tables WHERE table_schema = 'compat' ORDER BY 1;
BEGIN;
INSERT INTO old (v) VALUES ('kept');
ROLLBACK;
SHOW WARNINGS;
SELECT COUNT(*) FROM old WHERE v = 'kept';
BEGIN;
UPDATE old SET v = 'none' WHERE id = 77;
ROLLBACK;
SHOW WARNINGS;
CREATE TABLE others (id INT PRIMARY KEY);
-- only: mariadb
BEGIN;
-- only: mariadb
INSERT INTO others VALUES (1), (2), (3), (4), (5);
-- only: mariadb
SAVEPOINT s;
-- only: mariadb
INSERT INTO old (v) VALUES ('kept, too');
-- only: mariadb
ROLLBACK TO s;
-- only: mariadb
SHOW WARNINGS;
-- only: mariadb
INSERT INTO others VALUES (6);
-- only: mariadb
ROLLBACK;
-- only: mariadb
SHOW WARNINGS;
SELECT COUNT(*) FROM others;
SELECT COUNT(*) FROM old WHERE v LIKE 'kept%';
DROP TABLE others;
CHECK TABLE old;
LOCK TABLES old WRITE;
INSERT INTO old (v) VALUES ('locked');
UNLOCK TABLES;
TRUNCATE TABLE old;
DROP TABLE old, inside, keyless, alike, chosen;
-- refused: nor those of its copies
CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MEMORY COMMENT 'skarv:reference';
-- refused: it is said where its rows lie
CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM PARTITION BY KEY (id);
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'compat';
CREATE TABLE i (id INT PRIMARY KEY) ENGINE=InnoDB;
-- refused: it becomes one
ALTER TABLE i ENGINE=MyISAM;
INSERT INTO i VALUES (1), (2), (3);
INSERT INTO i VALUES (4), (5), (2), (6);
SELECT * FROM i ORDER BY id;
ALTER TABLE i ENGINE=InnoDB;
CREATE TEMPORARY TABLE passing (id INT PRIMARY KEY) ENGINE=MEMORY;
INSERT INTO passing VALUES (1), (2);
INSERT INTO passing VALUES (3), (2), (4);
SELECT i.id FROM i JOIN passing USING (id) ORDER BY 1;
-- On one node group it is as on one server.
CREATE TABLE alone (id INT PRIMARY KEY, v INT) ENGINE=MyISAM COMMENT 'skarv:single';
INSERT INTO alone VALUES (1, 1), (2, 2);
INSERT INTO alone VALUES (3, 3), (2, 2), (4, 4);
SELECT * FROM alone ORDER BY id;
UPDATE alone SET id = id + 1 ORDER BY id;
SELECT * FROM alone ORDER BY id;
-- What is kept in memory stays on one node group by itself.
CREATE TABLE seen (a INT NOT NULL, b VARCHAR(20), PRIMARY KEY (a), KEY USING BTREE (b)) ENGINE=MEMORY;
INSERT INTO seen VALUES (1, 'one'), (2, 'two'), (3, 'three');
INSERT INTO seen VALUES (4, 'four'), (2, 'two'), (5, 'five');
SELECT * FROM seen ORDER BY a;
INSERT INTO seen VALUES (1, 'uno'), (6, 'six') ON DUPLICATE KEY UPDATE b = VALUES(b);
REPLACE INTO seen VALUES (2, 'dos');
SELECT i.id, s.b FROM i LEFT JOIN seen s ON s.a = i.id ORDER BY i.id;
INSERT INTO i SELECT a + 10 FROM seen;
INSERT INTO seen SELECT id, 'from i' FROM i WHERE id > 12;
DELETE s FROM seen s JOIN i ON i.id = s.a WHERE i.id < 3;
SELECT * FROM seen ORDER BY a;
TRUNCATE TABLE seen;
SELECT COUNT(*) FROM seen;
CREATE TABLE queue (a INT, b BLOB) ENGINE=MEMORY;
CREATE TABLE queue (a INT, b VARBINARY(20)) ENGINE=HEAP;
INSERT INTO queue VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
SELECT a, COUNT(*) FROM queue GROUP BY a ORDER BY a;
DELETE FROM queue WHERE a = 1 LIMIT 1;
SELECT engine, table_comment FROM information_schema.tables WHERE table_schema = 'compat' AND table_name IN ('seen', 'queue');
SHOW CREATE TABLE queue;
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=MEMORY;
INSERT INTO counted (v) VALUES (7), (8);
SELECT LAST_INSERT_ID();
SELECT * FROM counted ORDER BY id;
-- refused: it is said where its rows lie
CREATE TABLE keyed (id INT PRIMARY KEY) ENGINE=MEMORY PARTITION BY KEY (id);
-- refused: its rows lie on several node groups
ALTER TABLE i ENGINE=MEMORY;
ALTER TABLE seen ENGINE=InnoDB;
INSERT INTO seen VALUES (1, 'one');
DROP TABLE seen, queue, counted;
