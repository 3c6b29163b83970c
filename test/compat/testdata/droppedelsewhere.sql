-- DROP in a database that does not exist: as if the object did not.
CREATE TABLE de1 (id INT PRIMARY KEY);
CREATE TABLE de2 (id INT PRIMARY KEY);
DROP TABLE IF EXISTS de_no.x, de1;
SHOW TABLES LIKE 'de%';
DROP TABLE IF EXISTS de_no.x, de_no2.y;
DROP TABLE de_no.x;
DROP TABLE de_no.x, de2;
SHOW TABLES LIKE 'de%';
DROP TABLE IF EXISTS de2;
DROP VIEW IF EXISTS de_no.v, de_w;
DROP VIEW de_no.v;
-- skip-prepared
DROP PROCEDURE IF EXISTS de_no.p;
-- skip-prepared
DROP PROCEDURE de_no.p;
-- skip-prepared
DROP FUNCTION IF EXISTS de_no.f;
-- skip-prepared
DROP FUNCTION de_no.f;
-- skip-prepared
DROP EVENT IF EXISTS de_no.e;
-- skip-prepared
DROP EVENT de_no.e;
-- skip-prepared
-- only: mariadb
DROP TRIGGER IF EXISTS de_no.t;
-- skip-prepared
DROP TRIGGER de_no.t;
-- only: mariadb
DROP SEQUENCE IF EXISTS de_no.s;
-- only: mariadb
DROP SEQUENCE de_no.s;
DROP TEMPORARY TABLE IF EXISTS de_no.t;
DROP TEMPORARY TABLE de_no.t;
CREATE TEMPORARY TABLE det (a INT);
DROP TABLE IF EXISTS de_no.t, det;
SELECT * FROM det;
CREATE TEMPORARY TABLE det (a INT);
DROP TABLE de_no.t, det;
SELECT * FROM det;
-- A database in which the session has temporary tables.
CREATE DATABASE dedb;
CREATE TEMPORARY TABLE dedb.t (a INT);
-- refused: drop these first
DROP DATABASE dedb;
DROP TEMPORARY TABLE dedb.t;
DROP DATABASE dedb;
