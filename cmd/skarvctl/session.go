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

type clientSession struct {
	ID        uint32     `json:"id"`
	User      string     `json:"user"`
	Host      string     `json:"host"`
	Database  string     `json:"database,omitempty"`
	Command   string     `json:"command"`
	Since     *time.Time `json:"since,omitempty"`
	Statement string     `json:"statement,omitempty"` // its beginning
}

func sessionID(text string) (uint32, error) {
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, usage("%q is no id of a session: see skarvctl session list", text)
	}
	return uint32(id), nil
}

func (a *app) sessionCommand() *cobra.Command {
	list := &cobra.Command{
		Use:   "list",
		Short: "List the clients of all processes",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Sessions(ctx, &adminv1.SessionsRequest{Cluster: true})
				if err != nil {
					return err
				}
				list := []clientSession{}
				for _, s := range r.Sessions {
					list = append(list, clientSession{s.Id, s.User, s.Host, s.Database, s.Command, when(s.Since), s.Statement})
				}
				for _, m := range r.Missing {
					fmt.Fprintf(a.errs, "warning: the process at %s does not answer; its clients are missing\n", m)
				}
				return a.print(list, func(w io.Writer) {
					row(w, "ID", "USER", "HOST", "DATABASE", "COMMAND", "FOR", "STATEMENT")
					for _, s := range list {
						age := ""
						if s.Since != nil {
							age = time.Since(*s.Since).Round(time.Second).String()
						}
						row(w, s.ID, s.User, s.Host, s.Database, s.Command, age, cell(s.Statement))
					}
				})
			})
		},
	}
	var statement bool
	kill := &cobra.Command{
		Use:   "kill ID",
		Short: "End a session, or only its statement, whichever process has it",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			id, err := sessionID(in[0])
			if err != nil {
				return err
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				if _, err := api.KillSession(ctx, &adminv1.KillSessionRequest{Id: id, StatementOnly: statement, Cluster: true}); err != nil {
					return err
				}
				return a.print(struct {
					ID uint32 `json:"id"`
				}{id}, func(w io.Writer) {
					if statement {
						fmt.Fprintf(w, "The statement of session %d is ended.\n", id)
					} else {
						fmt.Fprintf(w, "Session %d is ended.\n", id)
					}
				})
			})
		},
	}
	kill.Flags().BoolVar(&statement, "statement", false, "end only what it runs now")
	return group("session", "Look at clients' sessions, and end them", list, kill, &cobra.Command{
		Use:   "trace ID",
		Short: "Show the last steps of a session; its id is that of SHOW PROCESSLIST",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			id, err := sessionID(in[0])
			if err != nil {
				return err
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.SessionTrace(ctx, &adminv1.SessionTraceRequest{Id: id})
				if err != nil {
					return err
				}
				t := sessionTrace{ID: id, User: r.User, Steps: []sessionStep{}}
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
