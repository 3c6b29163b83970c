// Package topology is the cluster's state in etcd: it reads and watches it as immutable catalog snapshots, writes
// it by compare-and-swap, and holds leases and elections. It is the only importer of the etcd client. It knows how
// objects are stored and nothing of what they mean: what may be written, and when, is for control to decide.
//
// All keys stand under one prefix:
//
//	cluster                 what the cluster is: id, flavor, when it was made
//	map                     the partition map, one key
//	ng/<id>                 a node group
//	db/<name>               a database
//	table/<db>/<name>       a table or view
//	account/<name>          a user
//	seq/<id>                the next free value of a table's AUTO_INCREMENT sequence
//	next/<what>             the next free id of a kind of object
//	<kind>/<id>             records of jobs (ddl, reorg, ...), opaque to this package
//	live/<member>           a running process, bound to a lease
//	slot/<n>                a proxy's slot: see Slot
//	leader/<role>           an election, bound to a lease
//	secret/<name>           secrets the cluster shares
//
// Names are path-escaped, so that no name can reach into another object's keys.
package topology

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/reason"
)

// DefaultPrefix is where a cluster lives in etcd unless its configuration says otherwise.
const DefaultPrefix = "/skarv/v1/"

// The errors callers decide by.
var (
	// ErrConflict: the object was changed by someone else since it was read. Nothing was written.
	ErrConflict = errors.New("changed by someone else meanwhile")
	// ErrNotLeader: the guard's leadership is over. Nothing was written.
	ErrNotLeader = errors.New("leadership lost")
	// ErrNoCluster: the prefix holds no cluster yet.
	ErrNoCluster = errors.New("no cluster here yet")
	// ErrUsedUp: a sequence has not as many values left.
	ErrUsedUp = errors.New("sequence is used up")
	// ErrUnavailable: etcd could not be reached, answered too late, or lets us in no more. A write may have happened
	// or not.
	ErrUnavailable = errors.New("etcd is not reachable")
	// ErrFull is an ErrUnavailable: etcd has reached its quota, and takes no writes and gives no leases until somebody has made
	// room. What it holds can be read, and leases there are live on. Nothing was written.
	ErrFull = fmt.Errorf("%w for writes: its database is full (NOSPACE); make room as operations.md says under etcd", ErrUnavailable)
	// ErrRestored: etcd has an older state than it had before.
	ErrRestored = errors.New("etcd has been restored from a backup, or replaced by another one: what this process knows is newer than that, or of another cluster, and counts no more")
)

// Config says where the cluster's state is.
type Config struct {
	Endpoints          []string
	TLS                *tls.Config // nil: plain
	Username, Password string      // etcd's own authentication; empty: none
	Prefix             string      // DefaultPrefix if empty
	// DialTimeout bounds connecting, RequestTimeout each single request. Defaults: 5 s each.
	DialTimeout, RequestTimeout time.Duration
	Log                         *slog.Logger // nil: nothing is logged
}

// Store is the cluster's state. All methods may be called concurrently.
type Store struct {
	client  *clientv3.Client
	tls     *tls.Config
	prefix  string
	timeout time.Duration
	log     *slog.Logger

	mu     sync.Mutex
	health Health
	full   bool // writes are refused for want of space; only probe finds out that they are not any more
}

// Health tells whether etcd answers.
type Health struct {
	OK    bool
	Since time.Time // when OK last changed
	Err   error     // why not, when OK is false
	// Slow is how long etcd has taken to answer last, or has taken already, if that is too long; else 0.
	Slow time.Duration
}

// Open returns a Store. It connects lazily: an etcd that is down shows in the first request, not here. With
// Username set, etcd is asked for a token at once.
func Open(cfg Config) (*Store, error) {
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("topology: no etcd endpoints given")
	}
	prefix := cfg.Prefix
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	dial := cfg.DialTimeout
	if dial <= 0 {
		dial = 5 * time.Second
	}
	timeout := cfg.RequestTimeout
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            cfg.Endpoints,
		TLS:                  cfg.TLS,
		Username:             cfg.Username,
		Password:             cfg.Password,
		DialTimeout:          dial,
		DialKeepAliveTime:    10 * time.Second, // etcd refuses clients that ping more often than every 5 s
		DialKeepAliveTimeout: 3 * time.Second,
		MaxCallSendMsgSize:   8 << 20,
		Logger:               zap.NewNop(),
		DialOptions:          []grpc.DialOption{grpc.WithConnectParams(reconnect(dial))},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd at %s: %w", strings.Join(cfg.Endpoints, ", "), err)
	}
	return &Store{
		client:  client,
		tls:     cfg.TLS,
		prefix:  prefix,
		timeout: timeout,
		log:     log,
		health:  Health{OK: true, Since: time.Now()},
	}, nil
}

