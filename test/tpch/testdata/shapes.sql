-- D1 windows over a join
SELECT c_custkey, o_orderkey, o_totalprice, RANK() OVER (PARTITION BY c_nationkey ORDER BY o_totalprice DESC, o_orderkey) AS r FROM customer JOIN orders ON o_custkey = c_custkey WHERE o_orderdate >= DATE '1997-06-01' ORDER BY c_nationkey, r, o_orderkey LIMIT 200;
-- D2 running total
SELECT o_orderdate, day_total, SUM(day_total) OVER (ORDER BY o_orderdate ROWS UNBOUNDED PRECEDING) AS total FROM (SELECT o_orderdate, SUM(o_totalprice) AS day_total FROM orders WHERE o_orderdate < DATE '1992-06-01' GROUP BY o_orderdate) AS d ORDER BY o_orderdate;
-- D3 moving average by month
SELECT m, v, AVG(v) OVER (ORDER BY m ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a FROM (SELECT EXTRACT(YEAR_MONTH FROM l_shipdate) AS m, SUM(l_quantity) AS v FROM lineitem GROUP BY EXTRACT(YEAR_MONTH FROM l_shipdate)) AS x ORDER BY m;
-- D4 rows before and after
SELECT o_custkey, o_orderkey, LAG(o_orderdate) OVER w AS before_it, LEAD(o_orderdate) OVER w AS after_it FROM orders WHERE o_custkey < 50 WINDOW w AS (PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey) ORDER BY o_custkey, o_orderdate, o_orderkey;
-- D5 share of a class
SELECT p_brand, revenue, revenue * 100 / SUM(revenue) OVER (PARTITION BY p_mfgr) AS share FROM (SELECT p_mfgr, p_brand, SUM(l_extendedprice) AS revenue FROM lineitem JOIN part ON p_partkey = l_partkey WHERE l_shipdate >= DATE '1998-01-01' GROUP BY p_mfgr, p_brand) AS x ORDER BY p_mfgr, p_brand;
-- D6 rollup over a join
SELECT n_name, c_mktsegment, COUNT(*) AS n, SUM(o_totalprice) AS total FROM customer JOIN orders ON o_custkey = c_custkey JOIN nation ON n_nationkey = c_nationkey WHERE n_regionkey = 1 GROUP BY n_name, c_mktsegment WITH ROLLUP;
-- D7 rollup of one table
SELECT l_returnflag, l_linestatus, SUM(l_quantity), COUNT(DISTINCT l_suppkey) FROM lineitem GROUP BY l_returnflag, l_linestatus WITH ROLLUP;
-- D8 top three of each group
SELECT n_name, s_name, s_acctbal FROM (SELECT n_name, s_name, s_acctbal, ROW_NUMBER() OVER (PARTITION BY n_name ORDER BY s_acctbal DESC, s_name) AS r FROM supplier JOIN nation ON n_nationkey = s_nationkey) AS x WHERE r <= 3 ORDER BY n_name, r;
-- D9 two common table expressions
WITH big AS (SELECT o_custkey, SUM(o_totalprice) AS total FROM orders GROUP BY o_custkey HAVING SUM(o_totalprice) > 3000000), rich AS (SELECT c_custkey, c_name FROM customer WHERE c_acctbal > 5000) SELECT c_custkey, c_name, total FROM big JOIN rich ON o_custkey = c_custkey ORDER BY total DESC, c_custkey;
-- D10 a year against the one before
WITH y AS (SELECT EXTRACT(YEAR FROM o_orderdate) AS year, c_nationkey AS nation, SUM(o_totalprice) AS total FROM orders JOIN customer ON c_custkey = o_custkey GROUP BY EXTRACT(YEAR FROM o_orderdate), c_nationkey) SELECT a.nation, a.year, a.total, b.total AS before_it FROM y a JOIN y b ON b.nation = a.nation AND b.year = a.year - 1 ORDER BY a.nation, a.year;
-- D11 recursion beside tables
WITH RECURSIVE d AS (SELECT DATE '1995-01-01' AS day UNION ALL SELECT day + INTERVAL '1' DAY FROM d WHERE day < DATE '1995-01-31') SELECT d.day, COUNT(o_orderkey) AS n FROM d LEFT JOIN orders ON o_orderdate = d.day GROUP BY d.day ORDER BY d.day;
-- D12 recursion through a table
WITH RECURSIVE chain AS (SELECT o_orderkey, o_custkey, 1 AS depth FROM orders WHERE o_orderkey = 1 UNION ALL SELECT o.o_orderkey, o.o_custkey, depth + 1 FROM chain JOIN orders o ON o.o_orderkey = chain.o_orderkey + 4 WHERE depth < 30) SELECT * FROM chain ORDER BY depth;
-- D13 intersect
SELECT o_custkey FROM orders WHERE o_orderdate < DATE '1992-03-01' INTERSECT SELECT o_custkey FROM orders WHERE o_orderdate >= DATE '1998-01-01' ORDER BY 1;
-- D14 except
SELECT c_custkey FROM customer WHERE c_nationkey = 3 EXCEPT SELECT o_custkey FROM orders WHERE o_orderstatus = 'F' ORDER BY 1;
-- D15 union of unlike parts
SELECT 'customer' AS kind, c_custkey AS k, c_acctbal AS v FROM customer WHERE c_acctbal > 9900 UNION ALL SELECT 'supplier', s_suppkey, s_acctbal FROM supplier WHERE s_acctbal > 9000 UNION SELECT 'part', p_partkey, p_retailprice FROM part WHERE p_retailprice > 1999 ORDER BY kind, k;
-- D16 greater than all
SELECT o_orderkey, o_totalprice FROM orders WHERE o_totalprice >= ALL (SELECT o_totalprice FROM orders WHERE o_orderstatus = 'P') ORDER BY 1;
-- D17 greater than any of a correlated set
SELECT COUNT(*) FROM customer WHERE c_acctbal > ANY (SELECT s_acctbal FROM supplier WHERE s_nationkey = c_nationkey);
-- D18 group_concat
SELECT s_nationkey, GROUP_CONCAT(DISTINCT p_brand ORDER BY p_brand SEPARATOR '|') AS brands FROM supplier JOIN partsupp ON ps_suppkey = s_suppkey JOIN part ON p_partkey = ps_partkey WHERE p_size = 7 GROUP BY s_nationkey ORDER BY s_nationkey;
-- D19 distinct aggregates
SELECT COUNT(DISTINCT l_suppkey), COUNT(DISTINCT l_partkey), SUM(DISTINCT l_quantity) FROM lineitem WHERE l_shipdate < DATE '1993-01-01';
-- D20 correlated subqueries in the list
SELECT c_custkey, (SELECT COUNT(*) FROM orders WHERE o_custkey = c_custkey) AS n, (SELECT MAX(o_totalprice) FROM orders WHERE o_custkey = c_custkey) AS m FROM customer WHERE c_nationkey = 5 ORDER BY c_custkey;
-- D21 lateral
-- only: mysql
SELECT c_custkey, t.o_orderkey, t.o_totalprice FROM customer, LATERAL (SELECT o_orderkey, o_totalprice FROM orders WHERE o_custkey = c_custkey ORDER BY o_totalprice DESC, o_orderkey LIMIT 2) AS t WHERE c_nationkey = 9 ORDER BY c_custkey, t.o_totalprice DESC;
-- D22 json_table beside a table
SELECT j.k, COUNT(o_orderkey) AS n FROM JSON_TABLE('[1, 2, 3, 500]', '$[*]' COLUMNS (k INT PATH '$')) AS j LEFT JOIN orders ON o_custkey = j.k GROUP BY j.k ORDER BY j.k;
-- D23 having against the whole
SELECT o_custkey, SUM(o_totalprice) AS total FROM orders GROUP BY o_custkey HAVING SUM(o_totalprice) > (SELECT 2.2 * AVG(t) FROM (SELECT SUM(o_totalprice) AS t FROM orders GROUP BY o_custkey) AS x) ORDER BY total DESC, o_custkey;
-- D24 customers without and parts never sold
SELECT (SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS without_orders, (SELECT COUNT(*) FROM part WHERE p_partkey NOT IN (SELECT l_partkey FROM lineitem)) AS unsold;
-- D25 median by windows
SELECT AVG(o_totalprice) FROM (SELECT o_totalprice, ROW_NUMBER() OVER (ORDER BY o_totalprice) AS r, COUNT(*) OVER () AS n FROM orders WHERE o_orderdate < DATE '1993-01-01') AS x WHERE r BETWEEN n / 2 AND n / 2 + 1;
-- D26 quartiles
SELECT q, COUNT(*), MIN(c_acctbal), MAX(c_acctbal) FROM (SELECT c_acctbal, NTILE(4) OVER (ORDER BY c_acctbal, c_custkey) AS q FROM customer) AS x GROUP BY q ORDER BY q;
-- D27 order and line of one row
SELECT o_orderkey, l_linenumber, p_name, s_name FROM orders JOIN lineitem ON l_orderkey = o_orderkey JOIN part ON p_partkey = l_partkey JOIN supplier ON s_suppkey = l_suppkey WHERE o_orderkey = 401 ORDER BY l_linenumber;
-- D28 one customer's orders
SELECT c_name, o_orderkey, o_totalprice FROM customer LEFT JOIN orders ON o_custkey = c_custkey WHERE c_custkey = 77 ORDER BY o_orderkey;
