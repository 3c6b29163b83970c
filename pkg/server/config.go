package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"skarv/pkg/adminaccess"
	"skarv/pkg/certfile"
	"skarv/pkg/control"
)

// Config is everything `skarv serve` can be told; DefaultConfig has the values used where the file says nothing.
// The doc tags are the source of docs/configuration.md.
type Config struct {
	Roles      []Role    `yaml:"roles" doc:"What this process does: proxy, controller, or both. All proxies serve clients; of all controllers one is elected to act."`
	MySQL      MySQL     `yaml:"mysql" doc:"Where MySQL clients connect."`
	HTTP       HTTP      `yaml:"http" doc:"Health, metrics and the console."`
	Admin      Admin     `yaml:"admin" doc:"The gRPC service skarvctl speaks to."`
	Etcd       Etcd      `yaml:"etcd" doc:"Where the cluster's state is."`
	Backend    Backend   `yaml:"backend" doc:"Connections to the database servers."`
	Workspace  Workspace `yaml:"workspace" doc:"Limits of queries for which rows are copied to one node group."`
	Move       Move      `yaml:"move" doc:"How partitions are moved while this process leads."`
	Failover   Failover  `yaml:"failover" doc:"Automatic failover of node groups that have it on (skarvctl nodegroup failover), while this process leads."`
	PlanCache  int       `yaml:"plan_cache" doc:"Statement shapes whose plans are kept."`
	Digests    int       `yaml:"statement_digests" doc:"Statement shapes whose cost is added up, for skarvctl statements and skarv.statements; those not seen for longest make room. About 2 KB each. 0: none."`
	SlowQuery  Duration  `yaml:"slow_query" doc:"Statements that take longer are logged by fingerprint; 0 logs none."`
	DrainDelay Duration  `yaml:"drain_delay" doc:"How long the process goes on serving after it was told to stop, while /readyz says 503: until load balancers have noticed and send nobody any more. Then statements that run have 10 seconds."`
	HugePages  bool      `yaml:"huge_pages" doc:"Keep the program's code on huge pages where the system has them (Linux; some 20 MB of memory): statements take a little processor time less. perf and uprobes then find no names of functions, Go's own profiles do."`
	Log        LogConfig `yaml:"log" doc:"The process's own log, on standard error."`
}

// Role is a part a process plays.
type Role string

// The roles.
const (
	RoleProxy      Role = "proxy"
	RoleController Role = "controller"
)

// maxLoops is more than there are processors.
const maxLoops = 1024

// maxPackSize is so little that a server can write the answers to all that one write has brought it before any is read.
const maxPackSize = 32

// maxDigests is so little that what they say fits into one answer of the admin API.
const maxDigests = 2_000

// MySQL configures the client side.
type MySQL struct {
	Addr             string   `yaml:"addr" doc:"HOST:PORT to listen on."`
	UnixSocket       string   `yaml:"unix_socket" doc:"Path of a Unix socket to listen on as well; empty: none."`
	TLSCert          string   `yaml:"tls_cert" doc:"PEM certificate chain; empty: one is made at start and signed by itself."`
	TLSKey           string   `yaml:"tls_key" doc:"PEM private key of tls_cert."`
	RequireTLS       bool     `yaml:"require_tls" doc:"Refuse clients that do not use TLS."`
	ProxyNetworks    []string `yaml:"proxy_protocol_networks" doc:"Where load balancers are, as 10.1.2.3 or 10.0.0.0/8, that may tell the addresses of their clients by the PROXY protocol, version 1 or 2 (HAProxy: send-proxy-v2). Whoever else sends such a header is refused with error 1130; who sends none is served as ever. List no network that clients are in: they could say to be anywhere."`
	MaxConnections   int      `yaml:"max_connections" doc:"Clients served at once; more are refused with error 1040."`
	MaxAllowedPacket int      `yaml:"max_allowed_packet" doc:"Bytes of the largest statement or row a client may send."`
	HandshakeTimeout Duration `yaml:"handshake_timeout" doc:"Time a client has to log in."`
	IdleTimeout      Duration `yaml:"idle_timeout" doc:"Clients silent for longer are disconnected, unless they SET wait_timeout, whose value this is for a session that begins. That of the servers says nothing."`
	Loops            int      `yaml:"loops" doc:"Threads that read and write for many clients at a time by io_uring (Linux 5.19), which takes less processor time. -1: one for two processors, or none where the system does not let the process use io_uring. 0: none, the Go runtime does it."`
}