// reconnect has a lost etcd tried again every second or two, however long it was gone: gRPC's own pauses grow to two
// minutes.
func reconnect(dial time.Duration) grpc.ConnectParams {
	return grpc.ConnectParams{
		Backoff:           grpcbackoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
		MinConnectTimeout: dial,
	}
}

// Close ends every request, watch and lease of this Store.
func (s *Store) Close() error { return s.client.Close() }

// Endpoints returns the addresses this Store was opened with.
func (s *Store) Endpoints() []string { return s.client.Endpoints() }

// Healthy tells whether etcd answers, as far as the last request, watch or probe knows.
func (s *Store) Healthy() Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health
}

// errLate is why a request failed that nobody knows more of.
var errLate = errors.New("no answer in time")

// observe keeps Healthy up to date and turns the client's errors into ours. ctx is that of whoever asked, without the time that
// every request has.
func (s *Store) observe(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) { // whoever asked has gone, which tells nothing of etcd
		return err
	}
	unavailable, late := isUnavailable(err), isLate(err)
	if late && ctx.Err() != nil { // who asked had less time than a request has: etcd may be slow, or not even that
		text := "etcd has not answered in time"
		if h := s.Healthy(); h.Err != nil {
			text += ": " + h.Err.Error()
		}
		return reason.Say(text, fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	if late {
		err = reason.Say(errLate.Error(), err)
	}
	s.mu.Lock()
	if rpctypes.Error(err) == rpctypes.ErrNoSpace {
		s.full = true
		err = ErrFull
	}
	if ok := !unavailable && !s.full; ok != s.health.OK {
		s.health.OK, s.health.Since = ok, time.Now()
	}
	switch {
	case !unavailable && s.full:
		s.health.Err = ErrFull
	case !unavailable:
		s.health.Err = nil
	case s.health.Err == nil || !late:
		s.health.Err = err
	default: // that time ran out tells less than what is known already
		err = fmt.Errorf("%w (%w)", err, s.health.Err)
	}
	s.mu.Unlock()
	if unavailable {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// isLate reports whether err means that etcd did not answer in time.
func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || err != nil && status.Code(err) == codes.DeadlineExceeded
}

// isUnavailable reports whether err means that etcd did not answer, or has nothing to say to us. A deadline is a sign of that, for every request
// has one of its own.
func isUnavailable(err error) bool {
	if err == nil {
		return false
	}
	if isLate(err) {
		return true
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.PermissionDenied, codes.Unauthenticated:
		return true
	}
	switch rpctypes.Error(err) {
	case rpctypes.ErrUserEmpty, rpctypes.ErrUserNotFound, rpctypes.ErrAuthFailed, rpctypes.ErrPermissionDenied, rpctypes.ErrInvalidAuthToken:
		return true
	}
	return false
}

// request bounds one request.
func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

// get reads one key; a nil value means that it does not exist.
func (s *Store) get(ctx context.Context, key string) (value []byte, revision int64, err error) {
	value, revision, _, err = s.getAt(ctx, key)
	return value, revision, err
}

// ask is one request to etcd for a key, or for what the options make of it.
func (s *Store) ask(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	bounded, cancel := s.request(ctx)
	defer cancel()
	r, err := s.client.Get(bounded, key, options...)
	return r, s.observe(ctx, err)
}

// getAt is get with the revision at which the key was read: a watch that begins behind it misses nothing.
func (s *Store) getAt(ctx context.Context, key string) (value []byte, revision, at int64, err error) {
	r, err := s.ask(ctx, key)
	if err != nil {
		return nil, 0, 0, err
	}
	if len(r.Kvs) == 0 {
		return nil, 0, r.Header.Revision, nil
	}
	return r.Kvs[0].Value, r.Kvs[0].ModRevision, r.Header.Revision, nil
}
