-- What is refused in the middle of its rows has not run: user variables that triggers have assigned are what they were.
CREATE TABLE tr_key (code VARCHAR(12), a INT, b BIGINT NOT NULL, PRIMARY KEY (code), UNIQUE KEY ua (code, a));
SET @n = 0;
-- skip-prepared
CREATE TRIGGER tr_key_bi BEFORE INSERT ON tr_key FOR EACH ROW SET @n = @n + 1;
INSERT INTO tr_key (code, a, b) VALUES ('x', 1, 5);
SELECT @n + 0 AS n;
-- refused: ON DUPLICATE KEY UPDATE of the distribution column
INSERT INTO tr_key (code, a, b) VALUES ('', 1, 5), ('1', NULL, 11) ON DUPLICATE KEY UPDATE code = CONCAT(VALUES(code), 'y');
SELECT @n + 0 AS n;
SELECT * FROM tr_key ORDER BY code;
-- Nor does a refusal end the transaction, or what the session may do with its connections.
CREATE TABLE fl (id INT PRIMARY KEY, f FLOAT);
INSERT INTO fl VALUES (1, 1.5), (2, 2.5), (3, 3.5), (4, 4.5);
CREATE TABLE fl_log (id INT PRIMARY KEY, n INT);
CREATE TABLE fl_into (id INT PRIMARY KEY, v DOUBLE);
-- skip-prepared
CREATE TRIGGER fl_into_bi BEFORE INSERT ON fl_into FOR EACH ROW BEGIN SET @fl = NEW.id; INSERT INTO fl_log VALUES (NEW.id, 1); END;
-- skip-prepared
BEGIN;
INSERT INTO fl_log VALUES (101, 0), (102, 0), (103, 0), (104, 0);
-- refused: a FLOAT column in INSERT
INSERT INTO fl_into SELECT id, f FROM fl;
SELECT * FROM fl WHERE id = 1;
SELECT @fl;
INSERT INTO fl_into SELECT id, f + 0e0 FROM fl;
SELECT * FROM fl_log ORDER BY id;
-- skip-prepared
ROLLBACK;
SELECT COUNT(*) FROM fl_log;
SELECT @fl IS NULL;
