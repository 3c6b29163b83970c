// Command skarvctl is the operator's command line. It speaks only the admin API of a Skarv process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/adminaccess"
	"skarv/pkg/buildinfo"
	adminv1 "skarv/proto/admin/v1"
)

// The exit codes, for scripts.
const (
	exitOK          = 0
	exitFailed      = 1 // refused or failed
	exitUsage       = 2 // wrong command line
	exitUnreachable = 3 // no Skarv process answers at --addr
	exitDegraded    = 4 // status: something is wrong with the cluster
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// app is one invocation.
type app struct {
	in      io.Reader
	out     io.Writer
	errs    io.Writer
	addr    string
	output  string
	timeout time.Duration
	yes     bool // do not ask

	files      adminaccess.Files
	tls        bool
	serverName string
}

// exitError carries an exit code other than exitFailed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error of the command line.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, getenv func(string) string) int {
	a := &app{in: in, out: out, errs: errs}
	root := a.root(getenv)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err.Error() != "" {
			fmt.Fprintln(errs, "skarvctl:", e.err)
		}
		return e.code
	}
	s, ok := status.FromError(err)
	switch {
	case !ok:
		fmt.Fprintln(errs, "skarvctl:", err)
		if strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag") {
			return exitUsage
		}
		return exitFailed
	case s.Code() == codes.Unavailable && !strings.Contains(s.Message(), "etcd"):
		fmt.Fprintf(errs, "skarvctl: no Skarv process answers at %s: %s (%s)\n", a.addr, unanswered(s.Message()), dialled(s.Message()))
		return exitUnreachable
	case s.Code() == codes.Unauthenticated:
		fmt.Fprintln(errs, "skarvctl:", s.Message())
		return exitFailed
	case s.Code() == codes.InvalidArgument:
		fmt.Fprintln(errs, "skarvctl:", s.Message())
		return exitUsage
	case s.Code() == codes.DeadlineExceeded:
		fmt.Fprintf(errs, "skarvctl: the process at %s has not answered within %s (--timeout): it is frozen, cut off or busy; what it was asked to do may still happen, look before you ask again\n",
			a.addr, a.timeout)
		return exitFailed
	default:
		fmt.Fprintln(errs, "skarvctl:", s.Message())
		return exitFailed
	}
}

// dialled is what gRPC says of a connection that was not made, without the words of its layers.
func dialled(message string) string {
	const layer = `connection error: desc = `
	_, quoted, found := strings.Cut(message, layer)
	if inner, err := strconv.QuotedPrefix(quoted); found && err == nil {
		message, _ = strconv.Unquote(inner)
	}
	return strings.TrimPrefix(strings.TrimPrefix(message, "transport: "), "Error while dialing: ")
}

// unanswered is what to do where nobody has answered, going by what gRPC says of it.
func unanswered(message string) string {
	switch {
	case strings.Contains(message, "server preface"):
		return "what listens there closes connections without TLS; if it is a Skarv process with admin.tls_cert, give --tls-ca FILE, or --tls"
	case strings.Contains(message, "does not look like a TLS handshake"):
		return "what listens there speaks no TLS; leave out --tls, --tls-ca and --tls-cert (SKARV_TLS, SKARV_TLS_CA, SKARV_TLS_CERT)"
	case strings.Contains(message, "x509:"):
		return "its certificate is not accepted; give its authority with --tls-ca, or the name in it with --tls-server-name"
	case strings.Contains(message, "tls:"):
		return "it refuses the connection; give a certificate that it takes with --tls-cert and --tls-key, or --token-file"
	}
	return "start one with `skarv dev` or `skarv serve`, or give its admin address with --addr or SKARV_ADDR"
}

