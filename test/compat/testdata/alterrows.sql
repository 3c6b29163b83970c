-- What an ALTER TABLE converts in another way than an INSERT is tried with the rows as they are: no node group is left changed alone.
CREATE TABLE ar_bits (id INT PRIMARY KEY, e VARCHAR(5));
INSERT INTO ar_bits VALUES (1, '5'), (2, '5'), (3, '5'), (4, '5'), (5, '5'), (6, '5'), (7, '5'), (8, 'x'), (9, '5'), (10, '5'), (11, '5'), (12, '5'), (13, '5');
ALTER TABLE ar_bits MODIFY e BIT(4);
SHOW CREATE TABLE ar_bits;
SELECT * FROM ar_bits ORDER BY id;
UPDATE ar_bits SET e = '6' WHERE id = 8;
ALTER TABLE ar_bits MODIFY e BIT(4);
SELECT id, e + 0 FROM ar_bits ORDER BY id;
-- only: mariadb
ALTER TABLE ar_bits ADD COLUMN y YEAR DEFAULT CURRENT_TIMESTAMP;
-- A new column by which rows are to lie, and that has no values.
CREATE TABLE ar_keyless (v INT);
INSERT INTO ar_keyless VALUES (1), (2), (3), (4);
ALTER TABLE ar_keyless ADD n CHAR(5) PRIMARY KEY;
ALTER TABLE ar_keyless ADD n INT NOT NULL DEFAULT 3, ADD PRIMARY KEY (n, v);
ALTER TABLE ar_keyless ADD n INT NOT NULL DEFAULT 3, ADD PRIMARY KEY (v), ALGORITHM = COPY;
SELECT * FROM ar_keyless ORDER BY v;
DROP TABLE ar_bits, ar_keyless;
