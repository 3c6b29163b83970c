-- Twenty tables and two views with everything a dump may carry, made on one plain MariaDB by TestDump.
SET NAMES utf8mb4;
CREATE TABLE t01_ints (id INT NOT NULL AUTO_INCREMENT, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT UNSIGNED, i INT, bi BIGINT, bu BIGINT UNSIGNED, b BOOL, bt BIT(13), z INT(7) ZEROFILL, PRIMARY KEY (id), KEY i_bi (i, bi));
INSERT INTO t01_ints VALUES (1,-128,255,-32768,16777215,-2147483648,-9223372036854775808,18446744073709551615,1,b'1010101010101',42),(2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),(3,0,0,0,0,0,0,0,0,0,0),(700,127,1,1,1,1,1,1,1,b'1',1);
CREATE TABLE t02_numbers (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, d DECIMAL(30,10), d2 DECIMAL(5,0) DEFAULT 7, f FLOAT, db DOUBLE);
INSERT INTO t02_numbers VALUES (18446744073709551615, 12345678901234567890.0123456789, -99999, 1.5, 1.7976931348623157e308),(0,-0.0000000001,0,-3.25e-20,-2.2250738585072014e-308),(5,NULL,NULL,NULL,NULL);
CREATE TABLE t03_times (id INT PRIMARY KEY, d DATE, t TIME, t6 TIME(6), dt DATETIME, dt6 DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6), ts TIMESTAMP NULL DEFAULT NULL, ts3 TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), y YEAR);
INSERT INTO t03_times VALUES (1,'2024-02-29','-838:59:59','12:34:56.000001','9999-12-31 23:59:59','1000-01-01 00:00:00.123456','2001-09-09 01:46:40','2024-03-31 02:30:00.999',1901),(2,NULL,NULL,NULL,NULL,NULL,NULL,'1970-01-02 00:00:00.000',NULL),(3,'0001-01-01','838:59:59','00:00:00','2000-01-01 00:00:00','2000-01-01 00:00:00','2038-01-19 03:14:07','2020-02-02 02:02:02.002',2155);
CREATE TABLE t04_strings (id INT PRIMARY KEY, c CHAR(10), vc VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, l1 VARCHAR(50) CHARACTER SET latin1, tt TINYTEXT, t TEXT, mt MEDIUMTEXT, lt LONGTEXT, e ENUM('a','it''s','ü',''), s SET('x','y','z'), u VARCHAR(20) CHARACTER SET ucs2, KEY vc (vc(20)), FULLTEXT KEY ft (t)) COMMENT='it''s a "table"; -- really';
INSERT INTO t04_strings VALUES (1,'abc','Grüße 😀 \'quoted\' "double" `back` \\ back\n\r\tctrl\Z','\xe4','tiny','some words; here -- not a comment /* nor this */','m',REPEAT('ä😀',5000),'it''s','x,z','ж'),(2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),(3,'','','','','','','','','',''),(4,'  sp ','trailing   ','?','NULL','\0zero','\\N','%_','ü','x,y,z','漢字');
CREATE TABLE t05_blobs (id INT PRIMARY KEY, b BINARY(4), vb VARBINARY(300), tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB);
INSERT INTO t05_blobs VALUES (1,x'00ff',x'000102',x'ff',x'272225005c0a0d1a',REPEAT(x'00ff275c',20000),x'c328'),(2,NULL,NULL,NULL,NULL,NULL,NULL),(3,'','','','','','');
CREATE TABLE t06_composite (a INT NOT NULL, b VARCHAR(20) NOT NULL, c DATE NOT NULL, v INT, PRIMARY KEY (a, b, c), UNIQUE KEY u (a, b, c, v));
INSERT INTO t06_composite VALUES (1,'a','2020-01-01',1),(1,'b','2020-01-01',1),(2,'ä','1999-12-31',NULL),(-3,'','2001-01-01',4);
CREATE TABLE t07_nokey (v INT, w VARCHAR(10), KEY v (v));
INSERT INTO t07_nokey VALUES (1,'one'),(1,'one'),(NULL,NULL),(2,'two');
CREATE TABLE t08_customers (id INT NOT NULL AUTO_INCREMENT, name VARCHAR(100) NOT NULL, email VARCHAR(100), PRIMARY KEY (id), UNIQUE KEY name_id (name, id), KEY email (email)) AUTO_INCREMENT=1000;
INSERT INTO t08_customers (name, email) VALUES ('Ada','a@x'),('Bob',NULL),('Cem','c@x');
CREATE TABLE t09_orders (customer_id INT NOT NULL, id INT NOT NULL, total DECIMAL(10,2), PRIMARY KEY (customer_id, id), CONSTRAINT fk_customer FOREIGN KEY (customer_id) REFERENCES t08_customers (id) ON DELETE CASCADE) COMMENT='skarv:key=customer_id';
INSERT INTO t09_orders VALUES (1000,1,9.99),(1000,2,0),(1001,1,NULL),(1002,1,1e6);
CREATE TABLE t10_countries (code CHAR(2) NOT NULL PRIMARY KEY, name VARCHAR(50) NOT NULL, UNIQUE KEY name (name)) COMMENT='skarv:reference';
INSERT INTO t10_countries VALUES ('DE','Deutschland'),('NO','Norge'),('TR','Türkiye');
CREATE TABLE t11_cities (id INT PRIMARY KEY, country CHAR(2), name VARCHAR(50), CONSTRAINT fk_country FOREIGN KEY (country) REFERENCES t10_countries (code));
INSERT INTO t11_cities VALUES (1,'DE','Köln'),(2,'NO','Tromsø'),(3,'TR','İzmir'),(4,NULL,'?');
CREATE TABLE t12_settings (id INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(20), v TEXT, UNIQUE KEY (k)) COMMENT='skarv:single';
INSERT INTO t12_settings VALUES (1,'a','b'),(2,'c',NULL);
CREATE TABLE t13_empty (id INT PRIMARY KEY, v INT);
CREATE TABLE t14_generated (id INT PRIMARY KEY, a INT, b INT AS (a * 2) STORED, c VARCHAR(20) AS (CONCAT('x', a)) VIRTUAL, KEY (b));
INSERT INTO t14_generated (id, a) VALUES (1, 10), (2, NULL), (3, -7);
CREATE TABLE t15_checks (id INT PRIMARY KEY, v INT CHECK (v > 0), w INT, CONSTRAINT v_w CHECK (v < w OR w IS NULL));
INSERT INTO t15_checks VALUES (1, 1, 2), (2, NULL, 1), (3, 5, NULL);
CREATE TABLE t16_json (id INT PRIMARY KEY, j JSON, k JSON DEFAULT '[]');
INSERT INTO t16_json VALUES (1, '{"a": [1, "ü", null]}', '[]'), (2, NULL, NULL), (3, '"x"', '{}');
CREATE TABLE t17_spatial (id INT PRIMARY KEY, g GEOMETRY, p POINT NOT NULL, SPATIAL KEY (p));
INSERT INTO t17_spatial VALUES (1, ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))'), POINT(1, 2)), (2, NULL, POINT(-1.5, 1e10));
CREATE TABLE `t18 odd``name` (`the id` INT PRIMARY KEY, `select` VARCHAR(10) NOT NULL DEFAULT 'x''y' COMMENT 'a; comment''s', `naïve` INT);
INSERT INTO `t18 odd``name` VALUES (1, 'a', 1), (2, 'b', NULL);
CREATE TABLE t19_text_key (k VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, v INT) ROW_FORMAT=DYNAMIC;
INSERT INTO t19_text_key VALUES ('Alpha', 1), ('beta ', 2), ('Ünder', 3), ('', 4), ('😀', 5);
CREATE TABLE t20_many (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, g INT NOT NULL, pad CHAR(60) NOT NULL DEFAULT '', KEY g (g));
INSERT INTO t20_many (g, pad) SELECT seq % 97, REPEAT(CHAR(97 + seq % 26), seq % 50) FROM seq_1_to_5000;
CREATE VIEW v1_orders AS SELECT c.name, o.id, o.total FROM t08_customers c JOIN t09_orders o ON o.customer_id = c.id;
CREATE SQL SECURITY INVOKER VIEW v2_countries (c, n) AS SELECT code, name FROM t10_countries WHERE code > 'A' WITH CHECK OPTION;

