-- User-level locks wherever an expression is computed: they are the session's.
CREATE TABLE ul (id INT PRIMARY KEY, v INT);
INSERT INTO ul VALUES (1, 1), (2, 2), (3, 3), (4, 4);
SET @l = GET_LOCK('ul1', 0);
SELECT @l, IS_USED_LOCK('ul1') = CONNECTION_ID(), IS_FREE_LOCK('ul1');
-- One call in another.
SELECT IS_USED_LOCK(IF(IS_USED_LOCK('ul1') = CONNECTION_ID(), 'ul1', 'ulx')) = CONNECTION_ID(), IS_USED_LOCK(COALESCE(IS_USED_LOCK('ulx'), 'ul1')) = CONNECTION_ID() AS x;
SET @l := (SELECT GET_LOCK('ul2', 0)), @m = 5;
SELECT @l, @m, IS_USED_LOCK('ul2') = CONNECTION_ID();
SET @free = IS_FREE_LOCK('ul1'), @mine = (IS_USED_LOCK('ul1') = CONNECTION_ID()), @nobody = COALESCE(IS_USED_LOCK('ulx'), -1);
SELECT @free, @mine, @nobody;
SET @r = RELEASE_LOCK('ul2');
SELECT @r, IS_FREE_LOCK('ul2');
SET @r = RELEASE_ALL_LOCKS();
SELECT @r, IS_FREE_LOCK('ul1');
SET @n = 'ul3';
PREPARE s FROM 'SET @l = GET_LOCK(?, 0), @k = ?';
EXECUTE s USING @n, @n;
SELECT @l, @k, IS_USED_LOCK('ul3') = CONNECTION_ID();
SET @a = GET_LOCK('ul4', 0), @b = (SELECT COUNT(*) FROM ul);
SELECT @a, @b, IS_USED_LOCK('ul4') = CONNECTION_ID();
SELECT GET_LOCK('ul5', 0) INTO @z;
SELECT @z, IS_USED_LOCK('ul5') = CONNECTION_ID();
SELECT RELEASE_ALL_LOCKS();
-- A statement that fails may have taken its lock.
SET @x = GET_LOCK('ul6', 0), @y = (SELECT 1 UNION SELECT 2);
SELECT IS_FREE_LOCK('ul6');
SELECT GET_LOCK('ul7', 0), (SELECT 1 UNION SELECT 2);
SELECT IS_FREE_LOCK('ulx');
SELECT IS_USED_LOCK('ul7') = CONNECTION_ID();
SELECT RELEASE_ALL_LOCKS() > 0;
-- In a transaction, and under LOCK TABLES.
BEGIN;
INSERT INTO ul VALUES (5, 5);
SET @l = GET_LOCK('ul8', 0);
SELECT @l, COUNT(*) FROM ul;
ROLLBACK;
SELECT RELEASE_LOCK('ul8');
LOCK TABLES ul WRITE;
SET @l = GET_LOCK('ul9', 0);
UPDATE ul SET v = @l + 10 WHERE id = 1;
UNLOCK TABLES;
SELECT v, @l FROM ul WHERE id = 1;
DO RELEASE_LOCK('ul9');
-- skip-prepared
CREATE PROCEDURE ulp(x INT) BEGIN DECLARE y INT DEFAULT GET_LOCK('ulb', 0); SET @g = GET_LOCK('ulc', 0), y = y + GET_LOCK('uld', 0); IF GET_LOCK('ule', 0) THEN SELECT x, y, @g; END IF; WHILE RELEASE_LOCK('ule') DO SET y = y + 1; END WHILE; CASE GET_LOCK('ulf', 0) WHEN 1 THEN SELECT y; ELSE SELECT 'no'; END CASE; END;
CALL ulp(GET_LOCK('ula', 0));
SELECT IS_USED_LOCK('ula') = CONNECTION_ID(), IS_USED_LOCK('ulb') = CONNECTION_ID(), IS_USED_LOCK('ulc') = CONNECTION_ID(), IS_USED_LOCK('uld') = CONNECTION_ID(), IS_FREE_LOCK('ule'), IS_USED_LOCK('ulf') = CONNECTION_ID();
SELECT RELEASE_ALL_LOCKS();
-- skip-prepared
CREATE TRIGGER ult BEFORE INSERT ON ul FOR EACH ROW SET @t = GET_LOCK('ult', 0), NEW.v = GET_LOCK('ulu', 0);
INSERT INTO ul VALUES (9, 9);
SELECT @t, IS_USED_LOCK('ult') = CONNECTION_ID(), IS_USED_LOCK('ulu') = CONNECTION_ID();
SELECT RELEASE_ALL_LOCKS();
-- skip-prepared
DROP TRIGGER ult;
-- refused: user-level locks
SET SESSION wait_timeout = GET_LOCK('ulg', 0) + 99;
-- refused: user-level locks
SET @l = GET_LOCK('ulg', 0), sql_mode = '';
-- refused: user-level locks
SHOW VARIABLES WHERE GET_LOCK('ulg', 0) AND Variable_name = 'autocommit';
-- refused: user-level locks
SHOW COLUMNS FROM ul WHERE GET_LOCK('ulg', 0);
-- refused: user-level locks
INSERT INTO ul VALUES (GET_LOCK('ulg', 0), 5);
-- refused: user-level locks
UPDATE ul SET v = GET_LOCK('ulg', 0);
-- skip-prepared
-- refused: user-level locks
CREATE EVENT ule ON SCHEDULE EVERY GET_LOCK('ulg', 0) DAY DO SELECT 1;
-- only: mariadb
-- refused: user-level locks
SET STATEMENT max_statement_time = GET_LOCK('ulg', 0) FOR SELECT 1;
SELECT IS_FREE_LOCK('ulg');
