"""What Python clients do every day, on the server given as HOST PORT. Prints a line for each client and step that fails
and exits with the number of failures."""

import datetime
import decimal
import sys

HOST, PORT = sys.argv[1], int(sys.argv[2])
failures = 0


def step(client, name):
    def run(check):
        global failures
        try:
            check()
            print(f"{client}: {name}: ok")
        except Exception as e:  # every failure is told, then the next step runs
            failures += 1
            print(f"{client}: {name}: FAILED: {type(e).__name__}: {e}")
    return run


def same(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def check(client, connect, error):
    """error is the client's class of server errors, with the number as args[0] or errno."""
    db = "py_" + client.lower().split()[0].replace("-", "_")
    c = connect(None)
    cur = c.cursor()
    cur.execute(f"DROP DATABASE IF EXISTS {db}")
    cur.execute(f"CREATE DATABASE {db}")
    c.close()
    c = connect(db)

    @step(client, "create, insert, select")
    def _():
        cur = c.cursor()
        cur.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50), price DECIMAL(10,2), made DATETIME(3), data BLOB)")
        cur.execute("INSERT INTO t (name, price, made, data) VALUES (%s, %s, %s, %s)",
                    ("Grüße 😀", decimal.Decimal("12.30"), datetime.datetime(2024, 2, 29, 12, 30, 1, 125000), b"\x00\xff'"))
        same(cur.lastrowid, 1)
        c.commit()
        cur.execute("SELECT * FROM t WHERE id = %s", (1,))
        same(list(cur.fetchall()), [(1, "Grüße 😀", decimal.Decimal("12.30"),
                                     datetime.datetime(2024, 2, 29, 12, 30, 1, 125000), b"\x00\xff'")])
        same([d[0] for d in cur.description], ["id", "name", "price", "made", "data"])

    @step(client, "executemany")
    def _():
        cur = c.cursor()
        c.autocommit = True if not callable(c.autocommit) else c.autocommit(True) or c.autocommit
        cur.executemany("INSERT INTO t (name, price) VALUES (%s, %s)", [(f"n{i}", i) for i in range(100)])
        same(cur.rowcount, 100)
        cur.execute("SELECT COUNT(*), SUM(price), MAX(id) FROM t")
        same(cur.fetchone(), (101, decimal.Decimal("4962.30"), 101))
        cur.execute("SELECT id FROM t ORDER BY id DESC LIMIT 3")
        same([r[0] for r in cur.fetchall()], [101, 100, 99])

    @step(client, "transactions")
    def _():
        cur = c.cursor()
        cur.execute("START TRANSACTION")
        cur.execute("UPDATE t SET name = 'changed' WHERE id = 1")
        same(cur.rowcount, 1)
        c.rollback()
        cur.execute("SELECT name FROM t WHERE id = 1")
        same(cur.fetchone()[0], "Grüße 😀")
        cur.execute("START TRANSACTION")
        cur.execute("UPDATE t SET name = 'changed' WHERE id = 1")
        c.commit()
        cur.execute("SELECT name FROM t WHERE id = 1")
        same(cur.fetchone()[0], "changed")

    @step(client, "errors")
    def _():
        cur = c.cursor()
        for sql, number in (("SELECT * FROM missing", 1146), ("SELEC 1", 1064), ("INSERT INTO t (id) VALUES (1)", 1062),
                            ("SELECT nothing FROM t", 1054)):
            try:
                cur.execute(sql)
                cur.fetchall()
                raise AssertionError("no error: " + sql)
            except error as e:
                same(getattr(e, "errno", None) or e.args[0], number)

    @step(client, "metadata")
    def _():
        cur = c.cursor()
        cur.execute("SHOW TABLES")
        same([r[0] for r in cur.fetchall()], ["t"])
        cur.execute("SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY ordinal_position")
        same([r[0] for r in cur.fetchall()], ["id", "name", "price", "made", "data"])
        cur.execute("SELECT CONNECTION_ID(), VERSION()")
        cur.fetchall()
    return c


def pymysql_client():
    import pymysql
    name = f"PyMySQL {pymysql.VERSION_STRING}"
    c = check(name, lambda db: pymysql.connect(host=HOST, port=PORT, user="root", database=db, charset="utf8mb4"), pymysql.err.MySQLError)

    @step(name, "unbuffered cursor")
    def _():
        cur = c.cursor(pymysql.cursors.SSCursor)
        cur.execute("SELECT id FROM t ORDER BY id")
        same(sum(1 for _ in cur), 101)

    @step(name, "ping, multi-statements")
    def _():
        c.ping()
        m = pymysql.connect(host=HOST, port=PORT, user="root", client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)
        cur = m.cursor()
        cur.execute("SELECT 1; SELECT 2")
        same(cur.fetchone(), (1,))
        same(cur.nextset(), True)
        same(cur.fetchone(), (2,))


def connector(pure):
    import mysql.connector
    name = f"mysql-connector-python {mysql.connector.__version__} ({'pure' if pure else 'C'})"
    if not pure and not mysql.connector.HAVE_CEXT:
        print(name + ": not built")
        return
    c = check(name, lambda db: mysql.connector.connect(host=HOST, port=PORT, user="root", database=db, use_pure=pure, charset="utf8mb4",
                                                       collation="utf8mb4_general_ci"), mysql.connector.Error)

    @step(name, "prepared statements")
    def _():
        cur = c.cursor(prepared=True)
        for i in (5, 6, 7):
            cur.execute("SELECT id, name, price FROM t WHERE id = ?", (i,))
            same(cur.fetchall(), [(i, f"n{i - 2}", decimal.Decimal(i - 2))])
        cur.execute("SELECT COUNT(*) FROM t WHERE price > ?", (50,))
        same(cur.fetchone()[0], 49)

    @step(name, "reset connection, change user, compression, TLS")
    def _():
        c.reset_session()
        c.cmd_change_user(username="root", password="", database="information_schema")
        for extra in ({"compress": True}, {"ssl_disabled": False}, {"ssl_disabled": True}):
            o = mysql.connector.connect(host=HOST, port=PORT, user="root", use_pure=pure, **extra)
            cur = o.cursor()
            # A compressed row may come in several frames; this client reads two at most (docs/compatibility.md).
            size = 10000 if "compress" in extra else 100000
            cur.execute(f"SELECT REPEAT('x', {size})")
            same(len(cur.fetchone()[0]), size)
            o.close()


pymysql_client()
connector(True)
connector(False)
sys.exit(min(failures, 100))
