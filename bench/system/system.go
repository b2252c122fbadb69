// Package system starts the systems to compare: Dormouse and the usual alternatives.
// Each runs as separate processes on loopback, with durable writes. Close ends these
// processes; they also end when this process ends.
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

// NodesDefault is the number of nodes of a replicated system.
const NodesDefault = 3

// Options are the options of a system.
type Options struct {
	Dir     string   // directory of its data: created, and removed by Close
	Bin     string   // directory of dormoused and dormbench-etcd
	Nodes   int      // number of nodes of a replicated system; 0 means NodesDefault
	Profile []string // addresses for the profiles of each dormoused; empty means no profiles
	Memory  string   // storage.memory of each dormoused, such as 512MiB; "" means the memory of the machine
	Redis   bool     // whether the nodes of Dormouse serve the protocol of Redis too
	HTTPS   bool     // whether the nodes of DormouseSecured serve HTTP over TLS too
}

// System is a running system.
type System struct {
	Name      string
	Version   string
	Endpoints []string // addresses for its driver
	HTTP      []string // base URLs of Dormouse's nodes; empty for other systems
	GRPC      []string // gRPC addresses of Dormouse's nodes; empty for other systems
	Redis     []string // addresses of Dormouse's nodes for clients of Redis; empty if there are none
	CAFile    string   // verifies the nodes; "" if they serve no TLS
	TokenFile string   // holds a token that may do everything; "" if the nodes ask for none
	Nodes     []*Process
	dir       string
}

// AbsentError is returned for a system that is not installed on this machine.
type AbsentError struct {
	System string
	Why    string
}

func (e *AbsentError) Error() string { return fmt.Sprintf("%s is not available: %s", e.System, e.Why) }

// The systems.
const (
	Dormouse        = "dormouse"
	DormouseHTTP    = "dormouse-http"
	DormouseHTTP2   = "dormouse-http2"
	DormouseFollow  = "dormouse-follow"
	DormouseSpread  = "dormouse-spread"
	DormouseSecured = "dormouse-secured"
	Etcd            = "etcd"
	EtcdHTTP        = "etcd-http"
	EtcdLeader      = "etcd-leader"
	Postgres        = "postgres"
	Redis           = "redis"
)

// kinds lists all systems in the order of the list. start is called after the
// directory has been created.
var kinds = []struct {
	name, what string
	start      func(context.Context, *System, Options) error
}{
	{Dormouse, "three nodes, through the Go client at the leader", startDormouse},
	{DormouseHTTP, "three nodes, over HTTP/1.1", startDormouse},
	{DormouseHTTP2, "three nodes, over HTTP/2", startDormouse},
	{DormouseFollow, "three nodes, through the Go client at a follower", startDormouse},
	{DormouseSpread, "three nodes, through Go clients that each keep to another node", startDormouse},
	{DormouseSecured, "three nodes with TLS and tokens, through the Go client", startDormouse},
	{Etcd, "three nodes of etcd, through clients that call all of them in turn", startEtcd},
	{EtcdLeader, "three nodes of etcd, through clients at the leader", startEtcd},
	{EtcdHTTP, "three nodes of etcd, through its JSON gateway, over HTTP/1.1", startEtcd},
	{Postgres, "one PostgreSQL server, synchronous_commit on", startPostgres},
	{Redis, "one Redis server, appendfsync always", startRedis},
}

// Names returns the names of all systems.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// What returns the description of a system, or "" if its name is unknown.
func What(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.what
		}
	}
	return ""
}

// readyMax bounds the time until a system serves.
const readyMax = time.Minute

// Start starts a system with empty data and returns once it serves. It returns an
// *AbsentError if the system is not installed. After an error nothing is left running.
func Start(ctx context.Context, name string, o Options) (*System, error) {
	known := slices.Index(Names(), name)
	if known < 0 {
		return nil, fmt.Errorf("unknown system %q: use one of Names", name)
	}
	if o.Nodes == 0 {
		o.Nodes = NodesDefault
	}
	var err error
	if o.Bin, err = filepath.Abs(o.Bin); err == nil { // processes run in another directory
		o.Dir, err = filepath.Abs(o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("find the directory of %s: %w", name, err)
	}
	// Other users need access, because PostgreSQL does not run as root.
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

// PIDs returns the process ids of the nodes, one each; they may have child processes.
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

// Await repeats try until it succeeds, or until ctx or one of the processes ends.
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
