-- A trigger assigns a column of an index by which servers may look for parents that lie on other node groups.
CREATE TABLE host (hostid BIGINT UNSIGNED NOT NULL, name VARCHAR(128) DEFAULT '' NOT NULL, PRIMARY KEY (hostid));
CREATE TABLE item (itemid BIGINT UNSIGNED NOT NULL, hostid BIGINT UNSIGNED NOT NULL, name VARCHAR(255) DEFAULT '' NOT NULL, upper_name VARCHAR(255) DEFAULT '' NOT NULL, templateid BIGINT UNSIGNED, n INT,
  PRIMARY KEY (itemid), KEY by_name (hostid, upper_name), KEY by_template (templateid));
-- skip-prepared
CREATE TRIGGER item_insert BEFORE INSERT ON item FOR EACH ROW SET NEW.upper_name = UPPER(NEW.name);
-- skip-prepared
CREATE TRIGGER item_update BEFORE UPDATE ON item FOR EACH ROW BEGIN IF NEW.name <> OLD.name THEN SET NEW.upper_name = UPPER(NEW.name); END IF; END;
ALTER TABLE item ADD CONSTRAINT item_1 FOREIGN KEY (hostid) REFERENCES host (hostid) ON DELETE CASCADE;
ALTER TABLE item ADD CONSTRAINT item_2 FOREIGN KEY (templateid) REFERENCES item (itemid) ON DELETE CASCADE;
INSERT INTO host VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five');
INSERT INTO item (itemid, hostid, name) VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, 'd'), (5, 5, 'e'), (6, 1, 'f'), (7, 2, 'g'), (8, 3, 'h');
INSERT INTO item (itemid, hostid, name, templateid) VALUES (11, 2, 'from a', 1), (12, 3, 'from a too', 1), (13, 4, 'from b', 2);
INSERT INTO item (itemid, hostid, name) VALUES (20, 9, 'nowhere');
INSERT INTO item (itemid, hostid, name, templateid) SELECT itemid + 30, hostid, CONCAT(name, ' again'), itemid FROM item WHERE itemid IN (3, 4);
SELECT * FROM item ORDER BY itemid;
UPDATE item SET name = 'renamed' WHERE itemid = 1;
UPDATE item SET name = CONCAT(name, '!') WHERE itemid BETWEEN 2 AND 8;
UPDATE item SET name = CONCAT(name, '?') WHERE hostid = 2;
UPDATE item SET name = CONCAT(name, '.'), n = itemid;
UPDATE item SET n = 0 WHERE itemid = 12;
UPDATE item SET n = 0;
UPDATE item SET hostid = 9 WHERE itemid = 2;
UPDATE item SET hostid = 4, name = 'moved' WHERE itemid = 2;
UPDATE item SET name = 'by a subquery' WHERE hostid IN (SELECT hostid FROM host WHERE name = 'three');
SELECT * FROM item ORDER BY itemid;
DELETE FROM host WHERE hostid = 3;
DELETE FROM item WHERE itemid = 1;
SELECT * FROM item ORDER BY itemid;
SELECT itemid, upper_name FROM item WHERE hostid = 4 AND upper_name LIKE 'M%';
-- refused: which row is there says another server
INSERT INTO item (itemid, hostid, name) VALUES (2, 2, 'or update') ON DUPLICATE KEY UPDATE name = VALUES(name);
