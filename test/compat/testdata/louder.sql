CREATE TABLE zl_a (id INT PRIMARY KEY, n INT, s VARCHAR(20));
CREATE TABLE zl_b (id INT PRIMARY KEY, n INT);
CREATE TABLE zl_c (id INT PRIMARY KEY, n INT);
INSERT INTO zl_a VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 3, 'c');
INSERT INTO zl_b VALUES (1, 1), (2, 2), (4, 4);
INSERT INTO zl_c VALUES (1, 1), (4, 3);
COMMIT AND CHAIN RELEASE;
ROLLBACK AND CHAIN RELEASE;
COMMIT AND CHAIN NO RELEASE;
ROLLBACK AND NO CHAIN NO RELEASE;
ROLLBACK;
-- outer joins as ODBC has them
SELECT a.id, b.id, c.id FROM { OJ ((zl_a a JOIN zl_b b ON a.id = b.id) LEFT JOIN zl_c c ON b.id = c.id) } ORDER BY a.id;
SELECT a.id, b.id, c.id FROM { OJ (zl_a a LEFT JOIN zl_b b ON a.n = b.n) LEFT JOIN zl_c c ON b.n = c.n } WHERE c.id IS NULL ORDER BY a.id;
SELECT a.id, b.id, c.id FROM { OJ zl_a a LEFT JOIN (zl_b b JOIN zl_c c ON b.id = c.id) ON a.id = b.id } WHERE a.n > 0 ORDER BY a.id;
SELECT a.id, b.id FROM {OJ zl_a a LEFT JOIN zl_b b ON a.id = b.id}, zl_c c WHERE c.id = 1 ORDER BY a.id;
SELECT a.id, b.id, c.id FROM {OJ zl_a a LEFT JOIN zl_b b ON a.id = b.id} LEFT JOIN {OJ zl_c c LEFT JOIN zl_b d ON c.id = d.id} ON b.id = c.id ORDER BY a.id;
SELECT (SELECT COUNT(*) FROM {OJ zl_a a LEFT JOIN zl_b b ON a.n = b.n}) AS x;
-- dates as ODBC has them
CREATE TABLE zl_day (id INT PRIMARY KEY, d DATE);
INSERT INTO zl_day (id, d) VALUES (1, {d '2020-01-01'});
INSERT INTO zl_day VALUES (2, {d '2020-01-02'});
INSERT INTO zl_day (d, id) SELECT {d '2020-01-03'}, 3;
INSERT INTO compat.zl_day (d, id) SELECT {d '2020-01-04'}, id + 10 FROM zl_a;
SELECT * FROM zl_day WHERE d > {d '2020-01-01'} ORDER BY id;
CREATE TABLE zl_days (id INT PRIMARY KEY) SELECT id, {d '2020-01-01'} AS d, {t '10:11:12'} AS t, {ts '2020-01-01 10:11:12'} AS ts FROM zl_a;
SHOW CREATE TABLE zl_days;
SELECT * FROM zl_days ORDER BY id;
CREATE TABLE zl_one SELECT {d'2020-01-01'} AS d;
SHOW CREATE TABLE zl_one;
SELECT * FROM zl_one;
-- MySQL sorts no different rows by what is not among what they show
SELECT DISTINCT n FROM zl_a ORDER BY id DESC LIMIT 0;
SELECT DISTINCT n FROM zl_a GROUP BY n ORDER BY COUNT(*), n;
SELECT DISTINCT n FROM zl_a GROUP BY n ORDER BY MAX(id) + 1;
SELECT DISTINCT n, s FROM zl_a GROUP BY n, s ORDER BY MAX(id) + 1;
SELECT DISTINCT s, COUNT(*) AS c FROM zl_a GROUP BY s ORDER BY MIN(n);
-- only: mysql
SELECT DISTINCT n FROM zl_a GROUP BY n, s ORDER BY MAX(id);
-- only: mysql
SELECT DISTINCT MAX(n) AS m FROM zl_a GROUP BY s ORDER BY MIN(n) + 1;
-- as many keys as a table may have
CREATE TABLE zl_keys (c1 INT PRIMARY KEY, c2 INT, KEY k1 (c2), KEY k2 (c1), KEY k3 (c2), KEY k4 (c1), KEY k5 (c2), KEY k6 (c1), KEY k7 (c2), KEY k8 (c1), KEY k9 (c2), KEY k10 (c1), KEY k11 (c2), KEY k12 (c1), KEY k13 (c2), KEY k14 (c1), KEY k15 (c2), KEY k16 (c1), KEY k17 (c2), KEY k18 (c1), KEY k19 (c2), KEY k20 (c1), KEY k21 (c2), KEY k22 (c1), KEY k23 (c2), KEY k24 (c1), KEY k25 (c2), KEY k26 (c1), KEY k27 (c2), KEY k28 (c1), KEY k29 (c2), KEY k30 (c1), KEY k31 (c2), KEY k32 (c1), KEY k33 (c2), KEY k34 (c1), KEY k35 (c2), KEY k36 (c1), KEY k37 (c2), KEY k38 (c1), KEY k39 (c2), KEY k40 (c1), KEY k41 (c2), KEY k42 (c1), KEY k43 (c2), KEY k44 (c1), KEY k45 (c2), KEY k46 (c1), KEY k47 (c2), KEY k48 (c1), KEY k49 (c2), KEY k50 (c1), KEY k51 (c2), KEY k52 (c1), KEY k53 (c2), KEY k54 (c1), KEY k55 (c2), KEY k56 (c1), KEY k57 (c2), KEY k58 (c1), KEY k59 (c2), KEY k60 (c1), KEY k61 (c2), KEY k62 (c1), KEY k63 (c2));
INSERT INTO zl_keys VALUES (1, 2);
-- refused: the key that Skarv adds would be one more
CREATE TABLE zl_many (c1 INT, c2 INT, KEY k1 (c2), KEY k2 (c1), KEY k3 (c2), KEY k4 (c1), KEY k5 (c2), KEY k6 (c1), KEY k7 (c2), KEY k8 (c1), KEY k9 (c2), KEY k10 (c1), KEY k11 (c2), KEY k12 (c1), KEY k13 (c2), KEY k14 (c1), KEY k15 (c2), KEY k16 (c1), KEY k17 (c2), KEY k18 (c1), KEY k19 (c2), KEY k20 (c1), KEY k21 (c2), KEY k22 (c1), KEY k23 (c2), KEY k24 (c1), KEY k25 (c2), KEY k26 (c1), KEY k27 (c2), KEY k28 (c1), KEY k29 (c2), KEY k30 (c1), KEY k31 (c2), KEY k32 (c1), KEY k33 (c2), KEY k34 (c1), KEY k35 (c2), KEY k36 (c1), KEY k37 (c2), KEY k38 (c1), KEY k39 (c2), KEY k40 (c1), KEY k41 (c2), KEY k42 (c1), KEY k43 (c2), KEY k44 (c1), KEY k45 (c2), KEY k46 (c1), KEY k47 (c2), KEY k48 (c1), KEY k49 (c2), KEY k50 (c1), KEY k51 (c2), KEY k52 (c1), KEY k53 (c2), KEY k54 (c1), KEY k55 (c2), KEY k56 (c1), KEY k57 (c2), KEY k58 (c1), KEY k59 (c2), KEY k60 (c1), KEY k61 (c2), KEY k62 (c1), KEY k63 (c2), KEY k64 (c1));
CREATE TABLE zl_many (c1 INT, c2 INT, KEY k1 (c2), KEY k2 (c1), KEY k3 (c2), KEY k4 (c1), KEY k5 (c2), KEY k6 (c1), KEY k7 (c2), KEY k8 (c1), KEY k9 (c2), KEY k10 (c1), KEY k11 (c2), KEY k12 (c1), KEY k13 (c2), KEY k14 (c1), KEY k15 (c2), KEY k16 (c1), KEY k17 (c2), KEY k18 (c1), KEY k19 (c2), KEY k20 (c1), KEY k21 (c2), KEY k22 (c1), KEY k23 (c2), KEY k24 (c1), KEY k25 (c2), KEY k26 (c1), KEY k27 (c2), KEY k28 (c1), KEY k29 (c2), KEY k30 (c1), KEY k31 (c2), KEY k32 (c1), KEY k33 (c2), KEY k34 (c1), KEY k35 (c2), KEY k36 (c1), KEY k37 (c2), KEY k38 (c1), KEY k39 (c2), KEY k40 (c1), KEY k41 (c2), KEY k42 (c1), KEY k43 (c2), KEY k44 (c1), KEY k45 (c2), KEY k46 (c1), KEY k47 (c2), KEY k48 (c1), KEY k49 (c2), KEY k50 (c1), KEY k51 (c2), KEY k52 (c1), KEY k53 (c2), KEY k54 (c1), KEY k55 (c2), KEY k56 (c1), KEY k57 (c2), KEY k58 (c1), KEY k59 (c2), KEY k60 (c1), KEY k61 (c2), KEY k62 (c1), KEY k63 (c2));
-- refused: the key that Skarv adds would be one more
ALTER TABLE zl_many ADD KEY k64 (c2);
INSERT INTO zl_many VALUES (1, 2);
SELECT * FROM zl_many;
-- names of routines with and without accents
-- skip-prepared
CREATE PROCEDURE zl_CaFé() SELECT 1;
CALL zl_café();
CALL ZL_CAFE();
-- skip-prepared
CREATE PROCEDURE zl_cafe() SELECT 2;
-- skip-prepared
DROP PROCEDURE zl_Cafe;
-- skip-prepared
DROP PROCEDURE IF EXISTS zl_CAFÉ;
CALL zl_café();
-- skip-prepared
CREATE FUNCTION zl_Fé() RETURNS INT DETERMINISTIC RETURN 1;
SELECT zl_fé();
SELECT zl_fe() + id FROM zl_b ORDER BY id;
-- skip-prepared
DROP FUNCTION zl_FE;
-- skip-prepared
CREATE PROCEDURE zl_ж() SELECT 1;
CALL zl_Ж();
-- skip-prepared
DROP PROCEDURE zl_Ж;
