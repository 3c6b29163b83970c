-- Writes that join tables of different distribution: of each table only rows are read, and locked, that the others' values ask for.
CREATE TABLE wc (id INT PRIMARY KEY, region INT, y INT, name VARCHAR(20), at DATETIME, day DATE);
CREATE TABLE wo (id INT PRIMARY KEY, c INT, x INT, tag VARCHAR(20), made DATETIME, KEY (c));
CREATE TABLE wz (a INT, b INT, n INT, PRIMARY KEY (a, b)) PARTITION BY KEY (a);
CREATE TABLE wref (id INT PRIMARY KEY, f INT) COMMENT 'skarv:reference';
INSERT INTO wc VALUES (1, 1, 10, 'ann', '2026-01-01 10:00:00', '2026-01-01'), (2, 1, 20, 'bob', '2026-01-02 10:00:00', '2026-01-02'), (3, 2, 30, 'cid', '2026-01-03 10:00:00', '2026-01-03'), (4, 2, NULL, 'Ann', NULL, NULL), (5, NULL, 50, 'eve', '2026-01-05 10:00:00', '2026-01-05'), (6, 3, 60, NULL, '2026-01-06 10:00:00', '2026-01-06');
INSERT INTO wo VALUES (1, 1, 0, 'ann', '2026-01-01 10:00:00'), (2, 1, 0, 'x', NULL), (3, 2, 0, 'bob', '2026-01-02 09:00:00'), (4, 3, 0, 'cid ', '2026-02-01 00:00:00'), (5, 9, 0, 'eve', '2026-01-05 10:00:00'), (6, NULL, 0, NULL, NULL), (7, 5, 0, '7', '2026-01-07 10:00:00'), (8, 6, 0, 'ANN', '2026-01-06 10:00:00'), (9, 4, 0, 'y', '2026-03-01 10:00:00');
INSERT INTO wz VALUES (1, 1, 1), (1, 2, 2), (2, 3, 3), (3, 1, 4), (4, 9, 5), (5, 7, 6), (6, 8, 7);
INSERT INTO wref VALUES (1, 100), (2, 200), (3, 300);
-- By a condition on the other table, by two, by none.
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = wc.y WHERE wc.region = 1;
SELECT * FROM wo ORDER BY id;
UPDATE wo, wc SET wo.x = wo.x + 1, wc.y = wc.y + 100 WHERE wo.c = wc.id AND wc.region IN (2, 3);
SELECT * FROM wo ORDER BY id;
SELECT * FROM wc ORDER BY id;
UPDATE wo JOIN wc ON wo.c = wc.id JOIN wz ON wz.a = wo.c AND wz.b = wo.id SET wo.x = -wz.n, wz.n = wc.region WHERE wc.y > 15;
SELECT * FROM wo ORDER BY id;
SELECT * FROM wz ORDER BY a, b;
UPDATE wo JOIN wc ON wo.tag = wc.name SET wo.x = 77 WHERE wc.id <= 4;
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN wref ON wref.id = wo.c JOIN wc ON wc.id = wref.id SET wo.x = wref.f WHERE wc.region = 2;
SELECT * FROM wo ORDER BY id;
-- What an outer join makes up stays: rows without a match are written, too.
UPDATE wo LEFT JOIN wc ON wo.c = wc.id AND wc.region = 1 SET wo.x = COALESCE(wc.y, -5) WHERE wo.id > 3;
SELECT * FROM wo ORDER BY id;
UPDATE wc RIGHT JOIN wo ON wo.c = wc.id SET wo.x = IFNULL(wc.id, -7) WHERE wc.id IS NULL;
SELECT * FROM wo ORDER BY id;
DELETE wo FROM wo LEFT JOIN wc ON wo.c = wc.id WHERE wc.id IS NULL AND wo.id = 5;
SELECT id FROM wo ORDER BY id;
-- One table under several names.
UPDATE wo a JOIN wo b ON a.id = b.c SET a.x = b.id + 1000 WHERE b.x < 0;
SELECT * FROM wo ORDER BY id;
UPDATE wo a JOIN wo b ON a.c = b.c AND a.id <> b.id SET a.x = 4 WHERE b.tag = 'x';
SELECT * FROM wo ORDER BY id;
-- What is written stands behind a subquery that reads it under another name.
UPDATE wo a JOIN wz b ON a.c IN (SELECT q.c FROM wo q WHERE q.c > 0) JOIN wo d ON d.c = b.n SET d.x = 5;
SELECT * FROM wo ORDER BY id;
UPDATE wo a JOIN wc b ON a.c IN (SELECT wo.c FROM wo WHERE wo.c > 0) JOIN wo d ON d.id = b.id SET d.x = d.x + 5 WHERE a.id = 1;
SELECT * FROM wo ORDER BY id;
-- Derived tables, with the first rows of what they read, grouped, of other tables.
UPDATE wo t1 JOIN (SELECT id FROM wo WHERE x > 0 ORDER BY x, id LIMIT 2) t2 ON t1.id = t2.id SET t1.x = 900;
SELECT * FROM wo ORDER BY id;
UPDATE wo t1 JOIN (SELECT id FROM wo WHERE x > 0 ORDER BY x DESC, id LIMIT 1, 2) t2 ON t1.id = t2.id SET t1.x = 901;
SELECT * FROM wo ORDER BY id;
UPDATE wc JOIN (SELECT c, COUNT(*) AS n FROM wo GROUP BY c) d ON d.c = wc.id SET wc.y = d.n WHERE wc.region < 3;
SELECT * FROM wc ORDER BY id;
DELETE wz FROM wz JOIN (SELECT DISTINCT c FROM wo WHERE id IN (3, 4)) d ON d.c = wz.a;
SELECT * FROM wz ORDER BY a, b;
-- Subqueries.
UPDATE wo SET x = 11 WHERE c IN (SELECT id FROM wc WHERE region = 1);
SELECT * FROM wo ORDER BY id;
UPDATE wo SET x = 12 WHERE c IN (SELECT id FROM wc WHERE region = 2) ORDER BY id LIMIT 1;
SELECT * FROM wo ORDER BY id;
UPDATE wo SET x = 13 WHERE c NOT IN (SELECT id FROM wc WHERE region = 1);
SELECT * FROM wo ORDER BY id;
UPDATE wo SET x = 14 WHERE EXISTS (SELECT 1 FROM wc WHERE wc.id = wo.c AND wc.region = 3);
SELECT * FROM wo ORDER BY id;
DELETE FROM wo WHERE c IN (SELECT id FROM wc WHERE region = 3);
SELECT * FROM wo ORDER BY id;
-- Rows that go under two names, of which one has a condition.
INSERT INTO wo VALUES (21, 1, 0, 'p', NULL), (22, 21, 0, 'q', NULL), (23, 21, 0, 'r', NULL), (24, 22, 0, 's', NULL);
DELETE a, b FROM wo a JOIN wo b ON b.c = a.id WHERE a.id = 21;
SELECT * FROM wo ORDER BY id;
-- Dates that are written as such, and such that are not.
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = 20 WHERE wc.at <= '2026-01-02 10:00:00';
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = 21 WHERE wc.day = '2026-01-03' AND wo.made BETWEEN '2026-01-01' AND '2026-12-31 23:59:59';
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = 22 WHERE wc.day >= '20260105';
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = 23 WHERE wc.at <= 'soon' AND wc.region = 1;
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = 24 WHERE wc.at <= NOW() AND wc.region = 1;
SELECT * FROM wo ORDER BY id;
-- The first rows by dates, in pieces, as old rows are thrown away.
DELETE wo FROM wo JOIN (SELECT id FROM wo WHERE made < '2026-01-03' ORDER BY made, id LIMIT 1) q ON q.id = wo.id;
SELECT * FROM wo ORDER BY id;
DELETE wo FROM wo JOIN (SELECT id FROM wo WHERE made < '2026-03-03' ORDER BY made DESC, id LIMIT 1 OFFSET 1) q USING (id);
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN (SELECT id FROM wo WHERE made < 'later' ORDER BY id LIMIT 1) q USING (id) SET x = 1;
UPDATE wo JOIN (SELECT id FROM wo WHERE tag > 7 ORDER BY id LIMIT 1) q USING (id) SET x = 1;
UPDATE wo JOIN (SELECT id FROM wo WHERE made BETWEEN '2026-01-01' AND '2026-1-9' ORDER BY tag DESC, id LIMIT 2) q USING (id) SET x = 31;
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN (SELECT id, x AS tag FROM wo ORDER BY tag, id LIMIT 2) q USING (id) SET wo.x = 32;
SELECT * FROM wo ORDER BY id;
UPDATE wo JOIN (SELECT id FROM wo ORDER BY x + id DESC LIMIT 2) q USING (id) SET wo.x = 33;
SELECT * FROM wo ORDER BY id;
SELECT wc.id, d.id FROM wc JOIN (SELECT id, c FROM wo WHERE c > 0 ORDER BY tag DESC, id LIMIT 2) d ON d.c = wc.id ORDER BY 1, 2;
SELECT wc.id, d.id FROM wc LEFT JOIN (SELECT id, c FROM wo ORDER BY made, id LIMIT 3) d ON d.c = wc.id ORDER BY 1, 2;
-- In strict mode a row whose value is no number is an error, joined or not.
UPDATE wo JOIN wc ON wo.c = wc.id SET wo.x = 30 WHERE wo.tag = 7;
DELETE wo FROM wo JOIN wc ON wo.c = wc.id WHERE wc.name + 0 = 1;
SELECT * FROM wo ORDER BY id;
-- Into a table from others.
INSERT INTO wz SELECT wo.id + 100, wc.id, wc.y FROM wo JOIN wc ON wo.c = wc.id WHERE wc.region = 1;
REPLACE INTO wz SELECT wo.id + 100, wc.id, wc.y + 1 FROM wo JOIN wc ON wo.c = wc.id WHERE wo.id < 3;
INSERT INTO wz SELECT wo.id + 100, wc.id, 0 FROM wo JOIN wc ON wo.c = wc.id WHERE wc.region = 1 ON DUPLICATE KEY UPDATE n = n + 1;
SELECT * FROM wz ORDER BY a, b;
-- A queue, of which several take at the same time.
CREATE TABLE wjobs (action_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, status VARCHAR(20) NOT NULL, scheduled DATETIME, priority TINYINT UNSIGNED NOT NULL DEFAULT 10, claim_id BIGINT UNSIGNED NOT NULL DEFAULT 0, last_attempt DATETIME, KEY (status, scheduled), KEY (claim_id, status));
INSERT INTO wjobs (status, scheduled, priority) VALUES ('pending', '2026-01-01 00:01:00', 10), ('pending', '2026-01-01 00:02:00', 10), ('complete', '2026-01-01 00:03:00', 5), ('pending', '2026-01-01 00:04:00', 5), ('pending', '2026-01-01 00:05:00', 10), ('pending', '2026-01-01 02:00:00', 1), ('pending', NULL, 0);
UPDATE wjobs t1 JOIN (SELECT action_id FROM wjobs WHERE claim_id = 0 AND scheduled <= '2026-01-01 01:00:00' AND status = 'pending' ORDER BY priority ASC, scheduled ASC, action_id ASC LIMIT 3 FOR UPDATE SKIP LOCKED) t2 ON t1.action_id = t2.action_id SET claim_id = 77, last_attempt = '2026-11-28 00:00:00';
SELECT * FROM wjobs ORDER BY action_id;
UPDATE wjobs SET claim_id = 78 WHERE action_id IN (SELECT action_id FROM (SELECT action_id FROM wjobs WHERE claim_id = 0 AND status = 'pending' ORDER BY priority DESC, action_id LIMIT 1 FOR UPDATE SKIP LOCKED) q);
DELETE t1 FROM wjobs t1 JOIN (SELECT action_id FROM wjobs WHERE claim_id = 77 FOR UPDATE NOWAIT) t2 ON t1.action_id = t2.action_id;
SELECT * FROM wjobs ORDER BY action_id;
SELECT q.action_id, wc.id FROM (SELECT action_id FROM wjobs WHERE claim_id = 0 FOR UPDATE SKIP LOCKED) q LEFT JOIN wc ON wc.id = q.action_id ORDER BY 1, 2;
INSERT INTO wz (a, b, n) SELECT action_id, 50, 50 FROM wjobs WHERE claim_id = 0 FOR UPDATE NOWAIT;
SELECT * FROM wz WHERE b = 50 ORDER BY a;
-- refused: SKIP LOCKED
UPDATE wjobs t1 JOIN (SELECT claim_id FROM wjobs WHERE status = 'pending' FOR UPDATE SKIP LOCKED) t2 ON t1.action_id > t2.claim_id SET t1.claim_id = 5;
-- Names in the text, whatever the order in which the tree has them: a subquery in a select list stands before FROM.
CREATE TABLE na (id INT PRIMARY KEY, y INT, s VARCHAR(20));
CREATE TABLE nb (id INT PRIMARY KEY, c INT, x INT, s INT);
CREATE TABLE np (a INT, b INT, n INT, PRIMARY KEY (a, b)) PARTITION BY KEY (a);
CREATE TABLE nq (id INT PRIMARY KEY, z INT);
INSERT INTO na VALUES (1, 10, ''), (2, 20, ''), (3, 30, ''), (4, 40, '');
INSERT INTO nb VALUES (1, 1, 1, 0), (2, 1, 2, 0), (3, 2, 3, 0), (4, 3, 4, 0), (5, 9, 50, 0);
INSERT INTO np VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4), (5, 9, 50);
INSERT INTO nq VALUES (1, 1), (2, 2), (3, 3);
UPDATE nb JOIN (SELECT (SELECT MAX(x) FROM nb) m, c FROM nb WHERE id = 3) d ON d.c = nb.id SET nb.x = d.m;
SELECT * FROM nb ORDER BY id;
UPDATE na JOIN (SELECT (SELECT MAX(x) FROM nb) m, c FROM nb WHERE id = 3) d ON d.c = na.id SET na.y = d.m;
SELECT * FROM na ORDER BY id;
UPDATE na JOIN (SELECT a, (SELECT MAX(x) FROM nb WHERE id > 3) m FROM (SELECT c AS a FROM nb WHERE id = 3) nb) d ON d.a = na.id SET na.y = d.m + 1;
SELECT * FROM na ORDER BY id;
DELETE nb FROM nb JOIN (SELECT (SELECT MIN(nb.c) FROM nb WHERE nb.id = 4) m, nb.c FROM nb WHERE nb.id = 3) d ON d.c = nb.id OR d.m = nb.id;
SELECT * FROM nb ORDER BY id;
DELETE FROM na WHERE id IN (SELECT (SELECT MIN(x) FROM nb WHERE id = 1) FROM nb WHERE id = 4);
SELECT * FROM na ORDER BY id;
UPDATE nq JOIN (na JOIN nb ON na.id = nb.c) ON nq.id = nb.c JOIN (SELECT (SELECT MAX(q.n) FROM np q) m, z.c FROM nb z) d ON na.id = d.c SET na.y = 99, nq.z = 77;
SELECT * FROM na ORDER BY id;
SELECT * FROM nq ORDER BY id;
UPDATE na b JOIN (na a JOIN nb ON a.id = nb.c + 2) ON b.id = a.id + 1 JOIN (SELECT (SELECT MAX(q.n) FROM np q) m, z.c FROM nb z) d ON a.id = d.c + 2 SET a.y = 100;
SELECT * FROM na ORDER BY id;
UPDATE nb t1 JOIN (SELECT (SELECT MAX(q.n) FROM np q) m, z.c FROM nb z) d ON d.c = t1.c JOIN nb t2 ON t2.c = t1.id SET t2.x = 98;
SELECT * FROM nb ORDER BY id;
DELETE na, nq FROM nq JOIN ((SELECT (SELECT MAX(q.n) FROM np q) m, z.c FROM nb z) d JOIN na ON na.id = d.c) ON nq.id = d.c;
SELECT * FROM na ORDER BY id;
SELECT * FROM nq ORDER BY id;
-- What is assigned is compared where tables are joined.
CREATE TABLE nt (id INT PRIMARY KEY, k INT, x INT);
CREATE TABLE nu (id INT PRIMARY KEY, d INT);
INSERT INTO nt VALUES (1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 9, 0), (5, 9, 0), (6, 9, 0), (7, 9, 0);
INSERT INTO nu VALUES (1, 5), (2, 5), (3, 6), (4, 5), (5, 6), (6, 7), (7, 5);
UPDATE nt a1 JOIN nu a2 ON a1.id = a2.id SET a1.x = 78, a2.d = 8 WHERE a2.d = 6;
SELECT * FROM nt ORDER BY id;
SELECT * FROM nu ORDER BY id;
-- only: mariadb
-- refused: under two names
UPDATE nt a1 JOIN nu a2 ON a1.id = a2.id JOIN nu a3 ON a2.d = a3.d SET a3.d = 7, a1.x = 77 WHERE a1.k = 1;
DROP TABLE wc, wo, wz, wref, wjobs, na, nb, np, nq, nt, nu;
-- DELETE FROM names USING tables, which begin with a parenthesis.
CREATE TABLE ua (id INT PRIMARY KEY, y INT);
CREATE TABLE ub (id INT PRIMARY KEY, c INT);
INSERT INTO ua VALUES (1, 10), (2, 20), (3, 30), (4, 40);
INSERT INTO ub VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, 9);
DELETE FROM a USING (SELECT c FROM ub WHERE id = 3) d JOIN ua AS a ON a.id = d.c;
SELECT * FROM ua ORDER BY id;
DELETE FROM ua USING (ua JOIN ub ON ub.c = ua.id) WHERE ub.id = 4;
SELECT * FROM ua ORDER BY id;
DELETE FROM ua USING ua JOIN ub USING (id) WHERE ub.c = 1;
DELETE ua FROM ua JOIN ub USING (id) WHERE ub.c = 3;
SELECT * FROM ua ORDER BY id;
DROP TABLE ua, ub;