func (a *app) root(getenv func(string) string) *cobra.Command {
	addr := getenv("SKARV_ADDR")
	if addr == "" {
		addr = "127.0.0.1:9306"
	}
	root := &cobra.Command{
		Use:   "skarvctl",
		Short: "Operate a Skarv cluster",
		Long: `skarvctl asks a Skarv process about its cluster and changes it.

Exit codes: 0 done, 1 refused or failed, 2 wrong command line, 3 no process answers at --addr,
4 (status only) the cluster is not well.`,
		Version:       buildinfo.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if a.output != "table" && a.output != "json" {
				return usage("--output is table or json, not %q", a.output)
			}
			if _, _, err := net.SplitHostPort(a.addr); err != nil {
				return usage("--addr is HOST:PORT, not %q", a.addr)
			}
			if a.timeout <= 0 {
				return usage("--timeout is a time such as 30s, not %v", a.timeout)
			}
			return nil
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w; see %s --help", err, c.CommandPath())
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	f := root.PersistentFlags()
	f.StringVar(&a.addr, "addr", addr, "admin address HOST:PORT of any Skarv process (environment: SKARV_ADDR)")
	f.StringVarP(&a.output, "output", "o", "table", "table or json")
	f.BoolVar(&a.tls, "tls", getenv("SKARV_TLS") != "", "use TLS; the other --tls flags imply it (environment: SKARV_TLS)")
	f.StringVar(&a.files.CA, "tls-ca", getenv("SKARV_TLS_CA"), "PEM authority of the process's certificate; default: the system's (environment: SKARV_TLS_CA)")
	f.StringVar(&a.files.Cert, "tls-cert", getenv("SKARV_TLS_CERT"), "PEM client certificate (environment: SKARV_TLS_CERT)")
	f.StringVar(&a.files.Key, "tls-key", getenv("SKARV_TLS_KEY"), "PEM key of --tls-cert (environment: SKARV_TLS_KEY)")
	f.StringVar(&a.serverName, "tls-server-name", "", "name in the process's certificate, if it is not that of --addr")
	f.StringVar(&a.files.Token, "token-file", getenv("SKARV_TOKEN_FILE"), "file with the cluster's admin token (environment: SKARV_TOKEN_FILE)")
	f.BoolVarP(&a.yes, "yes", "y", false, "do not ask, where a command does")
	f.DurationVar(&a.timeout, "timeout", time.Minute, "how long to wait for an answer")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(a.statusCommand(), a.clusterCommand(), a.nodeGroupCommand(), a.partitionsCommand(), a.transactionsCommand(), a.transactionCommand(),
		a.tablesCommand(), a.indexCommand(), a.routeCommand(), a.userCommand(), a.rebalanceCommand(), a.moveCommand(), a.reorgCommand(),
		a.sessionCommand(), a.statementsCommand(), a.importCommand(), a.leaveCommand(), a.checksumCommand(), a.versionCommand())
	return root
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of skarvctl; skarvctl status shows that of every process",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return a.print(struct {
				Version string `json:"version"`
			}{buildinfo.Version()}, func(w io.Writer) { fmt.Fprintln(w, "skarvctl", buildinfo.Version()) })
		},
	}
}

// args wraps a check of arguments so that its error is one of usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, in []string) error {
		if err := check(c, in); err != nil {
			return usage("%w; usage: %s", err, c.UseLine())
		}
		return nil
	}
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: func(c *cobra.Command, in []string) error {
		if len(in) > 0 {
			return usage("unknown command %q for %q; see %s --help", in[0], c.CommandPath(), c.CommandPath())
		}
		return nil
	}, RunE: func(c *cobra.Command, _ []string) error {
		return usage("%s needs a subcommand; see %s --help", c.CommandPath(), c.CommandPath())
	}}
	c.AddCommand(children...)
	return c
}

// call connects to the admin API and runs fn, which has to end within --timeout.
func (a *app) call(ctx context.Context, fn func(context.Context, adminv1.AdminClient) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.stream(ctx, fn)
}

// stream connects to the admin API and runs fn, which may take as long as it does.
func (a *app) stream(ctx context.Context, fn func(context.Context, adminv1.AdminClient) error) error {
	access, err := adminaccess.Load(a.files, nil)
	if err != nil {
		return usage("%w (--tls-cert, --tls-key, --tls-ca, --token-file)", err)
	}
	options, err := access.DialOptions(a.addr, a.tls, a.serverName)
	if err != nil {
		return usage("%w: --tls, --tls-ca", err)
	}
	conn, err := grpc.NewClient(a.addr, options...)
	if err != nil {
		return usage("--addr %s: %w", a.addr, err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return fn(ctx, adminv1.NewAdminClient(conn))
}

// receive hands all answers of a stream to see, which returns the report for which the stream was asked when one has it.
func receive[A, R any](s interface{ Recv() (*A, error) }, see func(*A) *R) (*R, error) {
	var report *R
	for {
		answer, err := s.Recv()
		if errors.Is(err, io.EOF) {
			if report == nil {
				return nil, errors.New("the process ended before it had an answer")
			}
			return report, nil
		}
		if err != nil {
			return nil, err
		}
		if r := see(answer); r != nil {
			report = r
		}
	}
}

// confirm asks a question and reports whether the answer is yes.
func (a *app) confirm(question string) bool {
	fmt.Fprint(a.errs, question+" [y/N] ")
	var answer string
	_, _ = fmt.Fscanln(a.in, &answer)
	return strings.HasPrefix(strings.ToLower(answer), "y")
}
