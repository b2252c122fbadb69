package rest

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/semaphore"

	"dormouse/agent"
)

// Options say how a node serves HTTP. The zero value of a field is its default.
type Options struct {
	Node      string        // the name that answers carry; "" means none
	ClusterID func() string // of the node's cluster, "" while it belongs to none; nil means that callers are not told
	Version   string        // of the program, for /openapi.json; "" means "dev"
	Applied   func() uint64 // the newest index that reads here see: that of answers without one of their own; nil leaves it out
	Ready     func() error  // says why the node is not ready; nil means it always is
	Metrics   http.Handler  // serves /metrics; nil means there are none
	Timeout   time.Duration // of a call that does not name one; 0 means 10 s
	Calls     int64         // calls in hand at once, watches apart; 0 means 8,192
	Watches   int64         // watches and backups at once; 0 means 4,096
	Logger    hclog.Logger  // nil means silence

	Instances agent.Instances // nil means none: calls on them are unavailable

	// Observe is told of every answer: the operation's id ("" for none), the
	// status, and how long it took. It must not block. nil means nobody asks.
	Observe func(operation string, status int, took time.Duration)
}

// Bounds of what one node works on at once, whoever asks. Past them a call is
// refused as overloaded.
const (
	timeoutDefault  = 10 * time.Second
	timeoutMax      = 10 * time.Minute
	watchesDefault  = 4096
	callsDefault    = 8192
	bodiesBytesMax  = 256 << 20 // request bodies in memory: about 20 of the largest
	headersBytesMax = 64 << 10  // all headers of one request: an id of 512 bytes is 1.5 KiB when percent-encoded
	headersTimeout  = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	bodyTimeout     = 60 * time.Second             // to send a whole request body
	writeTimeout    = 60*time.Second + bodyTimeout // to take an answer, or one piece of a stream; an answer may first wait for a body to drain
	retryAfterMS    = 1000
	keepWatchOpen   = 15 * time.Second // between the comments of a silent watch
)

// front is what the routes share.
type front struct {
	service  agent.Service
	operator agent.Operator
	options  Options
	api      huma.API
	mux      *http.ServeMux
	document func() ([]byte, error) // /openapi.json, of all routes
	taken    []*huma.Schema         // of the bodies that callers send
	origins  *http.CrossOriginProtection

	calls   *semaphore.Weighted // one a call in hand
	watches *semaphore.Weighted // one a watch
	bodies  *semaphore.Weighted // bytes of request bodies

	closing   chan struct{} // closed when the server shuts down: watches end, calls do not
	closeOnce sync.Once
}

// New makes the handler that serves service and operator.
func New(service agent.Service, operator agent.Operator, o Options) (http.Handler, error) {
	if service == nil || operator == nil {
		return nil, errors.New("rest: a service and an operator are needed")
	}
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
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	f := &front{
		service:  service,
		operator: operator,
		options:  o,
		mux:      http.NewServeMux(),
		closing:  make(chan struct{}),
		origins:  http.NewCrossOriginProtection(),
		calls:    semaphore.NewWeighted(o.Calls),
		watches:  semaphore.NewWeighted(o.Watches),
		bodies:   semaphore.NewWeighted(bodiesBytesMax),
	}
	f.api = humago.New(f.mux, documentConfig(o.Version))
	f.routeCommits()
	f.routeReads()
	f.routeValues()
	f.routeCheckpoints()
	f.routeThreads()
	f.routeEntries()
	f.routeAgents()
	f.routeClaims()
	f.routeSessions()
	f.routeReplay()
	f.routeReviews()
	f.routeMemory()
	f.routeTimers()
	f.routeConversations()
	f.routeFiles()
	f.routeManagers()
	f.routeInstances()
	f.routeInstanceWatches()
	f.routePods()
	f.routeScopes()
	f.routeChanges()
	f.routeCluster()
	f.routePlacement()
	f.routeHealth()
	f.routeDocument()
	return f, nil
}

// Server is an http.Server with the limits that a front needs, for a handler
// that New made. When it is shut down, watches end at once and calls at their
// own time. It has no read or write timeout of its own, since net/http counts
// the time that a call takes into both: bodies, answers and streams have
// their own deadlines.
func Server(handler http.Handler) *http.Server {
	server := &http.Server{
		Handler: handler,
		// OPTIONS * is as little served as any other path.
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            headersTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               headersBytesMax,
	}
	if f, ok := handler.(*front); ok {
		server.RegisterOnShutdown(f.endWatches)
	}
	return server
}

// endWatches ends all watches, and those that come later.
func (f *front) endWatches() { f.closeOnce.Do(func() { close(f.closing) }) }