// HTTP configures health, metrics and console.
type HTTP struct {
	Addr     string `yaml:"addr" doc:"HOST:PORT to listen on; empty: no HTTP."`
	Profiles bool   `yaml:"profiles" doc:"Let whoever reaches addr take profiles and traces of the process, at /debug/pprof/. They cost it processor time and tell how it works; there is no login. false where others than its operators reach it."`
}

// Admin configures the gRPC service.
type Admin struct {
	Addr      string `yaml:"addr" doc:"HOST:PORT to listen on."`
	Advertise string `yaml:"advertise" doc:"HOST:PORT other processes reach it by; empty: the address listened on."`
	TLSCert   string `yaml:"tls_cert" doc:"PEM certificate chain, shown to callers and to the other processes this one calls; set it to use TLS. An address that other machines reach needs it."`
	TLSKey    string `yaml:"tls_key" doc:"PEM private key of tls_cert."`
	TLSCA     string `yaml:"tls_ca" doc:"PEM authority of callers' certificates, which must show one unless they have the token, and of the other processes' (empty: the system's)."`
	TokenFile string `yaml:"token_file" doc:"File with the token that callers without a certificate must have: one line, 16 characters or more, the same for all processes. An address that other machines reach needs this or tls_ca."`
}

// Etcd configures the connection to etcd.
type Etcd struct {
	Endpoints    []string `yaml:"endpoints" doc:"URLs of the etcd members."`
	Prefix       string   `yaml:"prefix" doc:"Key prefix of this cluster."`
	Username     string   `yaml:"username" doc:"etcd user; empty: no authentication."`
	PasswordFile string   `yaml:"password_file" doc:"File with the etcd user's password."`
	TLSCA        string   `yaml:"tls_ca" doc:"PEM authority of etcd's certificate; set it, or tls_cert, to use TLS."`
	TLSCert      string   `yaml:"tls_cert" doc:"PEM client certificate."`
	TLSKey       string   `yaml:"tls_key" doc:"PEM key of tls_cert."`
	DialTimeout  Duration `yaml:"dial_timeout" doc:"Time for one connection attempt."`
}

// Backend configures connections to database servers.
type Backend struct {
	MaxConnections int      `yaml:"max_connections" doc:"Connections of this process to one node group."`
	DialTimeout    Duration `yaml:"dial_timeout" doc:"Time for one login."`
	MinConnections int      `yaml:"min_connections" doc:"As many connections to a node group new work may use however slow the group is. Between this and max_connections the limit follows what the group can do; see overload in operations.md."`
	FixedLimit     bool     `yaml:"fixed_limit" doc:"Leave the limit at max_connections, however slow a node group is."`
	MaxQueue       int      `yaml:"max_queue" doc:"Statements that may wait for a connection to one node group; more are refused at once with error 1203."`
	AcquireTimeout Duration `yaml:"acquire_timeout" doc:"The longest a statement waits for a connection before error 1203; where it would be longer, it is refused at once."`
	ReplicaLag     Duration `yaml:"replica_lag" doc:"How far a replica may be behind that sessions with skarv_read_from = replica read from; of those further behind the primary takes the place."`
	PackSize       int      `yaml:"pack_size" doc:"How many statements of different clients may go to a server in one write: reads of one row by its primary key, of one shape, that come at the same time. It takes proxy and server less processor time. 1: none do. Only with mysql.loops."`
	FailAfter      Duration `yaml:"fail_after" doc:"A server silent for so long is down: statements that need it end with error 1430."`
	IdleTimeout    Duration `yaml:"idle_timeout" doc:"Connections unused for so long are closed; others are reset as often, and have the servers' present settings then."`
	TLSCA          string   `yaml:"tls_ca" doc:"PEM authority of the servers' certificates, for node groups added with --tls verify."`
}

