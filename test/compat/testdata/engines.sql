-- Of a statement that fails MyISAM keeps the rows before the fault: on several node groups these would be others than on one server.
-- refused: no transaction takes its rows back
CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM;
-- refused: nor those of its copies
CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MEMORY COMMENT 'skarv:reference';
-- refused: there is a hidden key to it
CREATE TABLE m (id INT) ENGINE=MyISAM;
-- refused: by a setting, too
SET STATEMENT default_storage_engine = MyISAM FOR CREATE TABLE m (id INT PRIMARY KEY);
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
