-- story: mysql
-- JSON documents as values of the variables of programs that Skarv runs.
CREATE TABLE d (id INT PRIMARY KEY, doc JSON);
INSERT INTO d VALUES (1, '{"a": 1.5, "b": [1, -2, 18446744073709551615, 1e20, 2.0, 1.2345678901234567e-5], "c": "x\\"1.50", "d": "2020-01-01", "e": null, "f": true}');
INSERT INTO d VALUES (2, JSON_OBJECT('a', 1.50, 'b', TIMESTAMP'2020-01-02 03:04:05'));
INSERT INTO d VALUES (3, CAST(TIME'10:00:00' AS JSON)), (4, JSON_ARRAY(123456789012345678901.5)), (5, JSON_ARRAY(x'FF'));
CREATE TABLE r (id INT PRIMARY KEY, doc JSON, s TEXT);
-- skip-prepared
CREATE PROCEDURE js(IN k INT) BEGIN DECLARE v JSON; SELECT doc INTO v FROM d WHERE id = k; SELECT v, JSON_TYPE(v), JSON_TYPE(JSON_EXTRACT(v, '$.a')); INSERT INTO r (id, doc) VALUES (k, v); END;
-- skip-prepared
CREATE PROCEDURE txt(IN k INT) BEGIN DECLARE v TEXT; DECLARE w VARCHAR(200); SELECT doc, doc INTO v, w FROM d WHERE id = k; SELECT v, w; SELECT doc INTO @j FROM d WHERE id = k; SELECT @j, CHARSET(@j); REPLACE INTO r (id, s) VALUES (k + 100, v); END;
-- skip-prepared
CREATE PROCEDURE cur() BEGIN DECLARE done INT DEFAULT 0; DECLARE v JSON; DECLARE c CURSOR FOR SELECT doc FROM d WHERE id < 10 ORDER BY id; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; OPEN c; FETCH c INTO v; SELECT JSON_EXTRACT(v, '$.b'); CLOSE c; END;
-- skip-prepared
CREATE PROCEDURE setting() BEGIN DECLARE v JSON; SET v = (SELECT doc FROM d WHERE id = 1); SELECT v; SET v = JSON_OBJECT('p', 1.50, 't', TIMESTAMP'2020-01-02 03:04:05'); SELECT v, JSON_TYPE(JSON_EXTRACT(v, '$.p')); REPLACE INTO r (id, doc) VALUES (50, v); END;
CALL js(1);
-- refused: JSON document with a DECIMAL
CALL js(2);
-- refused: JSON document with a DECIMAL
CALL js(3);
-- refused: JSON document with a DECIMAL
CALL js(4);
-- refused: JSON document with a DECIMAL
CALL js(5);
CALL txt(1);
CALL txt(2);
CALL txt(3);
CALL cur();
CALL setting();
SELECT id, doc, s, JSON_TYPE(JSON_EXTRACT(doc, '$.p')) FROM r ORDER BY id;
