package testbed

import (
	"fmt"
	"os"
	"path/filepath"
)

// DiskKind is the kind of storage of the nodes. Faulty|Powered combines both.
type DiskKind uint8

// The kinds.
const (
	Plain   DiskKind = 0 // a directory: nothing fails
	Faulty  DiskKind = 1 // a file system that fails, fills up and hangs on demand
	Powered DiskKind = 2 // a file system whose power can be cut
)

// Capability is a kind of fault that a testbed may be able to inject.
type Capability string

// The capabilities.
const (
	CanPartition Capability = "partition" // cut, slow and garble the network
	CanDisk      Capability = "disk"      // make disks fail, fill up and hang
	CanPower     Capability = "power"     // cut a disk's power
	CanClock     Capability = "clock"     // shift a node's wall clock
	CanMix       Capability = "mix"       // run nodes of the previous build

	CanCommand   Capability = "dormctl"    // run dormctl from the clients' host
	CanFailpoint Capability = "failpoints" // end or delay the process at named points
	CanBackup    Capability = "backups"    // back up to a directory that all nodes share
	CanLimit     Capability = "limits"     // take a process's descriptors and memory away
	CanConfine   Capability = "cgroups"    // bound a process's memory by a control group
)

// nodesMax bounds the number of nodes that a testbed starts with.
const nodesMax = 7

// Options are the options of a testbed.
type Options struct {
	Dir    string // directory of all files of the run; created if missing
	Nodes  int    // number of nodes that found the cluster, 1 to 7
	Binary string // path of dormoused; "" builds it from this module
	Bin    string // directory for programs that are built, which later testbeds may use too; "" means one in Dir
	// Previous is the path of an older dormoused, with which every other node starts, n1
	// first; "" means that all run Binary.
	Previous string
	Env      map[string]string // settings of all nodes, as environment variables
	// EnvOf returns settings of one host's node, which replace those of Env; nil means none.
	EnvOf func(host string) map[string]string
	Net   bool     // use a network that can fail, if possible
	Disk  DiskKind // kind of the disks of the data directories
	Clock bool     // use clocks that can be shifted, if possible

	Commands   bool // have dormctl: beside Binary, or built
	Failpoints bool // build with failpoints; a given Binary must have them
	Backups    bool // the nodes back up to a directory of the testbed
	Confine    bool // bound the memory of processes by control groups, if possible

	RedisScope string // the scope that the nodes serve over the protocol of Redis; "" means that they do not

	Programs [][]string // commands of host programs; each gets --name, --listen, --http and --join

	Logf   func(format string, args ...any) // progress, a line each; nil discards it
	OnExit func(host, detail string)        // called when a process ended, for whatever reason; must not block
}

// validate checks the options and fills in the defaults.
func (o *Options) validate() error {
	switch {
	case o.Dir == "":
		return fmt.Errorf("testbed: no directory is given for the files of the run")
	case o.Nodes < 1 || o.Nodes > nodesMax:
		return fmt.Errorf("testbed: %d nodes: use 1 to %d", o.Nodes, nodesMax)
	case o.Disk&^(Faulty|Powered) != 0:
		return fmt.Errorf("testbed: unknown kind of disk %d: use Plain, Faulty, Powered, or Faulty|Powered", o.Disk)
	}
	if o.Previous != "" {
		path, err := filepath.Abs(o.Previous)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return fmt.Errorf("testbed: no previous dormoused to run: %w", err)
		}
		o.Previous = path
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("testbed: %w", err)
	}
	o.Dir = dir
	if o.Bin == "" {
		o.Bin = filepath.Join(o.Dir, "bin")
	}
	if o.Bin, err = filepath.Abs(o.Bin); err != nil {
		return fmt.Errorf("testbed: %w", err)
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.OnExit == nil {
		o.OnExit = func(string, string) {}
	}
	return nil
}
