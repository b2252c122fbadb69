package web

import (
	"context"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/trace"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/internal/budget"
	"dormouse/internal/history"
)

// Options configure the API. The zero value of a field is its default.
type Options struct {
	Node      string        // the name that answers carry; "" means none
	ClusterID func() string // of the node's cluster, "" while it belongs to none; nil means that answers do not name a cluster
	Version   string        // of the program, for /openapi.json; "" means "dev"
	Applied   func() uint64 // the newest index that reads on this node see, for answers without their own index; nil leaves it out
	Ready     func() error  // returns why the node is not ready; nil means it always is
	Metrics   http.Handler  // serves /metrics; nil means there are none
	Timeout   time.Duration // of a call without its own timeout; 0 means 10 s
	Calls     int64         // concurrent calls, except watches and calls of operators; 0 means 8,192
	Watches   int64         // watches at once; 0 means 4,096
	Bytes     *budget.Pool  // of requests and answers in flight, shared with other servers; nil means 192 MiB
	Logger    hclog.Logger  // nil means no logs

	// Hosts are the names that this node is known by. Requests for other names are
	// forbidden; see hostcheck.Allowed. nil allows every name.
	Hosts []string
	// Origins are the origins whose pages may call this node from a browser, such as
	// https://app.example.com. nil means none.
	Origins []string
	// Compress compresses large answers for clients that accept it.
	Compress bool
	// Auth finds the principals of requests. If it is set, the service, the operator and Instances
	// must be guarded by package access. nil means that the node asks for no credentials.
	Auth        *access.Authenticator
	OpenMetrics bool // /metrics needs no principal

	// Audit records what this package refuses itself. What the service, the operator and Instances
	// refuse, they record themselves. nil means that nothing is recorded.
	Audit access.Auditor

	Instances agent.Instances // nil means none: calls on them are unavailable

	// History returns the calls of the last hour. nil means that the node keeps no history.
	History func() history.Snapshot

	// StateSum hashes all rows of the node. nil means that there is no such call.
	StateSum func(ctx context.Context) (document.StateSum, error)

	// Settings returns the settings in force. nil means that the node does not tell them.
	Settings func() []document.Setting
	// AuditLog returns the records of the node's audit log before a seq, newest first, and the before of
	// the next page, or 0. nil means that there is no log.
	AuditLog func(before uint64, limit int) (records []agent.JSON, next uint64, err error)

	// Log returns the end of the node's log. nil means that the node keeps none.
	Log func() []byte
	// SlowCalls returns the last slow calls, newest first. nil means that there are none.
	SlowCalls func() []document.SlowCall
	// Profile returns a profile of the process in the format of pprof: heap, goroutine, or cpu over
	// some seconds. nil means that there are none.
	Profile func(ctx context.Context, kind string, seconds uint64) ([]byte, error)

	// Console serves the pages at / and below /ui, to callers without a token: they hold no data. nil
	// means none.
	Console http.Handler
	// Peers returns the origins at which browsers reach the other nodes, such as https://10.0.0.2:7600.
	// Their pages may call this node: a console goes on with another node if its own stops. nil means
	// none.
	Peers func() []string

	// Observe is called for every answer with the context of its span, the operation's id ("" for
	// none), the status, and the duration. It must not block. nil means no calls.
	Observe func(ctx context.Context, operation string, status int, took time.Duration)

	Tracer trace.Tracer // makes a span of each request; nil means none
}

// Limits of one node for all clients together. Beyond them a call is refused as overloaded.
const (
	timeoutDefault  = 10 * time.Second
	timeoutMax      = 10 * time.Minute
	watchesDefault  = 4096
	callsDefault    = 8192
	operatorsMax    = 64        // calls on the cluster and backups at once: they have room whatever the other calls do
	bytesDefault    = 192 << 20 // of requests and answers in flight
	headersBytesMax = 64 << 10  // all headers of one request: an id of 512 bytes is 1.5 KiB when percent-encoded
	headersTimeout  = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	bodyTimeout     = 60 * time.Second // to send a whole request body
	bodyGrace       = 10 * time.Second // to begin it
	bodyRate        = 64 << 10         // bytes a second at which it must arrive after that
	writeTimeout    = 30 * time.Second // for the client to read a piece of an answer or of a stream
	retryAfterMS    = 1000
	keepWatchOpen   = 15 * time.Second // between the comments of an idle watch
)

// API is the state that the routes share.
type API struct {
	Service   agent.Service
	Operator  layout.Operator
	Options   Options
	mux       *http.ServeMux
	document  func() ([]byte, error) // /openapi.json, of all routes
	described []func(*description)   // add the routes to the document
	origins   *http.CrossOriginProtection
	allowed   map[string]bool // origins
	zstd      *zstdCoder

	calls     *budget.Pool // one per call
	watches   *budget.Pool // one per watch
	operators *budget.Pool // one per call on the cluster
	bytes     *budget.Pool // of bodies and answers in memory

	closing   chan struct{} // closed when the server shuts down: watches end, calls continue
	closeOnce sync.Once
}

// NewAPI returns an API without routes.
func NewAPI(service agent.Service, operator layout.Operator, o Options) *API {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Timeout == 0 {
		o.Timeout = timeoutDefault
	}
	if o.Calls == 0 {
		o.Calls = callsDefault
	}
	if o.Watches == 0 {
		o.Watches = watchesDefault
	}
	if o.Bytes == nil {
		o.Bytes = budget.New(bytesDefault)
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	f := &API{
		Service:  service,
		Operator: operator,
		Options:  o,
		mux:      http.NewServeMux(),
		closing:  make(chan struct{}),
		origins:  http.NewCrossOriginProtection(),
		allowed:  map[string]bool{},
		zstd:     newZstdCoder(),
		calls:    budget.New(o.Calls),
		watches:  budget.New(o.Watches),
		bytes:    o.Bytes,

		operators: budget.New(operatorsMax),
	}
	for _, origin := range o.Origins {
		f.allowed[origin] = true
	}
	return f
}

// Server returns an http.Server with the API's limits, for a handler from New. On shutdown watches
// end at once, and calls may finish. It has no read or write timeout, since net/http counts the
// duration of a call into both: bodies, answers and streams have their own deadlines.
func Server(handler http.Handler) *http.Server {
	server := &http.Server{
		Handler: handler,
		// OPTIONS * is not served, like any other unknown path.
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            headersTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               headersBytesMax,
		Protocols:                    &http.Protocols{},
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	if f, ok := handler.(interface {
		endWatches()
		errorLog() *log.Logger
	}); ok {
		server.RegisterOnShutdown(f.endWatches)
		server.ErrorLog = f.errorLog()
	}
	return server
}

// errorLog returns the logger of net/http's own errors, such as failed TLS handshakes.
func (f *API) errorLog() *log.Logger { return log.New(serverErrors{f.Options.Logger}, "", 0) }

// serverErrors logs each line under one message, so that the node's log can bound its repeats. The lines
// name addresses.
type serverErrors struct{ logger hclog.Logger }

// Write implements io.Writer.
func (e serverErrors) Write(line []byte) (int, error) {
	e.logger.Warn("the HTTP server had an error", "error", strings.TrimSpace(string(line)))
	return len(line), nil
}

// endWatches ends all watches, including later ones.
func (f *API) endWatches() { f.closeOnce.Do(func() { close(f.closing) }) }
