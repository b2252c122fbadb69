package redis

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/internal/budget"
)

// Options configure a server.
type Options struct {
	Scope   string                // of all keys; "" means agent.DefaultScope
	Auth    *access.Authenticator // nil means that no credentials are asked for
	Audit   access.Auditor        // records refused calls; nil means none
	Bytes   *budget.Pool          // of requests and replies in flight; nil means no bound
	Logger  hclog.Logger          // nil means no logging
	Version string                // of the node, for INFO and HELLO
	Node    string                // its name
}

// Server serves the values of one scope. Serve and Shutdown may be called concurrently.
type Server struct {
	service agent.Service
	o       Options
	scripts scripts
	cursors *cursors
	last    atomic.Int64 // id of the newest connection

	ctx    context.Context //nolint:containedctx // of all commands; ends when the server is closed
	cancel context.CancelFunc

	mu       sync.Mutex
	stopping bool                      // guarded by mu
	conns    map[*conn]struct{}        // guarded by mu
	accepted map[net.Listener]struct{} // guarded by mu; listeners of Serve
	running  sync.WaitGroup            // connections; Add is guarded by mu and !stopping
}

// New returns a server of service. The error is about the scope.
func New(service agent.Service, o Options) (*Server, error) {
	if o.Scope == "" {
		o.Scope = agent.DefaultScope
	}
	if err := agent.ValidID("redis.scope", o.Scope); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	s := &Server{
		service: service, o: o, scripts: scripts{hashes: map[string]bool{}}, cursors: newCursors(),
		conns: map[*conn]struct{}{}, accepted: map[net.Listener]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Serve accepts connections until the server is shut down, when it returns nil, or the listener fails.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return l.Close()
	}
	s.accepted[l] = struct{}{}
	s.mu.Unlock()
	wait := time.Duration(0)
	for {
		connection, err := l.Accept()
		var brief interface{ Temporary() bool }
		switch {
		case err == nil:
			wait = 0
			s.begin(connection)
		case s.ended():
			return nil
		case errors.As(err, &brief) && brief.Temporary():
			wait = min(max(2*wait, retryFirst), acceptPauseMax)
			s.o.Logger.Warn("a connection cannot be accepted", "error", err)
			select {
			case <-time.After(wait):
			case <-s.ctx.Done():
			}
		default:
			return err
		}
	}
}

func (s *Server) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

// begin serves a connection in a goroutine.
func (s *Server) begin(connection net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		_ = connection.Close() // the client sees its end
		return
	}
	c := newConn(s, connection)
	s.conns[c] = struct{}{}
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		c.serve(s.ctx)
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

// Shutdown accepts no more connections, waits for the commands that run, and closes all connections.
// If ctx ends first, it ends the commands and returns the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	for l := range s.accepted {
		_ = l.Close() // Serve returns
	}
	for c := range s.conns {
		c.end()
	}
	s.mu.Unlock()
	defer s.cancel()
	stopped := make(chan struct{})
	go func() { s.running.Wait(); close(stopped) }()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close() // its goroutine ends
	}
	s.mu.Unlock()
	return ctx.Err()
}

// connections returns the number of open connections.
func (s *Server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
