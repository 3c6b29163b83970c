package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/pause"
	adminv1 "skarv/proto/admin/v1"
)

type transfer struct {
	From       uint32 `json:"from"`
	To         uint32 `json:"to"`
	Count      uint32 `json:"count"`
	Partitions string `json:"partitions"`
}

type progress struct {
	Phase          string  `json:"phase"`
	Rows           int64   `json:"rows"`
	RowsEstimated  int64   `json:"rows_estimated"`
	Bytes          int64   `json:"bytes"`
	BytesEstimated int64   `json:"bytes_estimated"`
	Table          string  `json:"table,omitempty"`
	Applied        int64   `json:"applied"`
	LagSeconds     float64 `json:"lag_seconds"`
	Throttled      string  `json:"throttled,omitempty"`
	ETASeconds     float64 `json:"eta_seconds"`
	LateWrites     int64   `json:"late_writes"`
	Trouble        string  `json:"trouble,omitempty"`
	Compared       int64   `json:"compared,omitempty"`
	Waits          []wait  `json:"waits,omitempty"`
}

// wait is something that the reorganisation has been waiting for.
type wait struct {
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`
}

type stateStep struct {
	State string    `json:"state"`
	At    time.Time `json:"at"`
}

type reorganisation struct {
	ID            string      `json:"id,omitempty"`
	Kind          string      `json:"kind"`
	State         string      `json:"state"`
	Outcome       string      `json:"outcome,omitempty"`
	Paused        bool        `json:"paused"`
	Wish          string      `json:"wish,omitempty"`
	Problem       string      `json:"problem,omitempty"`
	Created       *time.Time  `json:"created,omitempty"`
	Opened        *time.Time  `json:"opened,omitempty"`
	WindowSeconds uint64      `json:"window_seconds"`
	PauseSeconds  float64     `json:"pause_seconds"`
	Attempts      uint32      `json:"attempts"`
	Partitions    uint32      `json:"partitions"`
	Transfers     []transfer  `json:"transfers"`
	Steps         []stateStep `json:"steps,omitempty"`
	Rows          int64       `json:"rows,omitempty"`
	Bytes         int64       `json:"bytes,omitempty"`
	Progress      *progress   `json:"progress,omitempty"`
	Advice        string      `json:"advice,omitempty"`
}

func toReorganisation(r *adminv1.Reorganisation) *reorganisation {
	if r == nil {
		return nil
	}
	out := &reorganisation{
		ID: r.Id, Kind: r.Kind, State: r.State, Outcome: r.Outcome, Paused: r.Paused, Wish: r.Wish, Problem: r.Problem, Created: when(r.Created),
		Opened: when(r.Opened), WindowSeconds: r.WindowSeconds, PauseSeconds: r.PauseSeconds, Attempts: r.Attempts, Transfers: []transfer{},
		Rows: r.Rows, Bytes: r.Bytes, Advice: r.Advice,
	}
	for _, t := range r.Transfers {
		out.Partitions += t.Count
		out.Transfers = append(out.Transfers, transfer{t.From, t.To, t.Count, t.Partitions})
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, stateStep{s.State, s.At.AsTime()})
	}
	if p := r.Progress; p != nil {
		out.Progress = &progress{
			p.Phase, p.Rows, p.RowsEstimated, p.Bytes, p.BytesEstimated, p.Table, p.Applied, p.LagSeconds, p.Throttled, p.EtaSeconds, p.LateWrites, p.Trouble, p.Compared, nil,
		}
		for _, w := range p.Waits {
			out.Progress.Waits = append(out.Progress.Waits, wait{w.What, p.At.AsTime().Sub(w.Since.AsTime()).Seconds()})
		}
	}
	return out
}

// reorganisation asks for one by its id, or for the last one.
func (a *app) reorganisation(ctx context.Context, id string) (r *reorganisation, err error) {
	err = a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
		got, err := api.Reorganisations(ctx, &adminv1.ReorganisationsRequest{Id: id})
		if err != nil {
			return err
		}
		if len(got.Reorganisations) == 0 {
			return errors.New("there has been no reorganisation: skarvctl rebalance begins one")
		}
		r = toReorganisation(got.Reorganisations[len(got.Reorganisations)-1]) // the oldest is first, and only the last can be running
		return nil
	})
	return r, err
}

// table writes what is known of it, for people.
func (r *reorganisation) table(w io.Writer) {
	fmt.Fprintln(w, r.line())
	if r.Advice != "" {
		fmt.Fprintln(w, "Next: "+r.Advice)
	}
	if r.Progress != nil && !r.over() {
		for _, wait := range r.Progress.Waits {
			row(w, "  ", "waiting for "+seconds(wait.Seconds), "for "+wait.What)
		}
	}
	for _, t := range r.Transfers {
		row(w, "  ", fmt.Sprintf("%d partitions", t.Count), fmt.Sprintf("from node group %d to %d", t.From, t.To), shortly(t.Partitions))
	}
	for _, s := range r.Steps {
		row(w, "  ", s.At.Local().Format("15:04:05.000"), s.State)
	}
}

func (r *reorganisation) over() bool { return r.State == "DONE" }

// moved reports whether there is nothing left to wait for: it is over, or only kept open for a way back.
func (r *reorganisation) moved() bool { return r.over() || r.State == "REVERSE" && r.Wish == "" }

// longWait is after how many seconds a wait is part of the line.
const longWait = 10

// line is the reorganisation in one line of text.
func (r *reorganisation) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.ID, r.State)
	if r.Outcome != "" {
		fmt.Fprintf(&b, " (%s)", r.Outcome)
	}
	if r.Paused {
		b.WriteString(" paused")
	}
	if p := r.Progress; p != nil && !r.over() {
		if p.RowsEstimated > 0 && r.State == "COPY" {
			b.WriteString(" " + bar(float64(p.Rows)/float64(p.RowsEstimated)))
		}
		fmt.Fprintf(&b, " %s rows, %s", count(p.Rows), size(p.Bytes))
		if p.Phase != "" { // movers are at work
			b.WriteString(", lag " + seconds(p.LagSeconds))
		}
		if p.Table != "" {
			b.WriteString(", " + p.Table)
		}
		if r.State == "VERIFY" {
			b.WriteString(", " + count(p.Compared) + " compared")
		}
		if p.ETASeconds > 0 {
			b.WriteString(", " + seconds(p.ETASeconds) + " left")
		}
		if p.Throttled != "" {
			b.WriteString(", waiting: " + p.Throttled)
		}
		if p.LateWrites > 0 {
			fmt.Fprintf(&b, ", %d LOST WRITES", p.LateWrites)
		}
		if p.Trouble != "" {
			b.WriteString(", " + p.Trouble)
		}
		if len(p.Waits) > 0 && p.Waits[0].Seconds >= longWait {
			b.WriteString(", waiting for " + p.Waits[0].What)
		}
	}
	if r.over() && r.Rows > 0 {
		fmt.Fprintf(&b, " %s rows, %s", count(r.Rows), size(r.Bytes))
	}
	if r.Opened != nil && r.PauseSeconds > 0 {
		fmt.Fprintf(&b, ", cut over in %s", seconds(r.PauseSeconds))
	}
	if r.Problem != "" {
		b.WriteString(reasons(r.Problem))
	}
	return b.String()
}

// shortly writes a list of partitions in few words.
func shortly(list string) string {
	var all []int
	for _, item := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(item, "-")
		first, _ := strconv.Atoi(from)
		last := first
		if isRange {
			last, _ = strconv.Atoi(to)
		}
		for p := first; p <= last; p++ {
			all = append(all, p)
		}
	}
	return ranges(all, 8)
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}

func count(n int64) string {
	switch {
	case n >= 10_000_000:
		return strconv.FormatInt(n/1_000_000, 10) + " M"
	case n >= 10_000:
		return strconv.FormatInt(n/1000, 10) + " k"
	}
	return strconv.FormatInt(n, 10)
}

func size(n int64) string {
	switch {
	case n >= 10<<30:
		return strconv.FormatInt(n>>30, 10) + " GB"
	case n >= 10<<20:
		return strconv.FormatInt(n>>20, 10) + " MB"
	}
	return strconv.FormatInt(n>>10, 10) + " kB"
}

// watchEvery is how often --watch and --wait look.
const watchEvery = 500 * time.Millisecond

// watchPatience is how long --watch and --wait ask again when nobody answers: the process may be being started again.
const watchPatience = time.Minute

// watch follows a reorganisation until it has moved what it moves, or is over, and returns it. Each change is a line; where that is too much,
// only what keeps it from going on.
func (a *app) watch(ctx context.Context, id string, quiet bool) (_ *reorganisation, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("reorganisation %s goes on; to follow it again: skarvctl reorg show %s --watch", id, id)
		}
	}()
	last, problem := "", ""
	var silent time.Time // since when nobody answers
	for {
		r, err := a.reorganisation(ctx, id)
		if status.Code(err) == codes.Unavailable && (silent.IsZero() || time.Since(silent) < watchPatience) {
			if silent.IsZero() {
				silent = time.Now()
				fmt.Fprintf(a.errs, "%s does not answer, which does not stop the reorganisation; asking again\n", a.addr)
			}
			if err := pause.For(ctx, watchEvery); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		silent = time.Time{}
		if line := r.line(); line != last && !quiet && a.output != "json" {
			fmt.Fprintln(a.out, line)
			last = line
		}
		if quiet && r.Problem != "" && r.Problem != problem && !r.moved() {
			problem = r.Problem
			fmt.Fprintln(a.errs, r.line())
		}
		if r.moved() {
			if a.output == "json" {
				return r, a.print(r, nil)
			}
			if r.Advice != "" {
				fmt.Fprintln(a.out, "Next: "+r.Advice)
			}
			return r, nil
		}
		if err := pause.For(ctx, watchEvery); err != nil {
			return nil, err
		}
	}
}

// because is a reason behind what it is the reason for, unless it was shown already.
func because(reason string, shown bool) string {
	switch {
	case reason == "":
		return ""
	case shown:
		return ", see above"
	}
	return reasons(reason)
}

// reasons are the lines of a text behind what they are the reason for: one behind a colon, several below it.
func reasons(text string) string {
	if strings.Contains(text, "\n") {
		return ":\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return ": " + text
}

// mostOfCell bounds what a cell of a table shows of a text.
const mostOfCell = 60

// cell is the beginning of a text, for a table.
func cell(text string) string {
	text = strings.ReplaceAll(text, "\n", "; ")
	if r := []rune(text); len(r) > mostOfCell {
		return string(r[:mostOfCell]) + "..."
	}
	return text
}

// begin is the flags of every command that moves partitions.
type begin struct {
	dryRun, wait, watch bool
	window              time.Duration
}

func (b *begin) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&b.dryRun, "dry-run", false, "only show what would be moved")
	f.BoolVar(&b.wait, "wait", false, "return when the partitions have moved")
	f.BoolVarP(&b.watch, "watch", "w", false, "as --wait, showing how far it is")
	f.DurationVar(&b.window, "rollback-window", 10*time.Minute, "how long it can be undone after the cutover")
}

// run asks for a plan, shows it, and starts it.
func (b *begin) run(a *app, ctx context.Context, req *adminv1.ReorganiseRequest) error {
	req.WindowSeconds = uint64(b.window / time.Second)
	ask := func(dry bool) (r *adminv1.ReorganiseResponse, err error) {
		req.DryRun = dry
		err = a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
			r, err = api.Reorganise(ctx, req)
			return err
		})
		return r, err
	}
	plan, err := ask(true)
	if err != nil {
		return err
	}
	if plan.Reorganisation == nil {
		return a.showPlan(plan)
	}
	if !a.yes && !b.dryRun && !plan.Resumed && a.output == "json" {
		return errors.New("not started; --dry-run -o json shows the plan, --yes -o json starts it")
	}
	if b.dryRun || !a.yes || len(plan.Refusals) > 0 {
		err := a.showPlan(plan)
		if err == nil && len(plan.Refusals) > 0 {
			err = &exitError{exitFailed, errors.New("the partitions cannot be moved as things are")}
		}
		if err != nil || b.dryRun {
			return err
		}
	}
	if !a.yes && !plan.Resumed && !a.confirm("Start?") {
		return errors.New("not started; --yes starts without asking")
	}
	started, err := ask(false)
	if err != nil {
		return err
	}
	r := toReorganisation(started.Reorganisation)
	if r == nil {
		return errors.New("nothing is to be moved any more")
	}
	if b.wait || b.watch {
		r, err := a.watch(ctx, r.ID, !b.watch)
		if err == nil && r.over() && r.Outcome != "moved" {
			return fmt.Errorf("the partitions have not moved: reorganisation %s was %s%s", r.ID, r.Outcome, because(r.Problem, b.watch))
		}
		return err
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "Reorganisation %s moves %d partitions. See: skarvctl reorg show %s --watch\n", r.ID, r.Partitions, r.ID)
	})
}

func (a *app) showPlan(plan *adminv1.ReorganiseResponse) error {
	r := toReorganisation(plan.Reorganisation)
	out := struct {
		Rows           int64           `json:"rows"`
		Bytes          int64           `json:"bytes"`
		Seconds        float64         `json:"seconds"`
		Basis          string          `json:"basis"`
		Running        bool            `json:"running"`
		Refusals       []string        `json:"refusals"` // why it would be refused
		Reorganisation *reorganisation `json:"reorganisation"`
	}{plan.Rows, plan.Bytes, plan.Seconds, plan.Basis, plan.Resumed, append([]string{}, plan.Refusals...), r}
	return a.print(out, func(w io.Writer) {
		if r == nil {
			fmt.Fprintln(w, "Nothing is to be moved.")
			return
		}
		if plan.Resumed {
			fmt.Fprintf(w, "Reorganisation %s runs already: %s\n", r.ID, r.State)
			return
		}
		row(w, "FROM", "TO", "PARTITIONS")
		for _, t := range r.Transfers {
			row(w, t.From, t.To, t.Count)
		}
		fmt.Fprintf(w, "%d partitions, about %s rows and %s. About %s, %s.\n", r.Partitions, count(plan.Rows), size(plan.Bytes), seconds(plan.Seconds), plan.Basis)
		for _, x := range plan.Refusals {
			fmt.Fprintln(w, "REFUSED:", x)
		}
	})
}

func (a *app) rebalanceCommand() *cobra.Command {
	var b begin
	var weights, pins []string
	byLoad := false
	c := &cobra.Command{
		Use:   "rebalance",
		Short: "Spread the partitions over all node groups, while clients work",
		Long: `Spread the partitions over all node groups, each with the same share unless --weight says otherwise. Only what must move
moves. Run again while it is under way, it follows the one that runs. With --by-load node groups get an equal share of the
statements of the last minutes rather than of the partitions: hot partitions move away from busy groups.`,
		Example: "  skarvctl rebalance --dry-run\n  skarvctl rebalance --yes --watch\n  skarvctl rebalance --weight ng3=2 --pin 17,90-120=ng1",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			req := &adminv1.ReorganiseRequest{Kind: "rebalance", ByLoad: byLoad}
			for _, w := range weights {
				name, value, _ := strings.Cut(w, "=")
				weight, err := strconv.ParseFloat(value, 64)
				if err != nil || weight <= 0 {
					return usage("--weight is GROUP=NUMBER, not %q", w)
				}
				req.Shares = append(req.Shares, &adminv1.Share{NodeGroup: name, Weight: weight})
			}
			for _, p := range pins {
				list, name, ok := strings.Cut(p, "=")
				if !ok || list == "" || name == "" {
					return usage("--pin is PARTITIONS=GROUP, not %q", p)
				}
				req.Pins = append(req.Pins, &adminv1.Pin{Partitions: list, NodeGroup: name})
			}
			return b.run(a, c.Context(), req)
		},
	}
	c.Flags().BoolVar(&byLoad, "by-load", false, "spread the load that was measured, not the number of partitions")
	c.Flags().StringArrayVar(&pins, "pin", nil, "PARTITIONS=GROUP: these are to be there whatever the shares say, 17,90-120=ng2; repeat for more")
	c.Flags().StringArrayVar(&weights, "weight", nil, "GROUP=NUMBER: its share against the others' 1; repeat for more")
	b.flags(c)
	return c
}

func (a *app) moveCommand() *cobra.Command {
	var b begin
	var partitions, to string
	c := &cobra.Command{
		Use:     "move --partitions LIST --to GROUP",
		Short:   "Move some partitions to a node group, while clients work",
		Example: "  skarvctl move --partitions 17,90-120 --to ng2 --yes --wait",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if partitions == "" || to == "" {
				return usage("--partitions and --to are needed")
			}
			return b.run(a, c.Context(), &adminv1.ReorganiseRequest{Kind: "move", Partitions: partitions, To: to})
		},
	}
	c.Flags().StringVar(&partitions, "partitions", "", "partitions and ranges of them: 17,90-120")
	c.Flags().StringVar(&to, "to", "", "the node group, by name or id")
	_ = c.RegisterFlagCompletionFunc("to", a.complete(nodeGroupNames, 0))
	b.flags(c)
	return c
}

func (a *app) drainCommand() *cobra.Command {
	var b begin
	c := &cobra.Command{
		Use:               "drain GROUP...",
		ValidArgsFunction: a.complete(nodeGroupNames, 0),
		Short:             "Move all partitions of node groups to the others, while clients work",
		Args:              args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			return b.run(a, c.Context(), &adminv1.ReorganiseRequest{Kind: "drain", Without: in})
		},
	}
	b.flags(c)
	return c
}

func (a *app) removeGroupCommand() *cobra.Command {
	var lost, dryRun bool
	c := &cobra.Command{
		Use:               "remove GROUP",
		ValidArgsFunction: a.complete(nodeGroupNames, 1),
		Short:             "Take a node group out of the cluster that owns no partitions any more",
		Long: `Take a node group out of the cluster that owns no partitions any more, no single tables and no sequences. Its server stays as it is.

With --lost the server is not asked: it does not answer, and never will again. A group that has rows which are nowhere else is not
taken out so: its backup must be restored.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, in []string) error { return a.removeGroup(c.Context(), in[0], lost, dryRun) },
	}
	c.Flags().BoolVar(&lost, "lost", false, "its server is lost for good: take it out without asking it")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say whether it can be taken out")
	return c
}

