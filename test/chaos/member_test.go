package chaos

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// Members have an address that is unique in the cluster, and belong to clubs that lie on other node groups. Claims are names of
// which each may be taken once, by clients of different proxies at the same time.
func createMembers(t *testing.T, admin *sql.DB) {
	for _, q := range []string{
		"CREATE TABLE bank.club (id INT PRIMARY KEY)",
		"CREATE TABLE bank.member (id BIGINT PRIMARY KEY, email VARCHAR(40) UNIQUE, club INT, dear INT," +
			" CONSTRAINT of_club FOREIGN KEY (club) REFERENCES club (id)," +
			" CONSTRAINT of_dear FOREIGN KEY (dear) REFERENCES club (id) ON DELETE CASCADE ON UPDATE CASCADE)",
		"CREATE TABLE bank.claim (id BIGINT PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE)",
	} {
		_, err := admin.Exec(q)
		require.NoError(t, err, q)
	}
}

// readCommitted is the variable that makes a session's transactions READ COMMITTED, which locks no gaps.
func readCommitted() (name, value string) {
	if cluster.TestEngine() == datanode.MySQL {
		return "transaction_isolation", "'READ-COMMITTED'"
	}
	return "tx_isolation", "'READ-COMMITTED'"
}

// member is one statement about members or clubs.
func (b *bank) member(db *sql.DB) {
	const members, clubs, emails = 60, 6, 30
	id, club, dear, email := rand.IntN(members), rand.IntN(clubs), rand.IntN(clubs), fmt.Sprintf("m%d", rand.IntN(emails))
	q := ""
	switch rand.IntN(12) {
	case 0, 1:
		q = fmt.Sprintf("INSERT INTO member VALUES (%d, '%s', %d, %d)", id, email, club, dear)
	case 2:
		q = fmt.Sprintf("INSERT IGNORE INTO member VALUES (%d, '%s', NULL, %d), (%d, NULL, %d, NULL)", id, email, dear, rand.IntN(members), club)
	case 3:
		q = fmt.Sprintf("REPLACE INTO member VALUES (%d, '%s', NULL, %d)", id, email, dear)
	case 4:
		q = fmt.Sprintf("INSERT INTO member VALUES (%d, '%s', NULL, NULL) ON DUPLICATE KEY UPDATE club = NULL, dear = %d", id, email, dear)
	case 5:
		q = fmt.Sprintf("UPDATE member SET email = '%s' WHERE id = %d", email, id)
	case 6:
		q = fmt.Sprintf("UPDATE member SET id = %d WHERE id = %d", rand.IntN(members), id)
	case 7:
		q = fmt.Sprintf("UPDATE member SET club = %d, dear = NULL WHERE email = '%s'", club, email)
	case 8:
		q = fmt.Sprintf("DELETE FROM member WHERE email = '%s'", email)
	case 9:
		q = fmt.Sprintf("INSERT IGNORE INTO club VALUES (%d)", club)
	case 10:
		q = fmt.Sprintf("DELETE FROM club WHERE id = %d", club)
	case 11:
		q = fmt.Sprintf("UPDATE club SET id = %d WHERE id = %d", dear, club)
	}
	b.told(q, b.run(db, q))
}

func (b *bank) run(db *sql.DB, q string) error {
	_, err := db.Exec(q)
	return err
}

// told counts what became of a statement; errors that clients must never see are kept.
func (b *bank) told(q string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var number uint16
	if e, ok := err.(*mysql.MySQLError); ok {
		number = e.Number
	}
	if b.answers == nil {
		b.answers = map[uint16]int{}
	}
	if err == nil {
		b.answers[0]++
		return
	}
	b.answers[number]++
	if number == 1815 || number == 1235 {
		b.odd = append(b.odd, q+": "+err.Error())
	}
}

// claim takes the name that others try to take, too.
func (b *bank) claim(db *sql.DB) {
	n := b.claims.Load()
	id := b.last.Add(1)
	q := fmt.Sprintf("INSERT INTO claim VALUES (%d, 'name%d')", id, n)
	err := b.run(db, q)
	if err == nil {
		b.mu.Lock()
		b.claimed[n] = append(b.claimed[n], id)
		b.mu.Unlock()
		b.claims.CompareAndSwap(n, n+1)
	}
	if e, ok := err.(*mysql.MySQLError); ok && e.Number == 1062 {
		b.claims.CompareAndSwap(n, n+1)
	}
	b.told(q, err)
}

// auditMembers looks whether keys hold over all node groups, and whether indexes agree with their tables.
func (b *bank) auditMembers(t *testing.T, c *cluster.Cluster, db *sql.DB) {
	t.Logf("statements about members by error number: %v; %d names claimed", b.answers, b.claims.Load())
	require.Empty(t, b.odd)
	require.Greater(t, b.answers[0], leastMembers)
	for name, q := range map[string]string{
		"members without club": "SELECT COUNT(*) FROM bank.member m LEFT JOIN bank.club c ON c.id = m.club WHERE m.club IS NOT NULL AND c.id IS NULL",
		"members without dear": "SELECT COUNT(*) FROM bank.member m LEFT JOIN bank.club c ON c.id = m.dear WHERE m.dear IS NOT NULL AND c.id IS NULL",
		"equal addresses":      "SELECT COUNT(email) - COUNT(DISTINCT email) FROM bank.member",
		"equal names":          "SELECT COUNT(name) - COUNT(DISTINCT name) FROM bank.claim",
		"ids on two groups":    "SELECT COUNT(id) - COUNT(DISTINCT id) FROM bank.member",
	} {
		var n int
		require.NoError(t, db.QueryRow(q).Scan(&n), q)
		require.Zero(t, n, name)
	}
	for n, ids := range b.claimed {
		require.Len(t, ids, 1, "name%d was given to several", n)
		var name string
		require.NoError(t, db.QueryRow("SELECT name FROM bank.claim WHERE id = ?", ids[0]).Scan(&name), "claim %d of name%d was acknowledged", ids[0], n)
		require.Equal(t, fmt.Sprintf("name%d", n), name)
	}
	checks, err := adminv1.NewAdminClient(c.Admin(t)).CheckIndexes(t.Context(), &adminv1.CheckIndexesRequest{})
	require.NoError(t, err)
	require.Len(t, checks.GetIndexes(), 2)
	for _, x := range checks.GetIndexes() {
		require.Zero(t, x.GetMissing()+x.GetWrong()+x.GetStale()+x.GetDuplicates(), "%v", x)
	}
}
