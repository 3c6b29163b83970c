// Command skarv is the distributed SQL proxy: a local cluster (dev), the server (serve), a data node (node).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"skarv/pkg/buildinfo"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run carries out one command line and returns the exit status: 0, 1 for a failure, 2 for a command line that
// makes no sense.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	root := &cobra.Command{
		Use:           "skarv",
		Short:         "many MySQL or MariaDB servers, one database",
		Version:       buildinfo.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(devCommand(), serveCommand(), nodeCommand(), versionCommand())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(os.Stderr, "skarv:", strings.TrimRight(line, "\n"))
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && !cmd.HasParent() {
		return usageError{fmt.Errorf("unknown command %q; skarv --help lists them", args[0])}
	}
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s: unknown argument %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "skarv", buildinfo.Version()) },
	}
}
