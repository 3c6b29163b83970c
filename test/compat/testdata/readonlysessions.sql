-- What a READ ONLY session may do: all that changes no rows, though Skarv writes to temporary tables for it.
CREATE TABLE rop (id INT PRIMARY KEY, v INT);
INSERT INTO rop VALUES (10, 1), (20, 2), (30, 3), (40, 4), (50, 5);
-- skip-prepared
CREATE PROCEDURE rop_reads() SELECT COUNT(*) FROM rop;
-- skip-prepared
CREATE PROCEDURE rop_sets() SET @ro = 1;
-- skip-prepared
CREATE PROCEDURE rop_computes() BEGIN DECLARE a INT; SET a = 5; SELECT COUNT(*) INTO a FROM rop; IF a > 1 THEN SET @ro = a; END IF; SELECT a, @ro; END;
-- only: mariadb
-- skip-prepared
CREATE PROCEDURE rop_asks() BEGIN SELECT @@tx_read_only INTO @ro; IF @ro THEN SELECT @@tx_read_only AS a; END IF; IF @@session.tx_read_only THEN SELECT 1; END IF; END;
-- only: mysql
-- skip-prepared
CREATE PROCEDURE rop_asks() BEGIN SELECT @@transaction_read_only INTO @ro; IF @ro THEN SELECT @@transaction_read_only AS a; END IF; IF @@session.transaction_read_only THEN SELECT 1; END IF; END;
-- skip-prepared
CREATE PROCEDURE rop_writes() UPDATE rop SET v = v + 1 WHERE id = 10;
SET SESSION TRANSACTION READ ONLY;
CALL rop_reads();
CALL rop_sets();
CALL rop_computes();
-- refused: _read_only in a READ ONLY session
CALL rop_asks();
CALL rop_writes();
-- only: mariadb
-- refused: @@tx_read_only in a READ ONLY session
SELECT @@tx_read_only, id, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM rop ORDER BY id;
-- only: mysql
-- refused: @@transaction_read_only in a READ ONLY session
SELECT @@transaction_read_only, id, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM rop ORDER BY id;
DO (SELECT COUNT(*) FROM rop);
SET @ro = (SELECT COUNT(*) FROM rop);
SELECT @ro, (SELECT MAX(v) FROM rop) AS most;
SELECT id, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM rop ORDER BY id;
UPDATE rop SET v = 0;
SET autocommit = 0;
CALL rop_reads();
CALL rop_computes();
CALL rop_writes();
ROLLBACK;
DO (SELECT COUNT(*) FROM rop);
SELECT id, ROW_NUMBER() OVER (ORDER BY v DESC) AS n FROM rop ORDER BY id;
ROLLBACK;
SET SESSION TRANSACTION READ WRITE;
CALL rop_asks();
CALL rop_writes();
COMMIT;
SET autocommit = 1;
SELECT SUM(v) FROM rop;
-- skip-prepared
DROP PROCEDURE rop_reads;
-- skip-prepared
DROP PROCEDURE rop_sets;
-- skip-prepared
DROP PROCEDURE rop_computes;
-- skip-prepared
DROP PROCEDURE rop_asks;
-- skip-prepared
DROP PROCEDURE rop_writes;
DROP TABLE rop;
