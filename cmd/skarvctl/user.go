package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skarv/pkg/catalog"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
)

type user struct {
	Name         string            `json:"name"`
	Plugin       string            `json:"plugin"`
	Grants       map[string]string `json:"grants"`
	HasPassword  bool              `json:"has_password"`
	LoopbackOnly bool              `json:"loopback_only,omitempty"`
	Locked       bool              `json:"locked,omitempty"`
	RequireTLS   bool              `json:"require_tls,omitempty"`
}

// parseGrants reads DATABASE:PRIVILEGE, split at the last colon.
func parseGrants(in []string) (map[string]string, error) {
	out := map[string]string{}
	for _, g := range in {
		at := strings.LastIndexByte(g, ':')
		if at <= 0 {
			return nil, usage("a grant is DATABASE:PRIVILEGE, such as shop:write or *:admin, not %q", g)
		}
		out[g[:at]] = g[at+1:]
	}
	return out, nil
}

func (a *app) putUser(ctx context.Context, req *adminv1.PutUserRequest, done string) error {
	return a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		r, err := api.PutUser(ctx, req)
		switch {
		case err != nil:
			return err
		case req.Locked != nil && r.Locked == nil, req.RequireTls != nil && r.RequireTls == nil:
			what := "nothing of that is done"
			if req.Mode == adminv1.PutUserRequest_MODE_ADD {
				what = "the account is made all the same"
			}
			return errors.New("the Skarv process that was asked is of a version that cannot lock accounts or require TLS: " + what)
		}
		return a.print(struct {
			Name string `json:"name"`
		}{req.Name}, func(w io.Writer) { fmt.Fprintf(w, "Account %s is %s.\n", req.Name, done) })
	})
}

func toUsers(r *adminv1.ListUsersResponse) []user {
	users := make([]user, len(r.Users))
	for i, u := range r.Users {
		users[i] = user{u.Name, u.Plugin, u.Grants, u.HasPassword, u.LoopbackOnly, u.Locked, u.RequireTls}
	}
	return users
}

// users are the accounts there are.
func (a *app) users(ctx context.Context) (users []user, err error) {
	err = a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		r, err := api.ListUsers(ctx, &adminv1.ListUsersRequest{})
		if err == nil {
			users = toUsers(r)
		}
		return err
	})
	return users, err
}

// onlyAdmin reports whether an account is the only one that may do everything and log in.
func onlyAdmin(users []user, name string) bool {
	admins := slices.DeleteFunc(slices.Clone(users), func(u user) bool { return u.Grants["*"] != "admin" || u.Locked })
	return len(admins) == 1 && admins[0].Name == sameName(name)
}

// sameName is the name of an account as the API tells it: without a host that is any.
func sameName(name string) string { return catalog.ParseAccountName(name).String() }

// sparesLastAdmin asks before something is done to the only account that may do everything.
func (a *app) sparesLastAdmin(ctx context.Context, name, do string) error {
	if a.yes {
		return nil
	}
	users, err := a.users(ctx)
	if err != nil {
		return err
	}
	if onlyAdmin(users, name) && !a.confirm(name+" is the last account with *:admin; afterwards skarvctl user add makes another. "+do+" it?") {
		return errors.New("nothing was done; --yes does not ask")
	}
	return nil
}

