package catalog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// likeByDefinition is like, tried out.
func likeByDefinition(text, pattern string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '%':
		return likeByDefinition(text, pattern[1:]) || text != "" && likeByDefinition(text[1:], pattern)
	case text == "":
		return false
	case pattern[0] == '\\' && len(pattern) > 1:
		return pattern[1] == text[0] && likeByDefinition(text[1:], pattern[2:])
	case pattern[0] == '_' || pattern[0] == text[0]:
		return likeByDefinition(text[1:], pattern[1:])
	}
	return false
}

func TestLike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	make := func(of string, most int) string {
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteByte(of[random.IntN(len(of))])
		}
		return b.String()
	}
	matched := 0
	for range 200_000 {
		text, pattern := make("ab", 8), make(`ab%%_\`, 8)
		want := likeByDefinition(text, pattern)
		require.Equal(t, want, like(text, pattern), "%q like %q", text, pattern)
		if want {
			matched++
		}
	}
	require.Greater(t, matched, 10_000)
	require.False(t, like(strings.Repeat("1", 45), strings.Repeat("%1", 60)+"2"), "what would take years by the definition")
}

// Whoever is a definer acts as himself, however his host is written, and not as another account of his user.
func TestDefinersAreThemselves(t *testing.T) {
	for _, host := range []string{
		"%", "localhost", "10.0.0.7", "10.0.%", "10.0.0._", "2001:db8::7", "2001:db8::%", "10.0.0.0/255.0.0.0", "127.0.0.0/255.255.255.0", "10.0.0.0/8", "%.0.0.1",
	} {
		for _, flavor := range []Flavor{MariaDB, MySQL} {
			if !ValidHost(host, flavor) {
				continue
			}
			own, all := NameOf("app", host), NameOf("app", "%")
			accounts := Accounts{own: {Name: own}, all: {Name: all}}
			s := &Snapshot{Flavor: flavor, Accounts: accounts, Hosted: accounts.Hosted(flavor)}
			a := s.Definer(own)
			require.NotNil(t, a, "%s %s", flavor, host)
			require.Equal(t, own, a.Name, "%s %s", flavor, host)
		}
	}
}
