package planner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

func TestTriggersThatAssignVariables(t *testing.T) {
	d := sqlparse.NewDialect(true, "10.11.0-MariaDB")
	for body, want := range map[string]bool{
		"SET @x = 1": true,
		"BEGIN SET NEW.v = CONCAT('a', NEW.w), @last = NEW.id; END":      true,
		"BEGIN SELECT a, b INTO NEW.v, @y FROM t; END":                   true,
		"BEGIN INSERT INTO log VALUES (1); SET/* */@a = (SELECT 1); END": true,
		"BEGIN IF (@x := NEW.id) THEN SET NEW.v = 1; END IF; END":        true,
		"CALL note(NEW.id)":                                            true,
		"INSERT INTO audit VALUES (NEW.id, @user_id)":                  false,
		"INSERT INTO audit (id, called_at) SELECT id, @user_id FROM t": false,
		"BEGIN UPDATE t SET v = @user_id, w = f(1, @user_id) WHERE callback = 'CALL a@b.c'; SET NEW.v = @@server_id, NEW.w = @user_id; END": false,
	} {
		require.Equal(t, want, assigns(d, &catalog.TriggerProgram{Body: body}), body)
	}
}
