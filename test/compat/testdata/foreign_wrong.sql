-- What servers say of foreign keys that cannot be, in ALTER TABLE as in CREATE TABLE.
CREATE TABLE cars (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, maker VARCHAR(20), plate CHAR(8) UNIQUE);
CREATE TABLE engines (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, car_id BIGINT, name VARCHAR(20), small INT NOT NULL);
ALTER TABLE engines ADD CONSTRAINT of_car FOREIGN KEY (car_id) REFERENCES cars (id);
ALTER TABLE engines ADD CONSTRAINT of_car FOREIGN KEY (name) REFERENCES cars (maker);
ALTER TABLE engines ADD FOREIGN KEY (small) REFERENCES cars (id) ON DELETE SET NULL;
ALTER TABLE engines ADD FOREIGN KEY (small) REFERENCES nothing (id);
ALTER TABLE engines ADD FOREIGN KEY (small) REFERENCES cars (nothing);
ALTER TABLE engines ADD FOREIGN KEY (small, name) REFERENCES cars (id, nothing);
-- only: mysql
ALTER TABLE engines ADD FOREIGN KEY (small, name) REFERENCES cars (id, maker);
ALTER TABLE engines ADD FOREIGN KEY (nothing) REFERENCES cars (id);
ALTER TABLE engines ADD other BIGINT, ADD FOREIGN KEY (other) REFERENCES cars (id);
ALTER TABLE engines ADD FOREIGN KEY (small, name) REFERENCES cars (id);
SET foreign_key_checks = 0;
ALTER TABLE engines ADD CONSTRAINT of_car FOREIGN KEY (car_id) REFERENCES cars (id);
SET foreign_key_checks = 1;
ALTER TABLE engines ADD CONSTRAINT of_car FOREIGN KEY (small) REFERENCES cars (id);
INSERT INTO engines (small) VALUES (1);
