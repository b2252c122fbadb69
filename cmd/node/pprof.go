package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"

	"dormouse/internal/hostcheck"
)

// profiles serves net/http/pprof, to analyse a node's CPU and memory. It is off by default and only
// reachable from this machine: profiles are confidential, and cost CPU time.
type profiles struct {
	listener net.Listener
	server   *http.Server
}

// listenProfiles opens the listener; it returns nil if addr is "".
func listenProfiles(addr string) (*profiles, error) {
	if addr == "" {
		return nil, nil //nolint:nilnil // not asked for is an answer
	}
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, &usageError{fmt.Errorf("--pprof-addr is %q: use an address of loopback, such as 127.0.0.1:7609", addr)}
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for profiles: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index) // and the profiles that it lists
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	const headerTimeout = 10 * time.Second
	known := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hostcheck.Allowed(r.Host, nil) || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			http.Error(w, "use an address of loopback", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return &profiles{listener, &http.Server{Handler: known, ReadHeaderTimeout: headerTimeout}}, nil
}

// during serves profiles while run runs.
func (p *profiles) during(ctx context.Context, run func(context.Context) error) error {
	if p == nil {
		return run(ctx)
	}
	served := make(chan error, 1)
	go func() { served <- p.server.Serve(p.listener) }()
	err := run(ctx)
	closed := p.server.Close()
	if why := <-served; !errors.Is(why, http.ErrServerClosed) {
		closed = errors.Join(closed, why)
	}
	return errors.Join(err, closed)
}