// Workspace bounds what is copied for queries that only one server with all rows can answer.
type Workspace struct {
	MaxRows    int64 `yaml:"max_rows" doc:"Rows copied for one statement; a statement that needs more ends with error 1235."`
	MaxBytes   int64 `yaml:"max_bytes" doc:"Bytes of rows copied for one statement."`
	TotalBytes int64 `yaml:"total_bytes" doc:"Bytes of rows copied for all statements of this process at once."`
}

// Move configures how partitions are moved.
type Move struct {
	ReplicaLag Duration `yaml:"replica_lag" doc:"Rows are moved slowly while a replica of a node group that gives or takes them is further behind."`
}

// Failover configures when a replica takes the place of a primary that is lost.
type Failover struct {
	After Duration `yaml:"after" doc:"A primary that answers neither the controller nor any other process for so long is lost, at least 5s. backend.fail_after must be less than 15s then."`
}

// LogConfig configures the process's log.
type LogConfig struct {
	Level  string `yaml:"level" doc:"debug, info, warn or error."`
	Format string `yaml:"format" doc:"text or json."`
}

// Duration is a time.Duration written as in Go: 5s, 250ms, 1m30s.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		// A TypeError is what lets the decoder go on and find the other faults.
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %q is not a duration such as 5s or 250ms", n.Line, n.Value)}}
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML implements yaml.Marshaler.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// DefaultConfig returns the settings a process has without a file.
func DefaultConfig() Config {
	return Config{
		Roles: []Role{RoleProxy, RoleController},
		MySQL: MySQL{
			Addr: "127.0.0.1:3306", MaxConnections: 10_000, MaxAllowedPacket: 64 << 20,
			HandshakeTimeout: Duration(10 * time.Second), IdleTimeout: Duration(8 * time.Hour), Loops: autoLoops,
		},
		HTTP:  HTTP{Addr: "127.0.0.1:8306", Profiles: true},
		Admin: Admin{Addr: "127.0.0.1:9306"},
		Etcd: Etcd{
			Endpoints: []string{"http://127.0.0.1:2379"}, Prefix: "/skarv/v1/", DialTimeout: Duration(5 * time.Second),
		},
		Backend: Backend{
			MaxConnections: 256, MinConnections: 8, MaxQueue: 10_000, DialTimeout: Duration(3 * time.Second), AcquireTimeout: Duration(time.Second),
			ReplicaLag: Duration(time.Second), PackSize: 8, FailAfter: Duration(5 * time.Second), IdleTimeout: Duration(5 * time.Minute),
		},
		Workspace: Workspace{MaxRows: 5_000_000, MaxBytes: 1 << 30, TotalBytes: 4 << 30},
		Move:      Move{ReplicaLag: Duration(5 * time.Second)},
		Failover:  Failover{After: Duration(control.FailoverAfter)},
		PlanCache: 10_000, Digests: 2_000,
		SlowQuery: Duration(time.Second),
		HugePages: true,
		Log:       LogConfig{Level: "info", Format: "text"},
	}
}

// ReadConfig reads the YAML file at path over DefaultConfig. Keys it does not know are errors. The returned error
// joins every fault found, one a line.
func ReadConfig(path string) (Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	return ParseConfig(path, b)
}

