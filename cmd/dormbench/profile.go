package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/bench/system"
)

// profiler takes CPU profiles while a run is measured: of this process, and of
// the nodes that it started.
type profiler struct {
	file  string        // for this process; "" means not
	time  time.Duration // how long is measured
	dir   string        // for the nodes
	nodes []string      // addresses where they serve profiles; empty means not

	out  *os.File
	asks errgroup.Group
	err  error
}

// window is told of both ends of what is measured.
func (p *profiler) window(opens bool) {
	switch {
	case opens && p.file != "":
		if p.out, p.err = os.Create(p.file); p.err == nil {
			p.err = pprof.StartCPUProfile(p.out)
		}
	case p.out != nil:
		pprof.StopCPUProfile()
		p.err = errors.Join(p.err, p.out.Close())
	}
	if !opens {
		return
	}
	for i, node := range p.nodes {
		p.asks.Go(func() error { return ask(node, profileName(p.dir, i), p.time) })
	}
}

// wait waits for the nodes' profiles.
func (p *profiler) wait() error { return errors.Join(p.err, p.asks.Wait()) }

// ask has the node at an address profile itself for so long.
func ask(node, file string, d time.Duration) (err error) {
	response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", node, max(1, int(d.Seconds()))))
	if err != nil {
		return fmt.Errorf("profile a node: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("profile a node: %s", response.Status)
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("keep a node's profile: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, response.Body); err != nil {
		return fmt.Errorf("keep a node's profile: %w", err)
	}
	return nil
}

// reserve finds addresses at which nodes may serve profiles, which go to dir.
func (p *profiler) reserve(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a directory for profiles: %w", err)
	}
	p.dir = dir
	for range system.NodesDefault {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // all at once, so that they differ
		p.nodes = append(p.nodes, l.Addr().String())
	}
	return p.nodes, nil
}