func (a *app) userCommand() *cobra.Command {
	const pluginHelp = "how the password is kept and checked: caching_sha2_password, or mysql_native_password for old clients"
	const grantHelp = "DATABASE:PRIVILEGE, * for every database; read, write, admin or none, or privileges as GRANT has them (select,insert); repeat for more"
	var addPw, changePw password
	var addPlugin, changePlugin string
	var grants []string
	var requireTLS bool
	add := &cobra.Command{
		Use:     "add NAME[@HOST]",
		Short:   "Make an account; the password is asked for or read from a file",
		Example: "  skarvctl user add app --grant shop:write --grant stats:read\n  skarvctl user add app@10.0.% --grant shop:read",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			g, err := parseGrants(grants)
			if err != nil {
				return err
			}
			if len(g) == 0 {
				fmt.Fprintln(a.errs, "warning: without --grant the account may log in and see nothing")
			}
			hash, err := addPw.hash(a, in[0], addPlugin)
			if err != nil {
				return err
			}
			req := &adminv1.PutUserRequest{Name: in[0], Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: addPlugin, AuthString: hash, Grants: g}
			if requireTLS {
				req.RequireTls = new(true)
			}
			return a.putUser(c.Context(), req, "made")
		},
	}
	add.Flags().StringArrayVar(&grants, "grant", nil, grantHelp)
	add.Flags().StringVar(&addPlugin, "plugin", wire.CachingSHA2Password, pluginHelp)
	add.Flags().BoolVar(&requireTLS, "require-tls", false, "refuse logins without TLS")
	addPw.flags(add, "of the new account")

	passwd := &cobra.Command{
		Use:               "passwd NAME[@HOST]",
		ValidArgsFunction: a.complete(userNames, 1),
		Short:             "Change an account's password",
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			if changePlugin == "" {
				users, err := a.users(c.Context())
				if err != nil {
					return err
				}
				for _, u := range users {
					if u.Name == sameName(in[0]) {
						changePlugin = u.Plugin
					}
				}
				if changePlugin != wire.NativePassword {
					changePlugin = wire.CachingSHA2Password
				}
			}
			hash, err := changePw.hash(a, in[0], changePlugin)
			if err != nil {
				return err
			}
			return a.putUser(c.Context(), &adminv1.PutUserRequest{
				Name: in[0], Mode: adminv1.PutUserRequest_MODE_CHANGE, Plugin: changePlugin, AuthString: hash,
			}, "changed")
		},
	}
	passwd.Flags().StringVar(&changePlugin, "plugin", "", pluginHelp+" (default: as it is)")
	changePw.flags(passwd, "that is to be")

	grant := &cobra.Command{
		Use:               "grant NAME[@HOST] DATABASE:PRIVILEGE...",
		ValidArgsFunction: a.complete(userNames, 1),
		Short:             "Set what an account may do in databases",
		Example:           "  skarvctl user grant app shop:admin stats:none",
		Args:              args(cobra.MinimumNArgs(2)),
		RunE: func(c *cobra.Command, in []string) error {
			g, err := parseGrants(in[1:])
			if err != nil {
				return err
			}
			return a.putUser(c.Context(), &adminv1.PutUserRequest{Name: in[0], Mode: adminv1.PutUserRequest_MODE_CHANGE, Grants: g}, "changed")
		},
	}
	lock := &cobra.Command{
		Use:               "lock NAME[@HOST]",
		ValidArgsFunction: a.complete(userNames, 1),
		Short:             "Let nobody log in by an account; its sessions go on, and so do views and programs in its name",
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			if err := a.sparesLastAdmin(c.Context(), in[0], "Lock"); err != nil {
				return err
			}
			return a.putUser(c.Context(), &adminv1.PutUserRequest{Name: in[0], Mode: adminv1.PutUserRequest_MODE_CHANGE, Locked: new(true)}, "locked")
		},
	}
	unlock := &cobra.Command{
		Use:               "unlock NAME[@HOST]",
		ValidArgsFunction: a.complete(userNames, 1),
		Short:             "Let clients log in by an account again",
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			return a.putUser(c.Context(), &adminv1.PutUserRequest{Name: in[0], Mode: adminv1.PutUserRequest_MODE_CHANGE, Locked: new(false)}, "unlocked")
		},
	}
	tls := &cobra.Command{
		Use:               "tls NAME[@HOST] required|optional",
		ValidArgsFunction: a.complete(userNames, 1),
		Short:             "Refuse logins by an account without TLS, or allow them",
		Args:              args(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, in []string) error {
			if in[1] != "required" && in[1] != "optional" {
				return usage("TLS is required or optional, not %q", in[1])
			}
			return a.putUser(c.Context(), &adminv1.PutUserRequest{
				Name: in[0], Mode: adminv1.PutUserRequest_MODE_CHANGE, RequireTls: new(in[1] == "required"),
			}, "changed")
		},
	}
	remove := &cobra.Command{
		Use:               "remove NAME[@HOST]",
		ValidArgsFunction: a.complete(userNames, 1),
		Short:             "Remove an account; its sessions end at their next statement",
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			if err := a.sparesLastAdmin(c.Context(), in[0], "Remove"); err != nil {
				return err
			}
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				if _, err := api.RemoveUser(ctx, &adminv1.RemoveUserRequest{Name: in[0]}); err != nil {
					return err
				}
				return a.print(struct {
					Name string `json:"name"`
				}{in[0]}, func(w io.Writer) { fmt.Fprintf(w, "Account %s is removed.\n", in[0]) })
			})
		},
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List accounts",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.ListUsers(ctx, &adminv1.ListUsersRequest{})
				if err != nil {
					return err
				}
				users := toUsers(r)
				return a.print(users, func(w io.Writer) {
					row(w, "NAME", "PLUGIN", "PASSWORD", "FROM", "LOGIN", "GRANTS")
					for _, u := range users {
						var g []string
						for _, db := range slices.Sorted(maps.Keys(u.Grants)) {
							g = append(g, db+":"+u.Grants[db])
						}
						password, from := "yes", "anywhere"
						if !u.HasPassword {
							password = "no"
						}
						if host := catalog.ParseAccountName(u.Name).Host(); host != catalog.AnyHost {
							from = host
						}
						if u.LoopbackOnly {
							from = "this machine"
						}
						login := "open"
						switch {
						case u.Locked:
							login = "locked"
						case u.RequireTLS:
							login = "TLS only"
						}
						row(w, u.Name, u.Plugin, password, from, login, strings.Join(g, " "))
					}
				})
			})
		},
	}
	return group("user", "Make, change and list accounts", add, passwd, grant, lock, unlock, tls, remove, list)
}