// ParseConfig is ReadConfig of a text; name stands in the errors.
func ParseConfig(name string, text []byte) (Config, error) {
	cfg := DefaultConfig()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var faults []error
	if err := dec.Decode(&cfg); err != nil && !errors.Is(err, io.EOF) {
		if te, ok := errors.AsType[*yaml.TypeError](err); ok {
			for _, e := range te.Errors {
				faults = append(faults, fmt.Errorf("%s: %s", name, plainFault(e)))
			}
		} else {
			return cfg, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, e := range cfg.faults() {
		faults = append(faults, fmt.Errorf("%s: %w", name, e))
	}
	return cfg, errors.Join(faults...)
}

// plainFault takes the Go type out of yaml's message.
func plainFault(e string) string {
	if i := strings.Index(e, " not found in type"); i > 0 {
		return strings.Replace(e[:i], "field ", "unknown key ", 1)
	}
	i, into := strings.Index(e, "cannot unmarshal !!"), strings.LastIndex(e, " into ")
	if i < 0 || into < i {
		return e
	}
	tag, value, _ := strings.Cut(e[i+len("cannot unmarshal !!"):into], " ")
	is := map[string]string{"map": "settings", "seq": "a list", "str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}[tag]
	if value != "" {
		is = value
	}
	wants := "settings"
	switch t := strings.TrimPrefix(e[into:], " into "); {
	case t == "string":
		wants = "a text"
	case t == "bool":
		wants = "true or false"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"), strings.HasPrefix(t, "float"):
		wants = "a number"
	case strings.HasPrefix(t, "[]"):
		wants = "a list"
	case strings.HasSuffix(t, "Duration"):
		wants = "a time such as 30s"
	}
	return e[:i] + is + " stands where " + wants + " must be"
}

// faults returns everything wrong with c's values.
func (c *Config) faults() []error {
	var f []error
	add := func(format string, args ...any) { f = append(f, fmt.Errorf(format, args...)) }
	if len(c.Roles) == 0 {
		add("roles: at least one of proxy, controller")
	}
	for _, r := range c.Roles {
		if r != RoleProxy && r != RoleController {
			add("roles: %q is neither proxy nor controller", r)
		}
	}
	addr := func(key, v string, optional bool) {
		if v == "" && optional {
			return
		}
		if _, _, err := net.SplitHostPort(v); err != nil {
			add("%s: %q is not HOST:PORT", key, v)
		}
	}
	addr("mysql.addr", c.MySQL.Addr, c.MySQL.UnixSocket != "")
	addr("http.addr", c.HTTP.Addr, true)
	addr("admin.addr", c.Admin.Addr, false)
	addr("admin.advertise", c.Admin.Advertise, true)
	positive := func(key string, v int64) {
		if v <= 0 {
			add("%s: must be greater than 0", key)
		}
	}
	positive("mysql.max_connections", int64(c.MySQL.MaxConnections))
	positive("mysql.max_allowed_packet", int64(c.MySQL.MaxAllowedPacket))
	positive("mysql.handshake_timeout", int64(c.MySQL.HandshakeTimeout))
	positive("mysql.idle_timeout", int64(c.MySQL.IdleTimeout))
	if c.MySQL.Loops < autoLoops || c.MySQL.Loops > maxLoops {
		add("mysql.loops: must be between %d and %d", autoLoops, maxLoops)
	}
	positive("etcd.dial_timeout", int64(c.Etcd.DialTimeout))
	positive("backend.max_connections", int64(c.Backend.MaxConnections))
	positive("backend.min_connections", int64(c.Backend.MinConnections))
	if c.Backend.PackSize < 1 || c.Backend.PackSize > maxPackSize {
		add("backend.pack_size: must be between 1 and %d", maxPackSize)
	}
	if c.Backend.MinConnections > c.Backend.MaxConnections {
		add("backend.min_connections: must not be greater than backend.max_connections")
	}
	positive("backend.max_queue", int64(c.Backend.MaxQueue))
	positive("backend.dial_timeout", int64(c.Backend.DialTimeout))
	positive("backend.acquire_timeout", int64(c.Backend.AcquireTimeout))
	positive("backend.replica_lag", int64(c.Backend.ReplicaLag))
	positive("backend.fail_after", int64(c.Backend.FailAfter))
	positive("backend.idle_timeout", int64(c.Backend.IdleTimeout))
	positive("workspace.max_rows", c.Workspace.MaxRows)
	positive("workspace.max_bytes", c.Workspace.MaxBytes)
	positive("workspace.total_bytes", c.Workspace.TotalBytes)
	positive("move.replica_lag", int64(c.Move.ReplicaLag))
	if least := 5 * time.Second; c.Failover.After < Duration(least) {
		add("failover.after: must be at least %v", least)
	}
	positive("plan_cache", int64(c.PlanCache))
	if c.Digests < 0 || c.Digests > maxDigests {
		add("statement_digests: must be between 0 and %d", maxDigests)
	}
	if c.SlowQuery < 0 {
		add("slow_query: must not be negative")
	}
	if c.DrainDelay < 0 {
		add("drain_delay: must not be negative")
	}
	if len(c.Etcd.Endpoints) == 0 {
		add("etcd.endpoints: at least one URL")
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		add("log.level: %q is none of debug, info, warn, error", c.Log.Level)
	}
	if c.Log.Format != "text" && c.Log.Format != "json" {
		add("log.format: %q is neither text nor json", c.Log.Format)
	}
	pair := func(a, av, b, bv string) {
		if (av == "") != (bv == "") {
			add("%s and %s go together", a, b)
		}
	}
	pair("mysql.tls_cert", c.MySQL.TLSCert, "mysql.tls_key", c.MySQL.TLSKey)
	pair("etcd.tls_cert", c.Etcd.TLSCert, "etcd.tls_key", c.Etcd.TLSKey)
	pair("etcd.username", c.Etcd.Username, "etcd.password_file", c.Etcd.PasswordFile)
	if access, err := adminaccess.Load(c.Admin.files(), nil); err != nil {
		add("admin: %w", err)
	} else if err := access.Serves(c.Admin.Addr); err != nil && c.Admin.Addr != "" {
		add("admin: %w (tls_cert, tls_key, tls_ca, token_file)", err)
	}
	if _, err := c.MySQL.proxyNetworks(); err != nil {
		add("mysql.proxy_protocol_networks: %w", err)
	}
	if _, err := c.MySQL.tlsConfig(nil); err != nil {
		add("mysql: %w", err)
	}
	if _, err := c.Etcd.tlsConfig(nil); err != nil {
		add("etcd: %w", err)
	}
	if _, err := c.Etcd.password(); err != nil {
		add("etcd.password_file: %w", err)
	}
	if _, err := c.Backend.tlsConfig(); err != nil {
		add("backend: %w", err)
	}
	return f
}

func (a *Admin) files() adminaccess.Files {
	return adminaccess.Files{Cert: a.TLSCert, Key: a.TLSKey, CA: a.TLSCA, Token: a.TokenFile}
}

// proxyNetworks are those of ProxyNetworks; a single address is a network of its own.
func (m *MySQL) proxyNetworks() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, s := range m.ProxyNetworks {
		p, err := netip.ParsePrefix(s)
		if a, addrErr := netip.ParseAddr(s); addrErr == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no network such as 10.0.0.0/8, and no address", s)
		}
		networks = append(networks, p)
	}
	return networks, nil
}

// tlsConfig returns nil when no certificate is configured: the listener then makes its own.
func (m *MySQL) tlsConfig(log *slog.Logger) (*tls.Config, error) {
	if m.TLSCert == "" || m.TLSKey == "" {
		return nil, nil
	}
	pair, err := certfile.Load(m.TLSCert, m.TLSKey, log)
	if err != nil {
		return nil, fmt.Errorf("tls_cert: %w", err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	pair.Serve(t)
	return t, nil
}

func (e *Etcd) tlsConfig(log *slog.Logger) (*tls.Config, error) {
	if e.TLSCA == "" && e.TLSCert == "" {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.TLSCA != "" {
		pool, err := authority(e.TLSCA)
		if err != nil {
			return nil, err
		}
		t.RootCAs = pool
	}
	if e.TLSCert != "" && e.TLSKey != "" {
		pair, err := certfile.Load(e.TLSCert, e.TLSKey, log)
		if err != nil {
			return nil, fmt.Errorf("tls_cert: %w", err)
		}
		pair.Call(t)
	}
	return t, nil
}

func (e *Etcd) password() (string, error) {
	if e.PasswordFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(e.PasswordFile)
	return strings.TrimRight(string(b), "\r\n"), err
}

func (b *Backend) tlsConfig() (*tls.Config, error) {
	if b.TLSCA == "" {
		return nil, nil
	}
	pool, err := authority(b.TLSCA)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func authority(path string) (*x509.CertPool, error) {
	pool, err := certfile.Authorities(path)
	if err != nil {
		return nil, fmt.Errorf("tls_ca: %w", err)
	}
	return pool, nil
}
