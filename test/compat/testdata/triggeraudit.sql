-- Triggers that read a variable of the session, such as who it is.
CREATE TABLE item (id INT PRIMARY KEY, v INT);
CREATE TABLE audit (n INT AUTO_INCREMENT PRIMARY KEY, id INT, v INT, who INT, called_at INT);
INSERT INTO item VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
-- skip-prepared
CREATE TRIGGER iu AFTER UPDATE ON item FOR EACH ROW INSERT INTO audit (id, v, who, called_at) VALUES (NEW.id, NEW.v, @user_id, @@server_id - @@server_id);
-- skip-prepared
CREATE TRIGGER id AFTER DELETE ON item FOR EACH ROW INSERT INTO audit (id, v, who) VALUES (OLD.id, -1, @user_id);
SET @user_id = 7, @from = 2;
UPDATE item SET v = v + @user_id WHERE id >= @from;
DELETE FROM item WHERE id > @user_id - @from - 1;
SELECT * FROM item ORDER BY id;
SELECT id, v, who, called_at FROM audit ORDER BY id, v;
