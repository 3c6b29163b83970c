package datanode

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"skarv/pkg/sqltypes"
)

// Configure sets server variables for good: an empty value takes a variable back to what it is without Configure,
// at the next start. A running server takes over at once what it can; the names of variables that need a restart
// are returned. Nothing is changed if a name or a value is refused.
func (n *Node) Configure(ctx context.Context, variables map[string]string) (restart []string, err error) {
	for name, value := range variables {
		if err := checkVariable(name, value); err != nil {
			return nil, err
		}
	}
	err = n.request(ctx, func(ctx context.Context) error {
		restart, err = n.configure(ctx, variables)
		return err
	})
	return restart, err
}

func (n *Node) configure(ctx context.Context, variables map[string]string) (restart []string, err error) {
	names := slices.Sorted(maps.Keys(variables))
	if n.proc == nil {
		restart = nil
	} else {
		c, err := n.connect(ctx)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		for _, name := range names {
			taken, err := setGlobal(ctx, c.(driver.ExecerContext), name, variables[name])
			if err != nil {
				return nil, err
			}
			if !taken {
				restart = append(restart, name)
			}
		}
	}
	err = n.dir.change(func(m *marker) {
		if m.Variables == nil {
			m.Variables = map[string]string{}
		}
		for name, value := range variables {
			if value == "" {
				delete(m.Variables, name)
			} else {
				m.Variables[name] = value
			}
		}
	})
	return restart, err
}

// Numbers of the server's answers to SET GLOBAL.
const (
	unknownVariable  = 1193
	readOnlyVariable = 1238
	wrongType        = 1232
)

// setGlobal reports whether the running server took the value over.
func setGlobal(ctx context.Context, c driver.ExecerContext, name, value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	variable := strings.NewReplacer("-", "_", ".", "`.`").Replace(strings.TrimPrefix(name, "loose-"))
	_, err := c.ExecContext(ctx, fmt.Sprintf("SET GLOBAL `%s` = %s", variable, sqltypes.Literal(value)), nil)
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok && e.Number == wrongType && isNumber(value) {
		_, err = c.ExecContext(ctx, fmt.Sprintf("SET GLOBAL `%s` = %s", variable, value), nil)
	}
	e, refused := errors.AsType[*mysql.MySQLError](err)
	switch {
	case err == nil:
		return true, nil
	case refused && (e.Number == readOnlyVariable || e.Number == wrongType):
		return false, nil // 128M and the like are for option files only
	case refused && e.Number == unknownVariable:
		return false, fmt.Errorf("server variable %s: %w", name, err)
	default:
		return false, fmt.Errorf("set %s: %w", name, err)
	}
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
