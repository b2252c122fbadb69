package testbed

import (
	"fmt"
	"path/filepath"
)

// DiskKind is what the nodes keep their data on. Faulty|Powered can do both.
type DiskKind uint8

// The kinds.
const (
	Plain   DiskKind = 0 // a directory: nothing fails
	Faulty  DiskKind = 1 // a file system that fails, fills up and hangs on demand
	Powered DiskKind = 2 // one whose power can be cut
)

// Capability is something that a bed may be able to do to its hosts.
type Capability string

// The capabilities.
const (
	CanPartition Capability = "partition" // cut, slow and garble the network
	CanDisk      Capability = "disk"      // make disks fail, fill up and hang
	CanPower     Capability = "power"     // cut a disk's power
	CanClock     Capability = "clock"     // shift a node's wall clock
)

// nodesMax is how many nodes a bed begins with at most.
const nodesMax = 7

// Options say what a bed is to be.
type Options struct {
	Dir    string            // all files of the run live below it; made if absent
	Nodes  int               // that form the cluster, 1 to 7
	Binary string            // dormoused; "" means built from this module, into Dir
	Env    map[string]string // settings of all nodes, by the names of their environment variables
	Net    bool              // a network that can fail is wanted
	Disk   DiskKind          // what the data directories are on
	Clock  bool              // clocks that can be shifted are wanted

	Programs [][]string // commands of programs that take part as hosts; each is told --name, --listen, --http and --join

	Logf   func(format string, args ...any) // progress, a line each; nil means silent
	OnExit func(host, detail string)        // a node's process ended, by our doing or its own; must not block
}

// validate checks what was asked for and fills in the defaults.
func (o *Options) validate() error {
	switch {
	case o.Dir == "":
		return fmt.Errorf("testbed: name a directory for the files of the run")
	case o.Nodes < 1 || o.Nodes > nodesMax:
		return fmt.Errorf("testbed: %d nodes: use 1 to %d", o.Nodes, nodesMax)
	case o.Disk&^(Faulty|Powered) != 0:
		return fmt.Errorf("testbed: there is no disk of kind %d: use Plain, Faulty, Powered, or the last two at once", o.Disk)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("testbed: %w", err)
	}
	o.Dir = dir
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.OnExit == nil {
		o.OnExit = func(string, string) {}
	}
	return nil
}