func (a *app) removeGroup(ctx context.Context, name string, lost, dryRun bool) error {
	c := noted{dryRun: dryRun, can: "Node group " + name + " can be taken out of the cluster.", done: "Node group " + name + " is out of the cluster."}
	if lost {
		c.confirm = "Is the server of node group " + name + " lost for good, and stopped?"
	}
	return c.run(ctx, a, func(ctx context.Context, api adminv1.AdminClient, dry bool) (notes, error) {
		return api.RemoveNodeGroup(ctx, &adminv1.RemoveNodeGroupRequest{NodeGroup: name, Lost: lost, DryRun: dry})
	}, func(notes []string, done bool) any {
		return struct {
			NodeGroup string   `json:"node_group"`
			Removed   bool     `json:"removed"`
			Notes     []string `json:"notes"`
		}{name, done, notes}
	})
}

// noted is a change that has notes for the operator, and that a dry run only looks at.
type noted struct {
	dryRun    bool
	confirm   string // is asked before, after the notes of a dry run; "": nothing is
	can, done string // what is said of a dry run, and of the change
}

// notes is an answer that has some.
type notes interface{ GetNotes() []string }

// run does it by what asks for it; as is what --output json shows.
func (n noted) run(ctx context.Context, a *app, request func(ctx context.Context, api adminv1.AdminClient, dry bool) (notes, error),
	as func(notes []string, done bool) any) error {
	ask := func(dry bool) (notes []string, err error) {
		err = a.call(ctx, func(ctx context.Context, api adminv1.AdminClient) error {
			r, err := request(ctx, api, dry)
			notes = r.GetNotes()
			return err
		})
		return notes, err
	}
	show := func(notes []string, done bool, text string) error {
		notes = append([]string{}, notes...)
		return a.print(as(notes, done), func(w io.Writer) {
			fmt.Fprintln(w, text)
			for _, n := range notes {
				fmt.Fprintln(w, "NOTE:", n)
			}
		})
	}
	if n.dryRun || n.confirm != "" && !a.yes {
		notes, err := ask(true)
		if err != nil {
			return err
		}
		if n.dryRun {
			return show(notes, false, n.can)
		}
		for _, n := range notes {
			fmt.Fprintln(a.errs, "NOTE:", n)
		}
		if !a.confirm(n.confirm) {
			return errors.New("nothing was done; --yes does not ask")
		}
	}
	notes, err := ask(false)
	if err != nil {
		return err
	}
	return show(notes, true, n.done)
}

