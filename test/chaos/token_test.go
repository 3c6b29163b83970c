package chaos

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tokens is how many rows the table of tokens has at any moment: they change their keys, and with them their node groups, and
// are deleted where another one is inserted.
const tokens = 100

func createTokens(t *testing.T, admin *sql.DB) {
	_, err := admin.Exec("CREATE TABLE bank.token (id BIGINT PRIMARY KEY, turn INT NOT NULL)")
	require.NoError(t, err)
	for i := range tokens {
		_, err := admin.Exec("INSERT INTO bank.token VALUES (?, 0)", i)
		require.NoError(t, err)
	}
}

// token moves one token: by its key, or by a transaction that deletes one row and inserts another one.
func (b *bank) token(db *sql.DB) {
	tx, err := db.Begin()
	if err != nil {
		time.Sleep(20 * time.Millisecond)
		return
	}
	defer func() { _ = tx.Rollback() }()
	var id int64
	from := rand.IntN(tokens)
	if tx.QueryRow(fmt.Sprintf("SELECT id FROM token WHERE id %% %d = %d FOR UPDATE", tokens, from)).Scan(&id) != nil {
		return
	}
	next := id + tokens*(1+rand.Int64N(1000))
	steps := []string{fmt.Sprintf("UPDATE token SET id = %d, turn = turn + 1 WHERE id = %d", next, id)}
	if rand.IntN(2) == 0 {
		steps = []string{fmt.Sprintf("DELETE FROM token WHERE id = %d", id), fmt.Sprintf("INSERT INTO token VALUES (%d, 0)", next)}
	}
	for _, q := range steps {
		if _, err := tx.Exec(q); err != nil {
			return
		}
	}
	_ = tx.Commit() // whatever becomes of it, there are as many as before
}

// look reads the books as of one moment, again and again, through a proxy that is not killed. Snapshots may fail while
// processes die; what they show must be whole.
func (b *bank) look(ctx context.Context, db *sql.DB) error {
	for pause(ctx, 300*time.Millisecond) {
		if err := b.lookOnce(db); err != nil {
			return err
		}
	}
	return nil
}

func (b *bank) lookOnce(db *sql.DB) error {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil //nolint:nilerr // its server is away
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		b.blind.Add(1)
		b.mu.Lock()
		b.why = err.Error()
		b.mu.Unlock()
		return nil //nolint:nilerr // it may fail
	}
	defer func() { _, _ = conn.ExecContext(context.Background(), "ROLLBACK") }()
	var sum, halves, rows int
	for q, to := range map[string]*int{
		"SELECT SUM(balance) FROM bank.account": &sum,
		"SELECT COUNT(*) % 2 FROM bank.pair":    &halves,
		"SELECT COUNT(*) FROM bank.token":       &rows,
	} {
		if conn.QueryRowContext(context.Background(), q).Scan(to) != nil {
			return nil // a server was killed
		}
	}
	if sum != accounts*opening || halves != 0 || rows != tokens {
		return fmt.Errorf("a snapshot shows %d money of %d, %d half pairs, %d tokens of %d", sum, accounts*opening, halves, rows, tokens)
	}
	b.seen.Add(1)
	return nil
}
