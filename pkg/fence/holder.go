package fence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
)

// Holder is a proxy's accounts on the servers. Its methods may be called from any goroutine.
type Holder struct {
	cfg HolderConfig

	mu       sync.Mutex
	slot     *Slot
	ready    map[string]error // by address: the account was made (nil) or cannot be made
	again    map[string]bool  // by address: the account was made, and is refused
	notified bool             // Lost was called for this slot
}

// HolderConfig is what a Holder works with.
type HolderConfig struct {
	// Dial connects to a group's primary as administrator.
	Dial func(ctx context.Context, g *catalog.NodeGroup) (*mysqlconn.Conn, error)
	// Held tells, by the cluster's state as it is now, whether a slot is this process's still. It is asked before an account is made, or made
	// again: a server that is new to the group, or has forgotten the account, may not know that the slot was fenced.
	Held func(ctx context.Context, s Slot) (bool, error)
	// Lost is called, once for each slot, when a server says that the slot is not this process's any more. It must not
	// call the Holder.
	Lost func()
	// Unfenced is called when Skarv's own account has to be used on a server.
	Unfenced func()
	Log      *slog.Logger
}

// NewHolder returns a Holder without a slot: nobody is let in before Use.
func NewHolder(cfg HolderConfig) *Holder {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Holder{cfg: cfg, ready: map[string]error{}, again: map[string]bool{}}
}

// Use takes over a slot; nil: the last one is lost.
func (h *Holder) Use(s *Slot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.slot, h.ready, h.again, h.notified = s, map[string]error{}, map[string]bool{}, false
}

// ErrNoSlot: the process has no slot at the moment.
var ErrNoSlot = errors.New("this process is being admitted to the cluster")

// Account returns the account for clients' statements on g's primary, making it ready first. Where accounts cannot be made,
// that is the one Skarv logs in with for everything; see Unfenced.
func (h *Holder) Account(ctx context.Context, g *catalog.NodeGroup) (user, password string, err error) {
	n := g.Primary
	h.mu.Lock()
	slot := h.slot
	err, made := h.ready[n.Addr]
	h.mu.Unlock()
	switch {
	case slot == nil:
		return "", "", ErrNoSlot
	case !made:
		if err = h.activate(ctx, g, *slot); err != nil && !IsNoPrivilege(err) {
			return "", "", err
		}
	}
	if err != nil {
		return n.User, n.Password, nil
	}
	return User(slot.N), slot.Password(), nil
}

func (h *Holder) activate(ctx context.Context, g *catalog.NodeGroup, slot Slot) error {
	c, err := h.cfg.Dial(ctx, g)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	if err = h.stillHeld(ctx, c, g, slot); err == nil {
		err = Activate(c, g, slot)
	}
	switch {
	case errors.Is(err, ErrFenced):
		h.lost(slot)
		return err
	case IsNoPrivilege(err):
		h.cfg.Unfenced()
		h.cfg.Log.Warn("partitions cannot be moved from or to a node group", "group", g.ID, "error", err)
	case err != nil:
		return fmt.Errorf("make account %s: %w", User(slot.N), err)
	}
	h.mu.Lock()
	if h.slot != nil && h.slot.Incarnation == slot.Incarnation {
		h.ready[g.Primary.Addr] = err
		delete(h.again, g.Primary.Addr)
	}
	h.mu.Unlock()
	return err
}

// stillHeld returns nil if slot's account may be made ready on g's primary, which c is connected to: for the first time on the group's first primary,
// or because the server knows the slot, as Activate will see, or because the slot is this process's still.
func (h *Holder) stillHeld(ctx context.Context, c *mysqlconn.Conn, g *catalog.NodeGroup, slot Slot) error {
	h.mu.Lock()
	again := h.again[g.Primary.Addr]
	h.mu.Unlock()
	switch {
	case !again && g.Term <= 1:
		return nil
	case !again: // a replica was made the primary
		return h.held(ctx, slot)
	}
	if err := Admit(c, g, slot); !errors.Is(err, ErrForgotten) && !sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase) {
		return err
	}
	if err := h.held(ctx, slot); err != nil {
		return err
	}
	h.cfg.Log.Warn("the account of this process is made again on a server that does not know it", "group", g.ID, "account", User(slot.N))
	return nil
}

// held returns nil if slot is this process's still.
func (h *Holder) held(ctx context.Context, slot Slot) error {
	held, err := h.cfg.Held(ctx, slot)
	switch {
	case err != nil:
		return fmt.Errorf("the server does not know this process, and the cluster's state does not tell whether it is let in: %w", err)
	case !held:
		return ErrFenced
	}
	return nil
}

// Known returns nil if the server c is connected to, with Skarv's own account, is one of g.
func (h *Holder) Known(c *mysqlconn.Conn, g *catalog.NodeGroup) error {
	return unprivileged(Known(c, g))
}

// Admit decides on a new connection that was made with user's account, a slot's.
func (h *Holder) Admit(c *mysqlconn.Conn, g *catalog.NodeGroup, user string) error {
	h.mu.Lock()
	slot := h.slot
	h.mu.Unlock()
	if slot == nil || User(slot.N) != user {
		return ErrNoSlot
	}
	err := Admit(c, g, *slot)
	if errors.Is(err, ErrFenced) {
		h.lost(*slot)
	}
	return err
}

// Refused is told that the server refused a login, or what Admit asked it: the account may be gone or locked, or its password another
// one; so it is where the server is another one than it was, or was left by the cluster and has joined again. It reports whether the login
// is to be tried once more: Account makes the account ready before, which tells.
func (h *Holder) Refused(g *catalog.NodeGroup, user string, err error) bool {
	_, refused := errors.AsType[*sqlerr.Error](err)
	_, unanswered := errors.AsType[*mysqlconn.UnansweredError](err)
	forgotten := errors.Is(err, ErrForgotten)
	if user == g.Primary.User || !refused && !unanswered && !forgotten || mysqlconn.IsLost(err) || sqlerr.HasCode(err, sqlerr.TooManyConnections, sqlerr.TooManyUserConns) {
		return false
	}
	h.mu.Lock()
	if _, made := h.ready[g.Primary.Addr]; made {
		delete(h.ready, g.Primary.Addr)
		h.again[g.Primary.Addr] = true
	}
	h.mu.Unlock()
	return true
}

func (h *Holder) lost(slot Slot) {
	h.mu.Lock()
	call := h.slot != nil && h.slot.Incarnation == slot.Incarnation && !h.notified
	h.notified = h.notified || call
	h.mu.Unlock()
	if call {
		h.cfg.Lost()
	}
}
