// What a Node.js client does every day with mysql2, on the server given as HOST PORT. Prints a line for each step and
// exits with the number of failures.
const mysql = require('mysql2/promise');
const assert = require('assert');
const version = require('mysql2/package.json').version;
const [host, port] = [process.argv[2], Number(process.argv[3])];
let failures = 0;

async function step(name, run) {
  try {
    await run();
    console.log(`mysql2 ${version}: ${name}: ok`);
  } catch (e) {
    failures++;
    console.log(`mysql2 ${version}: ${name}: FAILED: ${e.message}`);
  }
}

(async () => {
  const admin = await mysql.createConnection({ host, port, user: 'root' });
  await admin.query('DROP DATABASE IF EXISTS js_mysql2');
  await admin.query('CREATE DATABASE js_mysql2');
  await admin.end();
  const pool = mysql.createPool({ host, port, user: 'root', database: 'js_mysql2', connectionLimit: 5, timezone: 'Z' });
  await step('create, insert, select', async () => {
    await pool.query('CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50), made DATETIME(3), j JSON)');
    const made = new Date(Date.UTC(2024, 1, 29, 12, 30, 1, 125));
    const [r] = await pool.query('INSERT INTO t (name, made, j) VALUES (?, ?, ?)', ['Grüße 😀', made, '{"a": 1}']);
    assert.strictEqual(r.insertId, 1);
    const [rows] = await pool.query('SELECT name, made FROM t WHERE id = 1');
    assert.strictEqual(rows[0].name, 'Grüße 😀');
    assert.strictEqual(rows[0].made.getTime(), made.getTime());
  });
  await step('bulk insert', async () => {
    const [r] = await pool.query('INSERT INTO t (name) VALUES ?', [Array.from({ length: 100 }, (_, i) => ['n' + i])]);
    assert.strictEqual(r.affectedRows, 100);
    const [rows] = await pool.query('SELECT COUNT(*) AS n, MAX(id) AS m FROM t');
    assert.deepStrictEqual([rows[0].n, rows[0].m], [101, 101]);
  });
  await step('prepared statements', async () => {
    for (let i = 2; i < 20; i++) {
      const [rows] = await pool.execute('SELECT name FROM t WHERE id = ?', [i]);
      assert.strictEqual(rows[0].name, 'n' + (i - 2));
    }
    const [rows] = await pool.execute('SELECT id FROM t WHERE name LIKE ? ORDER BY id', ['n1%']);
    assert.strictEqual(rows.length, 11);
  });
  await step('transactions', async () => {
    const c = await pool.getConnection();
    await c.beginTransaction();
    await c.query("UPDATE t SET name = 'x' WHERE id = 1");
    await c.rollback();
    const [rows] = await c.query('SELECT name FROM t WHERE id = 1');
    assert.strictEqual(rows[0].name, 'Grüße 😀');
    c.release();
  });
  await step('errors', async () => {
    await assert.rejects(pool.query('SELECT * FROM missing'), { errno: 1146, code: 'ER_NO_SUCH_TABLE' });
    await assert.rejects(pool.query('INSERT INTO t (id) VALUES (1)'), { errno: 1062, code: 'ER_DUP_ENTRY' });
  });
  await step('multi-statements, compression, TLS, change user', async () => {
    const c = await mysql.createConnection({ host, port, user: 'root', database: 'js_mysql2', multipleStatements: true, compress: true });
    const [rows] = await c.query('SELECT 1 AS a; SELECT 2 AS b');
    assert.deepStrictEqual(JSON.parse(JSON.stringify(rows)), [[{ a: 1 }], [{ b: 2 }]]);
    await c.changeUser({ user: 'root', database: 'information_schema' });
    await c.ping();
    await c.end();
    const s = await mysql.createConnection({ host, port, user: 'root', ssl: { rejectUnauthorized: false } });
    const [cipher] = await s.query("SHOW STATUS LIKE 'Ssl_cipher'");
    assert.notStrictEqual(cipher[0].Value, '');
    await s.end();
  });
  await pool.end();
  process.exit(Math.min(failures, 100));
})();
