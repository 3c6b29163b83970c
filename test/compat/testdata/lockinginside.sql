-- Queries inside of a statement that lock what they read, as an order of WooCommerce reserves what it sells.
CREATE TABLE wp_wc_reserved_stock (order_id BIGINT NOT NULL, product_id BIGINT NOT NULL, stock_quantity DOUBLE NOT NULL DEFAULT 0, `timestamp` DATETIME NOT NULL DEFAULT '2020-01-01 00:00:00', expires DATETIME NOT NULL DEFAULT '2020-01-01 00:00:00', PRIMARY KEY (order_id, product_id));
CREATE TABLE wp_postmeta (meta_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, post_id BIGINT UNSIGNED NOT NULL DEFAULT 0, meta_key VARCHAR(255) DEFAULT NULL, meta_value LONGTEXT, KEY post_id (post_id), KEY meta_key (meta_key(191)));
CREATE TABLE wp_posts (ID BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, post_status VARCHAR(20));
INSERT INTO wp_posts VALUES (5, 'wc-pending'), (6, 'publish');
INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (6, '_stock', '10'), (6, '_price', '3');
INSERT INTO wp_wc_reserved_stock VALUES (5, 6, 4, '2026-01-01 00:00:00', '2036-01-01 00:00:00');
BEGIN;
INSERT INTO wp_wc_reserved_stock (`order_id`, `product_id`, `stock_quantity`, `timestamp`, `expires`) SELECT 8, 6, 3, '2026-01-01', '2026-01-01' + INTERVAL 60 MINUTE FROM DUAL WHERE (SELECT COALESCE(MAX(meta_value), 0) FROM wp_postmeta AS meta_table WHERE meta_table.meta_key = '_stock' AND meta_table.post_id = 6 FOR UPDATE) - (SELECT COALESCE(SUM(stock_table.`stock_quantity`), 0) FROM wp_wc_reserved_stock stock_table LEFT JOIN wp_posts posts ON stock_table.`order_id` = posts.ID WHERE posts.post_status IN ('wc-checkout-draft', 'wc-pending') AND stock_table.`expires` > NOW() AND stock_table.`product_id` = 6 AND stock_table.`order_id` != 8) >= 3 ON DUPLICATE KEY UPDATE `expires` = VALUES(`expires`), `stock_quantity` = VALUES(`stock_quantity`);
COMMIT;
SELECT * FROM wp_wc_reserved_stock ORDER BY order_id;
INSERT INTO wp_wc_reserved_stock (`order_id`, `product_id`, `stock_quantity`) SELECT 9, 6, 3 FROM DUAL WHERE (SELECT COALESCE(MAX(meta_value), 0) FROM wp_postmeta AS meta_table WHERE meta_table.meta_key = '_stock' AND meta_table.post_id = 6) > 3 ON DUPLICATE KEY UPDATE `stock_quantity` = VALUES(`stock_quantity`);
SELECT * FROM wp_wc_reserved_stock ORDER BY order_id;
SELECT 1 FROM DUAL WHERE (SELECT MAX(meta_value) FROM wp_postmeta WHERE post_id = 6 FOR UPDATE) > 3;
SELECT (SELECT MAX(meta_value) FROM wp_postmeta WHERE post_id = 6 FOR UPDATE) AS c;
SELECT * FROM wp_posts WHERE ID IN (SELECT post_id FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE);
SELECT * FROM (SELECT post_id FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE) q;
UPDATE wp_posts SET post_status = 'x' WHERE ID IN (SELECT post_id FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE);
INSERT INTO wp_posts SELECT 100 + post_id, 'y' FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE;
SELECT * FROM wp_posts ORDER BY ID;
UPDATE wp_posts SET post_status = 'z' WHERE ID IN (SELECT post_id FROM (SELECT post_id FROM wp_postmeta WHERE meta_key = '_stock' LIMIT 1 FOR UPDATE SKIP LOCKED) q);
INSERT INTO wp_wc_reserved_stock (order_id, product_id, stock_quantity) SELECT post_id, 7, 1 FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE NOWAIT;
INSERT INTO wp_wc_reserved_stock (order_id, product_id, stock_quantity) SELECT post_id, 1, 1 FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE;
INSERT INTO wp_wc_reserved_stock (order_id, product_id, stock_quantity) SELECT post_id, 2, 1 FROM wp_postmeta WHERE meta_key IN (SELECT meta_key FROM wp_postmeta WHERE meta_value = 10 FOR UPDATE) LOCK IN SHARE MODE;
-- MySQL 9.7 deletes the rows of the subquery as well.
-- only: mariadb
DELETE FROM wp_wc_reserved_stock WHERE product_id = 2 AND order_id IN (SELECT post_id FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE);
(SELECT post_id FROM wp_postmeta WHERE meta_key = '_stock' FOR UPDATE) UNION (SELECT ID FROM wp_posts WHERE ID > 6) ORDER BY 1;
SELECT * FROM wp_wc_reserved_stock ORDER BY order_id, product_id;
DROP TABLE wp_wc_reserved_stock, wp_postmeta, wp_posts;
-- The clause of a query that is in parentheses as a whole.
INSERT IGNORE INTO wp_wc_reserved_stock (order_id, product_id, stock_quantity) (SELECT post_id, 3, 1 FROM wp_postmeta WHERE meta_key = '_stock' LOCK IN SHARE MODE);
INSERT INTO wp_wc_reserved_stock (order_id, product_id, stock_quantity) (SELECT p.ID, 4, m.meta_value FROM wp_postmeta m JOIN wp_posts p ON p.ID = m.post_id FOR UPDATE);
SELECT * FROM wp_wc_reserved_stock ORDER BY order_id, product_id;
