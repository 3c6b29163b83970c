-- A client whose character set is binary, as MediaWiki's: what it writes are bytes, which keys of VARBINARY hold as they are.
SET NAMES binary;
CREATE TABLE page (page_id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, page_namespace INT NOT NULL, page_title VARBINARY(255) NOT NULL, n INT, UNIQUE KEY page_name_title (page_namespace, page_title));
INSERT INTO page (page_namespace, page_title) VALUES (0, 'Zoë'), (0, 'Main'), (1, 'Ünïcode');
INSERT INTO page (page_namespace, page_title) VALUES (0, 'Zoë');
INSERT IGNORE INTO page (page_id, page_namespace, page_title) VALUES (10, 0, 'Zoë'), (11, 2, 'Zoë');
INSERT INTO page (page_namespace, page_title, n) VALUES (0, 'Zoë', 1) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1;
SELECT page_namespace, page_title, n FROM page ORDER BY page_id;
SELECT page_namespace, n FROM page WHERE page_namespace = 0 AND page_title = 'Zoë';
UPDATE page SET page_title = 'Zoé' WHERE page_namespace = 0 AND page_title = 'Zoë';
UPDATE page SET page_title = 'Main' WHERE page_namespace = 0 AND page_title = 'Zoé';
DELETE FROM page WHERE page_namespace = 1 AND page_title = 'Ünïcode';
SELECT page_namespace, page_title, n FROM page ORDER BY page_id;
REPLACE INTO page (page_namespace, page_title) VALUES (0, 'Zoé');
SELECT page_namespace, page_title, n FROM page ORDER BY page_namespace, page_title;
SELECT page_title FROM page WHERE page_title IN ('Zoé', 'Main', 'x') ORDER BY page_title;
-- A table distributed by such a column.
CREATE TABLE objectcache (keyname VARBINARY(255) NOT NULL PRIMARY KEY, value MEDIUMBLOB, exptime BINARY(14));
INSERT INTO objectcache VALUES ('é:1', 'a', '20260101000000'), ('ascii', 'ÿ', '20260101000000');
REPLACE INTO objectcache VALUES ('é:1', 'b', '20260101000000');
SELECT keyname, value FROM objectcache WHERE keyname = 'é:1';
SELECT keyname, value FROM objectcache WHERE keyname IN ('é:1', 'ascii') ORDER BY keyname;
DELETE FROM objectcache WHERE keyname = 'é:1';
INSERT INTO objectcache SELECT page_title, page_title, '20260101000000' FROM page;
SELECT keyname, value FROM objectcache ORDER BY keyname;
-- Of a column with a character set the bytes are converted, or taken for its characters.
CREATE TABLE words (w VARCHAR(20) CHARACTER SET utf8mb4 PRIMARY KEY, n INT);
INSERT INTO words VALUES ('ascii', 1);
SELECT * FROM words WHERE w = 'é';
SET NAMES utf8mb4;
SELECT page_namespace, page_title FROM page WHERE page_title = 'Zoé';
INSERT INTO page (page_namespace, page_title) VALUES (2, 'Zoë');
-- Bytes of latin1 are bytes as well, unless they are converted.
SET NAMES latin1;
INSERT INTO page (page_namespace, page_title) VALUES (2, 'Zoë');
INSERT INTO page (page_id, page_namespace, page_title) VALUES (20, 3, 'Zoë');
SET collation_connection = utf8mb4_general_ci;
INSERT INTO page (page_namespace, page_title) VALUES (4, 'Zoë');
SELECT page_id FROM page WHERE page_namespace = 3 AND page_title = 'Zoë';
SET NAMES utf8mb4;
DROP TABLE page, objectcache, words;
-- Of addresses the bytes mean something else than the text.
-- only: mariadb
CREATE TABLE addresses (id INT PRIMARY KEY, u UUID NOT NULL, i INET6, f INET4, n INT, UNIQUE KEY (n));
-- only: mariadb
INSERT INTO addresses VALUES (1, '123e4567-e89b-12d3-a456-426655440000', '::1', '1.2.3.4', 1), (2, '123e4567-e89b-12d3-a456-426655440001', '::2', '1.2.3.5', 2), (3, '123e4567-e89b-12d3-a456-426655440002', '::3', NULL, 3);
-- only: mariadb
CREATE TABLE known (u UUID PRIMARY KEY, n INT);
-- only: mariadb
INSERT INTO known VALUES ('123e4567-e89b-12d3-a456-426655440000', 1), ('123e4567-e89b-12d3-a456-426655440001', 2);
-- only: mariadb
SET NAMES binary;
-- only: mariadb
SELECT COUNT(DISTINCT u), COUNT(DISTINCT i), COUNT(DISTINCT f) FROM addresses;
-- only: mariadb
SELECT u, i, f FROM addresses ORDER BY u;
-- only: mariadb
SELECT k.n, a.i FROM known k JOIN addresses a ON a.u = k.u ORDER BY k.n;
-- only: mariadb
UPDATE addresses SET id = id + 100;
-- only: mariadb
SELECT id, HEX(u), HEX(i), HEX(f), n FROM addresses ORDER BY id;
-- only: mariadb
UPDATE addresses a JOIN known k ON a.u = k.u SET a.n = a.n + 10;
-- only: mariadb
INSERT INTO addresses SELECT id + 1000, u, i, f, n + 1000 FROM addresses;
-- only: mariadb
UPDATE known SET u = '0123456789abcdef' WHERE n = 2;
-- only: mariadb
DELETE FROM addresses WHERE i IN (SELECT i FROM (SELECT MIN(i) AS i FROM addresses) AS least);
-- only: mariadb
SELECT id, HEX(u), HEX(i), HEX(f), n FROM addresses ORDER BY id;
-- only: mariadb
SELECT HEX(u), n FROM known ORDER BY n;
-- only: mariadb
SET NAMES utf8mb4;
-- only: mariadb
SELECT u, n FROM known ORDER BY n;
