// Package docs keeps the documents that are made from code: `make golden` writes them, the tests compare.
package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"skarv/pkg/server"
)

func TestConfiguration(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Configuration of ` + "`skarv serve`" + `

<!-- Written by test/docs from the fields of server.Config: make golden. -->

` + "`skarv serve --config skarv.yaml`" + ` reads one YAML file over these defaults. A key that is not listed here is an error;
` + "`--check-config`" + ` reports every fault at once, ` + "`--print-config`" + ` prints what is in force. deploy/skarv.yaml is an example.
Times are written as 250ms, 5s, 1m30s.
`)
	section(&b, "", reflect.ValueOf(server.DefaultConfig()), "What a file may say at its top level.")
	same(t, "configuration.md", b.String())
}

// section writes the settings of one struct, then those of the structs in it.
func section(b *strings.Builder, prefix string, v reflect.Value, doc string) {
	name := strings.TrimSuffix(prefix, ".")
	if name == "" {
		name = "Top level"
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| setting | default | meaning |\n|---|---|---|\n", name, doc)
	type inner struct {
		prefix, doc string
		v           reflect.Value
	}
	var inners []inner
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key := prefix + strings.Split(f.Tag.Get("yaml"), ",")[0]
		if f.Type.Kind() == reflect.Struct {
			inners = append(inners, inner{key + ".", f.Tag.Get("doc"), v.Field(i)})
			continue
		}
		text, err := yaml.Marshal(v.Field(i).Interface())
		if err != nil {
			panic(err)
		}
		value := strings.TrimSpace(strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", " "))
		if f.Type.Kind() == reflect.Slice {
			value = "[" + strings.Join(strings.Split(strings.TrimPrefix(value, "- "), " - "), ", ") + "]"
		}
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", key, value, f.Tag.Get("doc"))
	}
	for _, in := range inners {
		section(b, in.prefix, in.v, in.doc)
	}
}

// same compares a document with what the code says, or writes it with -rewrite.
func same(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("../../docs", name)
	if rewriting() {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "docs/%s is not what the code says: make golden", name)
}

// rewriting reports whether documents are written instead of compared.
func rewriting() bool {
	rewrite := flag.Lookup("rewrite")
	return rewrite != nil && rewrite.Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("rewrite", false, "write the documents instead of comparing them")
	flag.Parse()
	os.Exit(m.Run())
}
