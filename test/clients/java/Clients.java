import java.sql.*;

/** What a JDBC client does every day, on the JDBC URL given. Prints a line for each step and exits with the failures. */
public class Clients {
  interface Step { void run() throws Exception; }
  static int failures;
  static String driver;

  static void step(String name, Step s) {
    try {
      s.run();
      System.out.println(driver + ": " + name + ": ok");
    } catch (Throwable e) {
      failures++;
      System.out.println(driver + ": " + name + ": FAILED: " + e);
    }
  }

  static void same(Object got, Object want) {
    if (!String.valueOf(got).equals(String.valueOf(want))) throw new AssertionError("got " + got + ", want " + want);
  }

  static void fails(Statement s, String sql, int code) throws SQLException {
    try {
      s.execute(sql);
    } catch (SQLException e) {
      same(e.getErrorCode(), code);
      return;
    }
    throw new AssertionError("no error: " + sql);
  }

  public static void main(String[] args) throws Exception {
    Connection c = DriverManager.getConnection(args[0], "root", "");
    DatabaseMetaData md = c.getMetaData();
    driver = md.getDriverName() + " " + md.getDriverVersion().split(" ")[0] + (args[0].contains("useServerPrepStmts=true") ? " (server-side prepared)" : "");
    Statement st = c.createStatement();
    st.execute("DROP DATABASE IF EXISTS jdbc");
    st.execute("CREATE DATABASE jdbc");
    c.close();
    c = DriverManager.getConnection(args[0].replaceFirst("(://[^/]*/)", "$1jdbc"), "root", "");
    run(c, md);
  }

  static void run(Connection c, DatabaseMetaData md) throws Exception {
    Statement st = c.createStatement();
    step("create, insert, select", () -> {
      st.execute("CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50), price DECIMAL(10,2), made DATETIME(3), data BLOB)");
      PreparedStatement p = c.prepareStatement("INSERT INTO t (name, price, made, data) VALUES (?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS);
      p.setString(1, "Grüße 😀");
      p.setBigDecimal(2, new java.math.BigDecimal("12.30"));
      p.setTimestamp(3, Timestamp.valueOf("2024-02-29 12:30:01.125"));
      p.setBytes(4, new byte[] {0, -1, '\''});
      same(p.executeUpdate(), 1);
      ResultSet keys = p.getGeneratedKeys();
      keys.next();
      same(keys.getLong(1), 1);
      ResultSet r = st.executeQuery("SELECT * FROM t WHERE id = 1");
      r.next();
      same(r.getString("name"), "Grüße 😀");
      same(r.getBigDecimal("price"), "12.30");
      // Connector/J takes MariaDB 10 for MySQL 5.5, which had no fractional seconds.
      boolean old = md.getDatabaseProductVersion().startsWith("5.5.5");
      same(r.getTimestamp("made"), "2024-02-29 12:30:01" + (old ? ".0" : ".125"));
      same(r.getBytes("data").length, 3);
      same(r.getMetaData().getColumnTypeName(3), "DECIMAL");
    });
    step("batch", () -> {
      PreparedStatement p = c.prepareStatement("INSERT INTO t (name, price) VALUES (?, ?)");
      for (int i = 0; i < 100; i++) {
        p.setString(1, "n" + i);
        p.setInt(2, i);
        p.addBatch();
      }
      same(p.executeBatch().length, 100);
      ResultSet r = st.executeQuery("SELECT COUNT(*), SUM(price), MAX(id) FROM t");
      r.next();
      same(r.getLong(1) + " " + r.getBigDecimal(2) + " " + r.getLong(3), "101 4962.30 101");
    });
    step("prepared select", () -> {
      PreparedStatement p = c.prepareStatement("SELECT name FROM t WHERE id = ?");
      for (int i = 2; i < 50; i++) {
        p.setLong(1, i);
        ResultSet r = p.executeQuery();
        r.next();
        same(r.getString(1), "n" + (i - 2));
      }
    });
    step("streaming and cursors", () -> {
      PreparedStatement p = c.prepareStatement("SELECT id FROM t ORDER BY id");
      p.setFetchSize(10);
      ResultSet r = p.executeQuery();
      int n = 0;
      while (r.next()) same(r.getLong(1), ++n);
      same(n, 101);
      r.close();
    });
    step("transactions", () -> {
      c.setAutoCommit(false);
      c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      same(st.executeUpdate("UPDATE t SET name = 'x' WHERE id = 1"), 1);
      Savepoint s = c.setSavepoint("s");
      c.rollback(s);
      c.rollback();
      c.setAutoCommit(true);
      ResultSet r = st.executeQuery("SELECT name FROM t WHERE id = 1");
      r.next();
      same(r.getString(1), "Grüße 😀");
    });
    step("errors", () -> {
      fails(st, "SELECT * FROM missing", 1146);
      fails(st, "INSERT INTO t (id) VALUES (1)", 1062);
      fails(st, "SELEC 1", 1064);
    });
    step("metadata", () -> {
      DatabaseMetaData m = c.getMetaData();
      StringBuilder b = new StringBuilder();
      for (ResultSet r = m.getTables("jdbc", null, "%", new String[] {"TABLE"}); r.next(); ) b.append(r.getString("TABLE_NAME")).append(' ');
      for (ResultSet r = m.getColumns("jdbc", null, "t", "%"); r.next(); ) b.append(r.getString("COLUMN_NAME")).append(' ');
      for (ResultSet r = m.getPrimaryKeys("jdbc", null, "t"); r.next(); ) b.append("pk ").append(r.getString("COLUMN_NAME")).append(' ');
      for (ResultSet r = m.getIndexInfo("jdbc", null, "t", false, false); r.next(); ) b.append(r.getString("INDEX_NAME")).append(' ');
      m.getImportedKeys("jdbc", null, "t").close();
      m.getCatalogs().close();
      same(b.toString().trim(), "t id name price made data pk id PRIMARY");
    });
    step("isValid, catalogs, close", () -> {
      same(c.isValid(5), true);
      c.setReadOnly(true);
      c.setReadOnly(false);
      c.close();
    });
    System.exit(Math.min(failures, 100));
  }
}
