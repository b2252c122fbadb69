// Package system starts what is compared: Dormouse and the stores that people
// would pick instead, each as processes of its own on loopback, with durable
// writes. What it starts ends with Close, and at the latest with this process.
package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Options say where a system runs.
type Options struct {
	Dir   string   // for its data: made, and removed at Close
	Bin   string   // where dormoused and dormbench-etcd are
	Nodes int      // of those that replicate; 0 means 3
	Extra []string // further arguments of each dormoused; empty means none
}

// System is one that runs.
type System struct {
	Name      string
	Version   string
	Endpoints []string // that its driver is given
	HTTP      []string // base URLs of Dormouse's nodes; empty for others
	Nodes     []*Process
	dir       string
}

// AbsentError is a system that this machine does not have.
type AbsentError struct {
	System string
	Why    string
}

func (e *AbsentError) Error() string { return fmt.Sprintf("%s is not here: %s", e.System, e.Why) }

// The systems.
const (
	Dormouse       = "dormouse"        // three nodes, over gRPC
	DormouseHTTP   = "dormouse-http"   // the same over HTTP
	DormouseFollow = "dormouse-follow" // the same over gRPC, the client at a follower
	Etcd           = "etcd"            // three nodes
	Postgres       = "postgres"        // one server
	Redis          = "redis"           // one server
)

// starters start each system; Start has made the directory.
var starters = map[string]func(context.Context, *System, Options) error{
	Dormouse: startDormouse, DormouseHTTP: startDormouse, DormouseFollow: startDormouse,
	Etcd: startEtcd, Postgres: startPostgres, Redis: startRedis,
}

// Names are those that Start knows, in the order in which they are shown.
func Names() []string {
	return []string{Dormouse, DormouseHTTP, DormouseFollow, Etcd, Postgres, Redis}
}

// readyMax is how long a system may take until it serves.
const readyMax = time.Minute

// Start starts a system with empty data and returns once it serves. The error
// is an *AbsentError where the machine does not have it; nothing is left
// running then.
func Start(ctx context.Context, name string, o Options) (_ *System, err error) {
	start, ok := starters[name]
	if !ok {
		return nil, fmt.Errorf("there is no system %q", name)
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	// Others than us may have to pass: PostgreSQL does not run as root.
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a directory for %s: %w", name, err)
	}
	s := &System{Name: name, dir: o.Dir}
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	if err := start(ctx, s, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// PIDs are the processes of the nodes, one each; they may have descendants.
func (s *System) PIDs() []int {
	var pids []int
	for _, p := range s.Nodes {
		if p.Running() {
			pids = append(pids, p.PID())
		}
	}
	return pids
}

// Close ends the processes and removes the data.
func (s *System) Close() error {
	var errs []error
	for _, p := range s.Nodes {
		errs = append(errs, p.Kill())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// await tries until it works, or until ctx or one of the processes ends.
func (s *System) await(ctx context.Context, try func(context.Context) error) error {
	const every = 50 * time.Millisecond
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		for _, p := range s.Nodes {
			if !p.Running() {
				return fmt.Errorf("%s ended before it served: %s", s.Name, p.LastWords())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w (%w)", s.Name, err, context.Cause(ctx))
		case <-time.After(every):
		}
	}
}
