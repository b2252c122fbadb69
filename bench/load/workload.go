package load

import (
	"context"
	"fmt"
)

// Workload is a kind of calls that callers repeat.
type Workload struct {
	Name string
	What string // description, for people

	agents  func(callers int) int // default number of agents
	stored  stored                // initial state of each agent
	threads bool                  // calls write threads, so callers need their revs
	call    func(ctx context.Context, d Driver, c *caller) error
}

// stored is the initial state of an agent.
type stored struct {
	checkpoint int // bytes; 0 means none
	entries    int // number of entries of entryBytes
}

// Sizes of the payloads.
const (
	checkpointBytes     = 1024
	turnCheckpointBytes = 2048
	entryBytes          = 300
	thawEntries         = 50
	turnEntries         = 2
	manyThreads         = 100 // threads of a caller
)

// agentsDefault is the number of agents of workloads without a thread per caller.
const agentsDefault = 10_000

func fixed(n int) func(int) int     { return func(int) int { return n } }
func perCaller(n int) func(int) int { return func(callers int) int { return n * callers } }

// Workloads lists all workloads.
var Workloads = []Workload{
	{
		Name: "put-1k", What: "put a checkpoint of 1 KiB, of 10,000 agents", agents: fixed(agentsDefault),
		call: put,
	},
	{
		Name: "append-300", What: "rev-checked append of 300 B, one thread per caller", agents: perCaller(1), threads: true,
		call: appendOne(entryBytes),
	},
	{
		Name: "append-1k", What: "rev-checked append of 1 KiB, one thread per caller", agents: perCaller(1), threads: true,
		call: appendOne(checkpointBytes),
	},
	{
		Name: "append-300-many", What: "rev-checked append of 300 B, 100 threads per caller", agents: perCaller(manyThreads), threads: true,
		call: appendOne(entryBytes),
	},
	{
		Name: "append-1k-many", What: "rev-checked append of 1 KiB, 100 threads per caller", agents: perCaller(manyThreads), threads: true,
		call: appendOne(checkpointBytes),
	},
	{
		Name: "turn", What: "turn: 2 entries of 300 B and a checkpoint of 2 KiB in one commit, one agent per caller", agents: perCaller(1), threads: true,
		call: turn,
	},
	{
		Name: "get-1k", What: "linearizable get of a checkpoint of 1 KiB, of 10,000 agents", agents: fixed(agentsDefault),
		stored: stored{checkpoint: checkpointBytes}, call: get,
	},
	{
		Name: "thaw", What: "checkpoint of 2 KiB and the last 50 entries of 300 B, of 1,000 agents", agents: fixed(1000),
		stored: stored{checkpoint: turnCheckpointBytes, entries: thawEntries}, call: thaw,
	},
	{
		Name: "mixed", What: "80 % gets and 20 % puts of 1 KiB, of 10,000 agents", agents: fixed(agentsDefault),
		stored: stored{checkpoint: checkpointBytes}, call: mixed,
	},
}

// ByName returns the workload of that name.
func ByName(name string) (Workload, bool) {
	for _, w := range Workloads {
		if w.Name == name {
			return w, true
		}
	}
	return Workload{}, false
}

func put(ctx context.Context, d Driver, c *caller) error {
	return d.Put(ctx, c.pick().ID, c.payload(checkpointBytes))
}

func get(ctx context.Context, d Driver, c *caller) error {
	return expect(checkpointBytes)(d.Get(ctx, c.pick().ID))
}

func mixed(ctx context.Context, d Driver, c *caller) error {
	if c.random.IntN(10) < 2 {
		return put(ctx, d, c)
	}
	return get(ctx, d, c)
}

func appendOne(size int) func(context.Context, Driver, *caller) error {
	return func(ctx context.Context, d Driver, c *caller) error {
		return d.Append(ctx, c.pick(), c.payload(size))
	}
}

func turn(ctx context.Context, d Driver, c *caller) error {
	return d.Turn(ctx, c.pick(), c.payload(turnCheckpointBytes), c.entries(turnEntries)...)
}

func thaw(ctx context.Context, d Driver, c *caller) error {
	checkpoint, entries, err := d.Thaw(ctx, c.pick().ID, thawEntries)
	if err == nil && entries != thawEntries {
		return fmt.Errorf("thaw: %d entries, not %d", entries, thawEntries)
	}
	return expect(turnCheckpointBytes)(checkpoint, err)
}

// expect checks the size of a read, because a system that returns less than was stored
// must not look fast.
func expect(size int) func([]byte, error) error {
	return func(got []byte, err error) error {
		if err == nil && len(got) != size {
			return fmt.Errorf("read %d bytes instead of the stored %d", len(got), size)
		}
		return err
	}
}