func (a *app) reorgCommand() *cobra.Command {
	list := &cobra.Command{
		Use:   "list",
		Short: "List reorganisations",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
				r, err := api.Reorganisations(ctx, &adminv1.ReorganisationsRequest{})
				if err != nil {
					return err
				}
				all := []*reorganisation{}
				for _, x := range r.Reorganisations {
					all = append(all, toReorganisation(x))
				}
				return a.print(all, func(w io.Writer) {
					row(w, "ID", "KIND", "PARTITIONS", "STATE", "OUTCOME", "CREATED", "PROBLEM")
					cut := ""
					for _, x := range all {
						problem := cell(x.Problem)
						if strings.HasSuffix(problem, "...") {
							cut = x.ID
						}
						row(w, x.ID, x.Kind, x.Partitions, x.State, x.Outcome, x.Created.Local().Format(time.DateTime), problem)
					}
					if cut != "" {
						fmt.Fprintf(w, "The whole of a problem: skarvctl reorg show %s\n", cut)
					}
				})
			})
		},
	}
	var watch bool
	show := &cobra.Command{
		Use:               "show [ID]",
		ValidArgsFunction: a.complete(reorganisationIDs, 1),
		Short:             "Show how far a reorganisation is; without ID the last one",
		Args:              args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, in []string) error {
			id := ""
			if len(in) > 0 {
				id = in[0]
			}
			x, err := a.reorganisation(c.Context(), id)
			if err != nil {
				return err
			}
			if watch {
				_, err := a.watch(c.Context(), x.ID, false)
				return err
			}
			return a.print(x, x.table)
		},
	}
	show.Flags().BoolVarP(&watch, "watch", "w", false, "follow it until the partitions have moved")
	change := func(use, short, done string, action adminv1.ChangeReorganisationRequest_Action) *cobra.Command {
		return &cobra.Command{
			Use:               use + " [ID]",
			ValidArgsFunction: a.complete(reorganisationIDs, 1),
			Short:             short,
			Args:              args(cobra.MaximumNArgs(1)),
			RunE: func(c *cobra.Command, in []string) error {
				req := &adminv1.ChangeReorganisationRequest{Action: action}
				if len(in) > 0 {
					req.Id = in[0]
				}
				return a.call(c.Context(), func(ctx context.Context, api adminv1.AdminClient) error {
					r, err := api.ChangeReorganisation(ctx, req)
					if err != nil {
						return err
					}
					x := toReorganisation(r.Reorganisation)
					return a.print(x, func(w io.Writer) { fmt.Fprintf(w, done+"\n", x.ID) })
				})
			},
		}
	}
	return group("reorg", "Watch and steer reorganisations", list, show,
		change("pause", "Stop the one that runs where it is", "Reorganisation %s is paused.", adminv1.ChangeReorganisationRequest_ACTION_PAUSE),
		change("resume", "Let it go on", "Reorganisation %s goes on.", adminv1.ChangeReorganisationRequest_ACTION_RESUME),
		change("abort", "Give it up before its cutover; what was copied is deleted", "Reorganisation %s will be given up.", adminv1.ChangeReorganisationRequest_ACTION_ABORT),
		change("rollback", "Take it back after its cutover", "Reorganisation %s will be taken back.", adminv1.ChangeReorganisationRequest_ACTION_ROLLBACK),
		change("complete", "End the way back after its cutover, and delete the old rows", "Reorganisation %s will be completed.", adminv1.ChangeReorganisationRequest_ACTION_COMPLETE),
	)
}
