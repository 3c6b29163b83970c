package sqlparse

import (
	"bytes"
	"fmt"
	"testing"
)

func benchScan(b *testing.B, sql string) {
	s := NewDialect(true, "10.11.6-MariaDB").NewStatement()
	text := []byte(sql)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := s.Scan(text, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	b.Run("point_select", func(b *testing.B) { benchScan(b, "SELECT c FROM sbtest1 WHERE id=42") })
	b.Run("range", func(b *testing.B) {
		benchScan(b, "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 5012 AND 5111 ORDER BY c")
	})
	b.Run("oltp_insert", func(b *testing.B) {
		benchScan(b, "INSERT INTO sbtest1 (id, k, c, pad) VALUES (501274, 499284, '68487932199-96439406143-93774651418-41631865787-96406072701-20604855487-25459966574-28203206787-41238978918-19503783441', '22195207048-70116052123-74140395089-76317954521-98694025897')")
	})
	b.Run("update", func(b *testing.B) { benchScan(b, "UPDATE sbtest1 SET k=k+1 WHERE id=501274") })
	b.Run("in_list_100", func(b *testing.B) {
		var t bytes.Buffer
		t.WriteString("SELECT * FROM t WHERE id IN (0")
		for i := range 99 {
			fmt.Fprintf(&t, ", %d", i*1777)
		}
		t.WriteString(")")
		benchScan(b, t.String())
	})
	b.Run("insert_1MB", func(b *testing.B) { benchScan(b, bigInsert(1<<20)) })
	b.Run("insert_1MB_slow_rows", func(b *testing.B) {
		benchScan(b, string(bytes.ReplaceAll([]byte(bigInsert(1<<20)), []byte("NULL"), []byte("NOW()"))))
	})
}

func bigInsert(size int) string {
	var t bytes.Buffer
	t.WriteString("INSERT INTO sbtest1 (id, k, c, pad) VALUES ")
	for i := 0; t.Len() < size; i++ {
		if i > 0 {
			t.WriteByte(',')
		}
		fmt.Fprintf(&t, "(%d, -%d.5, 'it''s row \\'%d\\'', NULL)", i, i*3, i)
	}
	return t.String()
}
