package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"dormouse/bench/system"
)

// downtime is how long a killed node stays down.
const downtime = 2 * time.Second

// control serves requests for faults, on loopback.
type control struct {
	system *system.System
	server *http.Server
	addr   string
	served chan error
	closed chan struct{} // closed by close

	mu       sync.Mutex // guards the system's nodes
	restarts sync.WaitGroup
}

// newControl starts to serve; call close to end it.
func newControl(s *system.System) (*control, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for control: %w", err)
	}
	c := &control{system: s, addr: l.Addr().String(), served: make(chan error, 1), closed: make(chan struct{})}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /leader", c.leader)
	routes.HandleFunc("POST /leader/kill", c.kill)
	c.server = &http.Server{Handler: routes, ReadHeaderTimeout: time.Second}
	go func() { c.served <- c.server.Serve(l) }()
	return c, nil
}

func (c *control) url() string { return "http://" + c.addr }

// close ends the server and waits for restarts.
func (c *control) close() error {
	close(c.closed)
	err := c.server.Close()
	if served := <-c.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	c.restarts.Wait()
	return err
}

func (c *control) leader(w http.ResponseWriter, r *http.Request) {
	n, err := c.system.Leader(r.Context())
	answer(w, n, err)
}

// kill kills the leader; the node starts again after the downtime.
func (c *control) kill(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.system.Leader(r.Context())
	if err == nil {
		err = c.system.Nodes[n].Kill()
	}
	if err == nil {
		c.restarts.Add(1)
		go c.restart(n)
	}
	answer(w, n, err)
}

// restart starts a killed node again, unless the cluster ends before.
func (c *control) restart(n int) {
	defer c.restarts.Done()
	select {
	case <-c.closed:
		return
	case <-time.After(downtime):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.system.Nodes[n].Restart()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withcluster: start a node again:", err)
		return
	}
	c.system.Nodes[n] = p
}

// answer writes the name of node n, or an error.
func answer(w http.ResponseWriter, n int, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintf(w, "n%d\n", n+1) // the caller may have gone
}
