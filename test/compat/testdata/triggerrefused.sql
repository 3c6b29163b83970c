-- What is refused in the middle of its rows has not run: user variables that triggers have assigned are what they were.
CREATE TABLE tr_key (code VARCHAR(12), a INT, b BIGINT NOT NULL, PRIMARY KEY (code), UNIQUE KEY ua (code, a));
SET @n = 0;
-- skip-prepared
CREATE TRIGGER tr_key_bi BEFORE INSERT ON tr_key FOR EACH ROW SET @n = @n + 1;
INSERT INTO tr_key (code, a, b) VALUES ('x', 1, 5);
SELECT @n + 0 AS n;
-- refused: ON DUPLICATE KEY UPDATE of the distribution column
INSERT INTO tr_key (code, a, b) VALUES ('', 1, 5), ('1', NULL, 11) ON DUPLICATE KEY UPDATE code = VALUES(code);
SELECT @n + 0 AS n;
SELECT * FROM tr_key ORDER BY code;
