package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	adminv1 "skarv/proto/admin/v1"
)

// completionTime bounds how long a shell waits for names.
const completionTime = 2 * time.Second

// names are those of the cluster that an argument or a flag may be.
type names func(context.Context, adminv1.AdminClient) ([]string, error)

// complete offers names to the shell; most: for the first arguments of a command, 0 for all. When nobody answers, nothing is offered.
func (a *app) complete(of names, most int) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completionTime)
		defer cancel()
		_ = a.stream(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
			list, err := of(ctx, api)
			found = list
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func nodeGroupNames(ctx context.Context, api adminv1.AdminClient) (out []string, err error) {
	r, err := api.Status(ctx, &adminv1.StatusRequest{})
	for _, g := range r.GetNodeGroups() {
		out = append(out, g.Name)
	}
	return out, err
}

func reorganisationIDs(ctx context.Context, api adminv1.AdminClient) (out []string, err error) {
	r, err := api.Reorganisations(ctx, &adminv1.ReorganisationsRequest{})
	for _, x := range r.GetReorganisations() {
		out = append(out, x.Id)
	}
	return out, err
}

func userNames(ctx context.Context, api adminv1.AdminClient) (out []string, err error) {
	r, err := api.ListUsers(ctx, &adminv1.ListUsersRequest{})
	for _, u := range r.GetUsers() {
		out = append(out, u.Name)
	}
	return out, err
}

func tableNames(ctx context.Context, api adminv1.AdminClient) (out []string, err error) {
	r, err := api.Tables(ctx, &adminv1.TablesRequest{})
	for _, t := range r.GetTables() {
		out = append(out, t.Database+"."+t.Name)
	}
	return out, err
}
