// Package system starts what is compared: Dormouse and the stores that people
// would pick instead, each as processes of its own on loopback, with durable
// writes. What it starts ends with Close, and at the latest with this process.
package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// NodesDefault is how many nodes a system that replicates has.
const NodesDefault = 3

// Options say where a system runs.
type Options struct {
	Dir     string   // for its data: made, and removed at Close
	Bin     string   // where dormoused and dormbench-etcd are
	Nodes   int      // of those that replicate; 0 means NodesDefault
	Profile []string // addresses where each dormoused serves its profiles; empty means that none does
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
	Dormouse       = "dormouse"
	DormouseHTTP   = "dormouse-http"
	DormouseFollow = "dormouse-follow"
	Etcd           = "etcd"
	Postgres       = "postgres"
	Redis          = "redis"
)

// kinds are all systems, in the order in which they are shown. start is called
// once the directory stands.
var kinds = []struct {
	name, what string
	start      func(context.Context, *System, Options) error
}{
	{Dormouse, "three nodes, through the Go client", startDormouse},
	{DormouseHTTP, "three nodes, over HTTP", startDormouse},
	{DormouseFollow, "three nodes, through the Go client at a follower", startDormouse},
	{Etcd, "three nodes of etcd", startEtcd},
	{Postgres, "one PostgreSQL server, synchronous_commit on", startPostgres},
	{Redis, "one Redis server, appendfsync always", startRedis},
}

// Names are those that Start knows.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// What describes a system; "" if there is none of that name.
func What(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.what
		}
	}
	return ""
}

// readyMax is how long a system may take until it serves.
const readyMax = time.Minute

// Start starts a system with empty data and returns once it serves. The error
// is an *AbsentError where the machine does not have it; nothing is left
// running then.
func Start(ctx context.Context, name string, o Options) (*System, error) {
	known := slices.Index(Names(), name)
	if known < 0 {
		return nil, fmt.Errorf("there is no system %q", name)
	}
	if o.Nodes == 0 {
		o.Nodes = NodesDefault
	}
	var err error
	if o.Bin, err = filepath.Abs(o.Bin); err == nil { // processes run elsewhere
		o.Dir, err = filepath.Abs(o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("find where %s is to run: %w", name, err)
	}
	// Others than us may have to pass: PostgreSQL does not run as root.
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a directory for %s: %w", name, err)
	}
	s := &System{Name: name, dir: o.Dir}
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	if err := kinds[known].start(ctx, s, o); err != nil {
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

// Close ends the processes, waits for them and removes the data.
func (s *System) Close() error {
	var errs []error
	for _, p := range s.Nodes {
		errs = append(errs, p.end())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// Await tries until it works, or until ctx or one of the processes ends.
func (s *System) Await(ctx context.Context, try func(context.Context) error) error {
	const every = 50 * time.Millisecond
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		for _, p := range s.Nodes {
			if !p.Running() {
				return fmt.Errorf("a node of %s has ended: %s", s.Name, p.LastWords())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w (%w)", s.Name, err, context.Cause(ctx))
		case <-time.After(every):
		}
	}
}
