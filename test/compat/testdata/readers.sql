CREATE TABLE products (id INT PRIMARY KEY, g INT, name VARCHAR(20), price DECIMAL(8,2));
CREATE TABLE sales (id INT PRIMARY KEY, product INT, n INT, label VARCHAR(20));
CREATE TABLE rates (g INT PRIMARY KEY, rate DECIMAL(4,2)) COMMENT 'skarv:reference';
CREATE TABLE solo (id INT PRIMARY KEY, v INT) COMMENT 'skarv:single';
INSERT INTO products VALUES (1, 1, 'one', 1.50), (2, 1, 'two', 2.50), (3, 2, 'three', 3.00), (4, 2, NULL, NULL), (5, 3, 'five', 5.25);
INSERT INTO sales VALUES (1, 1, 3, NULL), (2, 2, 1, NULL), (3, 1, 5, NULL), (4, 5, 2, NULL), (5, 99, 7, NULL), (6, 3, 1, NULL);
INSERT INTO rates VALUES (1, 0.10), (2, 0.20);
INSERT INTO solo VALUES (1, 10), (2, 20);
-- skip-prepared
CREATE FUNCTION price_of(p INT) RETURNS DECIMAL(8,2) READS SQL DATA RETURN (SELECT price FROM products WHERE id = p);
-- skip-prepared
CREATE FUNCTION sold(p INT) RETURNS INT READS SQL DATA BEGIN DECLARE s INT DEFAULT 0; SELECT SUM(n) INTO s FROM sales WHERE product = p; RETURN COALESCE(s, 0); END;
-- skip-prepared
CREATE FUNCTION rate_of(x INT) RETURNS DECIMAL(4,2) READS SQL DATA BEGIN DECLARE r DECIMAL(4,2); DECLARE CONTINUE HANDLER FOR NOT FOUND SET r = 0; SELECT rate INTO r FROM rates WHERE g = x; RETURN r; END;
-- skip-prepared
CREATE FUNCTION names() RETURNS VARCHAR(100) READS SQL DATA BEGIN DECLARE done INT DEFAULT 0; DECLARE n VARCHAR(20); DECLARE s VARCHAR(100) DEFAULT ''; DECLARE c CURSOR FOR SELECT name FROM products WHERE name IS NOT NULL ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; OPEN c; l: LOOP FETCH c INTO n; IF done THEN LEAVE l; END IF; SET s = CONCAT(s, n, ';'); END LOOP; CLOSE c; RETURN s; END;
-- skip-prepared
CREATE FUNCTION solo_of(x INT) RETURNS INT READS SQL DATA RETURN (SELECT v FROM solo WHERE id = x);
-- skip-prepared
CREATE FUNCTION dear(p INT) RETURNS INT READS SQL DATA RETURN price_of(p) > 2;
SELECT price_of(1);
SELECT price_of(3), 'x';
-- only: mariadb
SELECT price_of(77), price_of(NULL);
SELECT names();
SELECT sold(1);
SELECT rate_of(1), rate_of(9);
SELECT solo_of(2);
SELECT dear(5);
SELECT id, price_of(product) FROM sales ORDER BY id;
SELECT id, price_of(product) * n FROM sales WHERE id = 3;
SELECT id FROM sales WHERE price_of(product) > 2 ORDER BY id;
SELECT SUM(price_of(product) * n) FROM sales;
SELECT product, COUNT(*), MAX(price_of(product)) FROM sales GROUP BY product ORDER BY product;
SELECT id, sold(id) FROM products ORDER BY id;
SELECT id, name FROM products WHERE sold(id) = 0 ORDER BY id;
SELECT id, rate_of(g) FROM products ORDER BY id;
SELECT id, rate_of(g) FROM products WHERE id = 3;
SELECT id, solo_of(id) FROM products ORDER BY id;
SELECT a.v, solo_of(a.id) FROM solo a ORDER BY a.id;
SELECT id, dear(product) FROM sales ORDER BY id;
SELECT id, price_of(product) FROM sales ORDER BY price_of(product) DESC, id LIMIT 3;
SELECT id FROM sales WHERE product IN (SELECT id FROM products WHERE sold(id) > 5) ORDER BY id;
SELECT id, sold(id) FROM products UNION ALL SELECT g, 0 FROM rates ORDER BY 1, 2;
SELECT id, price, price_of(id), price_of(id + 1) FROM products ORDER BY id;
SELECT p.id, s.id, sold(p.id), price_of(p.id) FROM products p JOIN sales s ON s.product = p.id ORDER BY 1, 2;
SET @x = price_of(2);
SELECT @x;
DO sold(1);
INSERT INTO solo VALUES (3, sold(1));
INSERT INTO products VALUES (10, sold(2), 'ten', 10), (11, sold(1), 'eleven', sold(5));
SELECT * FROM products ORDER BY id;
-- only: mariadb
UPDATE products SET g = sold(id) WHERE sold(id) > 2;
SELECT * FROM products ORDER BY id;
UPDATE sales SET label = price_of(product) WHERE product < 3;
DELETE FROM sales WHERE price_of(product) > 5;
SELECT * FROM sales ORDER BY id;
INSERT INTO sales SELECT id + 100, id, 1, names() FROM rates JOIN solo ON g = id;
SELECT * FROM sales ORDER BY id;
-- refused: it reads what is written
UPDATE products SET price = price_of(id) + 1;
BEGIN;
UPDATE products SET price = 100 WHERE id = 1;
SELECT price_of(1);
SELECT id, price_of(product) FROM sales ORDER BY id;
ROLLBACK;
SELECT price_of(1);
CREATE VIEW priced AS SELECT id, price_of(product) AS price FROM sales;
SELECT * FROM priced ORDER BY id;
SELECT * FROM priced WHERE id = 2;
CREATE VIEW constant AS SELECT price_of(2) AS p;
SELECT * FROM constant;
-- skip-prepared
CREATE PROCEDURE p(IN a INT, OUT b DECIMAL(8,2)) BEGIN DECLARE x DECIMAL(8,2) DEFAULT price_of(a); IF sold(a) > 3 THEN SET x = x + sold(a); END IF; SET b = x; SELECT price_of(a), sold(a); END;
CALL p(1, @b);
SELECT @b;
CALL p(sold(2), @b);
SELECT @b;
-- a trigger that calls one
-- skip-prepared
CREATE TRIGGER sb BEFORE INSERT ON sales FOR EACH ROW SET NEW.label = CONCAT('p', price_of(NEW.product));
INSERT INTO sales (id, product, n) VALUES (200, 2, 1), (201, 3, 1);
SELECT * FROM sales WHERE id >= 200 ORDER BY id;
-- skip-prepared
CREATE FUNCTION missing() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM nothing);
SELECT missing();
-- refused: it writes
-- skip-prepared
CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA BEGIN UPDATE products SET g = 1; RETURN 1; END;
-- skip-prepared
DROP FUNCTION price_of;
SELECT dear(1);
-- skip-prepared
-- refused: the system table information_schema.tables in stored functions
CREATE FUNCTION shows_tables() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM information_schema.tables);
-- Tables that functions read, and the statement and the functions' own statements, more than once.
CREATE TABLE rd_rent (id INT PRIMARY KEY, inv INT, amt INT);
CREATE TABLE rd_inv (id INT PRIMARY KEY, film INT);
INSERT INTO rd_rent VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30), (4, 4, 40);
INSERT INTO rd_inv VALUES (1, 1), (2, 1), (3, 2), (4, 3);
-- skip-prepared
CREATE FUNCTION rd_balance(p INT) RETURNS INT READS SQL DATA BEGIN DECLARE a INT; DECLARE b INT; SELECT SUM(amt) INTO a FROM rd_rent WHERE inv = p; SELECT COUNT(*) INTO b FROM rd_rent LEFT JOIN rd_inv ON rd_inv.id = inv WHERE inv <= p; RETURN a + b; END;
-- skip-prepared
CREATE FUNCTION rd_in_stock(p INT) RETURNS INT READS SQL DATA BEGIN DECLARE n INT; SELECT COUNT(*) INTO n FROM rd_rent WHERE inv = p; IF n = 0 THEN RETURN 1; END IF; SELECT COUNT(rd_rent.id) INTO n FROM rd_inv LEFT JOIN rd_rent ON rd_rent.inv = rd_inv.id WHERE rd_inv.id = p AND amt > 25; RETURN n = 0; END;
-- skip-prepared
CREATE FUNCTION rd_twice(p INT) RETURNS INT READS SQL DATA RETURN (SELECT SUM(x.amt) FROM rd_rent x JOIN rd_rent y ON x.id = y.id WHERE x.inv = p);
SELECT rd_balance(1), rd_balance(2), rd_balance(9);
SELECT rd_in_stock(1), rd_in_stock(2), rd_in_stock(3);
SELECT id, rd_in_stock(id) FROM rd_inv ORDER BY id;
SELECT id FROM rd_inv WHERE film = 1 AND rd_in_stock(id) ORDER BY id;
SELECT film, COUNT(*), SUM(rd_balance(rd_inv.id)) FROM rd_inv JOIN rd_rent ON inv = rd_inv.id GROUP BY film ORDER BY film;
SELECT a.id, b.id, rd_balance(a.id) FROM rd_inv a JOIN rd_inv b ON a.film = b.film ORDER BY 1, 2;
-- only: mariadb
SELECT rd_twice(1);
-- only: mysql
-- refused: more than once
SELECT rd_twice(1);
-- only: mysql
-- refused: more than once
SELECT rd_balance(1), rd_in_stock(2);
-- skip-prepared
DROP FUNCTION rd_balance;
-- skip-prepared
DROP FUNCTION rd_in_stock;
-- skip-prepared
DROP FUNCTION rd_twice;
