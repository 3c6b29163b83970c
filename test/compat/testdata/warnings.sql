
-- Those of SET can be shown, too; on MySQL it forgets those of the statement before it, on MariaDB it keeps them if it has none.
CREATE TABLE told (a INT PRIMARY KEY);
SET sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO', @x = 1/0;
SHOW WARNINGS;
SET @y = 2;
SHOW WARNINGS;
SET tmp_table_size = 1;
SHOW WARNINGS;
SELECT @@warning_count;
SET tmp_table_size = DEFAULT, sql_mode = DEFAULT;
