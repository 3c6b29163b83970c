-- story: mysql
-- ST_COLLECT, an aggregate, over several node groups.
CREATE TABLE sp (id INT PRIMARY KEY, g INT, p POINT NOT NULL SRID 4326);
INSERT INTO sp VALUES (1, 1, ST_GeomFromText('POINT(10 20)', 4326)), (2, 1, ST_SRID(POINT(20, 10), 4326)), (3, 2, ST_PointFromText('POINT(-5 7)', 4326)), (4, 2, ST_PointFromText('POINT(-5 7)', 4326));
SELECT ST_NumGeometries(ST_Collect(p)) FROM sp;
SELECT ST_NumGeometries(ST_Collect(DISTINCT p)) FROM sp;
SELECT g, ST_NumGeometries(ST_Collect(p)), COUNT(*) FROM sp GROUP BY g ORDER BY g;
SELECT COUNT(*), ST_AsText(ST_Envelope(ST_Collect(p))) FROM sp WHERE id > 99;
SELECT g, COUNT(*) FROM sp GROUP BY g HAVING ST_NumGeometries(ST_Collect(p)) = 2 ORDER BY g;
SELECT n + 1 FROM (SELECT ST_NumGeometries(ST_Collect(p)) AS n FROM sp) q;
SELECT id, (SELECT ST_NumGeometries(ST_Collect(p)) FROM sp s WHERE s.g = sp.g AND s.id <= sp.id) AS n FROM sp ORDER BY id;
SELECT id, ST_NumGeometries(ST_Collect(p) OVER (PARTITION BY g ORDER BY id)) AS n FROM sp ORDER BY id;
SELECT g, ST_NumGeometries(ST_Collect(p)) FROM sp GROUP BY g WITH ROLLUP;
SELECT ST_NumGeometries(ST_Collect(p)) FROM sp WHERE id = 3;
CREATE VIEW vc AS SELECT g, ST_Collect(p) AS c FROM sp GROUP BY g;
SELECT g, ST_NumGeometries(c) FROM vc ORDER BY g;
SELECT ST_Longitude(p), ST_Latitude(p), ST_Buffer_Strategy('point_circle', 8) IS NOT NULL, JSON_SCHEMA_VALIDATION_REPORT('{}', '{}') FROM sp ORDER BY id;
