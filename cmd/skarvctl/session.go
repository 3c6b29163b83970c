package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

type sessionTrace struct {
	ID    uint32        `json:"id"`
	User  string        `json:"user"`
	Steps []sessionStep `json:"steps"`
}

type sessionStep struct {
	At        time.Time `json:"at"`
	What      string    `json:"what"`
	Kind      string    `json:"kind,omitempty"`
	NodeGroup uint32    `json:"node_group,omitempty"`
	Error     uint32    `json:"error,omitempty"`
}

func (a *app) sessionCommand() *cobra.Command {
	return group("session", "Look at clients' sessions", &cobra.Command{
		Use:   "trace ID",
		Short: "Show the last steps of a session; its id is that of SHOW PROCESSLIST",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			id, err := strconv.ParseUint(in[0], 10, 32)
			if err != nil {
				return usage("%q is no id of a session", in[0])
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.SessionTrace(ctx, &adminv1.SessionTraceRequest{Id: uint32(id)})
				if err != nil {
					return err
				}
				t := sessionTrace{ID: uint32(id), User: r.User, Steps: []sessionStep{}}
				for _, s := range r.Steps {
					t.Steps = append(t.Steps, sessionStep{s.At.AsTime(), s.What, s.Kind, s.NodeGroup, s.Error})
				}
				return a.print(t, t.table)
			})
		},
	})
}

func (t sessionTrace) table(w io.Writer) {
	fmt.Fprintf(w, "session %d of %s\n\n", t.ID, t.User)
	row(w, "AT", "AFTER", "STEP", "KIND", "GROUP", "ERROR")
	for i, s := range t.Steps {
		after := ""
		if i > 0 {
			after = s.At.Sub(t.Steps[i-1].At).String()
		}
		row(w, s.At.Local().Format("15:04:05.000000"), after, s.What, s.Kind, zero(s.NodeGroup), zero(s.Error))
	}
}

// zero is n, or nothing for 0.
func zero(n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