DELIMITER ;;
CREATE FUNCTION half(n INT) RETURNS INT DETERMINISTIC RETURN n DIV 2;;
CREATE FUNCTION `odd``name`(s VARCHAR(20) CHARACTER SET latin1) RETURNS VARCHAR(30) DETERMINISTIC COMMENT 'it''s'
BEGIN
  -- a comment
  DECLARE r VARCHAR(30) DEFAULT CONCAT(s, ';', 'ä');
  IF s IS NULL THEN RETURN 'none'; END IF;
  RETURN r;
END;;
CREATE PROCEDURE totals(IN least INT, OUT n INT)
BEGIN
  SELECT COUNT(*) INTO n FROM t01_ints WHERE id >= least; /* all of them */
  SELECT n, half(n);
END;;
CREATE TRIGGER ints_upd BEFORE UPDATE ON t01_ints FOR EACH ROW BEGIN IF NEW.i < -1000 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too small'; END IF; END;;
CREATE TRIGGER orders_del AFTER DELETE ON t09_orders FOR EACH ROW BEGIN /* kept: 'ü' */ INSERT INTO t07_nokey (v, w) VALUES (OLD.id, 'it''s \\ ü'); UPDATE t12_settings SET v = OLD.total WHERE k = 'a'; END;;
DELIMITER ;
CREATE VIEW v_half AS SELECT id, half(id) AS h FROM t01_ints;
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 03:00:00' ON COMPLETION PRESERVE COMMENT 'it''s night' DO DELETE FROM t01_ints WHERE i < -100000;
SET time_zone = '+05:30', sql_mode = 'ANSI_QUOTES';
DELIMITER ;;
CREATE EVENT "odd`event" ON SCHEDULE EVERY '1 2' DAY_HOUR STARTS '2037-01-01 03:00:00' ENDS '2037-12-31 00:00:00' DISABLE DO BEGIN
  /* of two statements; */
  DELETE FROM "t01_ints" WHERE i < -100000;
  SELECT 'ä';
END;;
DELIMITER ;
CREATE EVENT once ON SCHEDULE AT '2037-05-05 05:05:05' DO DO 1;
