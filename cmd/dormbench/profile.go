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

// profiler takes CPU profiles during the measured window: of this process, and of the
// nodes that it started.
type profiler struct {
	file  string        // for this process; "" means no profile
	time  time.Duration // length of the window
	dir   string        // for the nodes
	nodes []string      // addresses of the nodes' profiles; empty means no profiles

	out  *os.File
	asks errgroup.Group
	err  error
}

// window is called at both ends of the measured window.
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

// ask requests a profile of the given length from the node at an address and writes it
// to a file.
func ask(node, file string, d time.Duration) (err error) {
	response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", node, max(1, int(d.Seconds()))))
	if err != nil {
		return fmt.Errorf("profile a node: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("profile a node: %s", response.Status)
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write a node's profile: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, response.Body); err != nil {
		return fmt.Errorf("write a node's profile: %w", err)
	}
	return nil
}

// reserve returns unused addresses for the nodes' profiles. The profiles go to dir.
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
		defer func() { _ = l.Close() }() // close all at the end, so that the ports differ
		p.nodes = append(p.nodes, l.Addr().String())
	}
	return p.nodes, nil
}
