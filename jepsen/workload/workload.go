// Package workload holds the common part of all workloads: the Workload interface,
// calls and their record, the choice of keys, and the parts of the checks. Each
// workload is a package below this one, and package catalog lists them. A workload
// uses only the public API.
package workload

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Workload is one kind of calls and its checker. A value holds the state that the
// processes of one run share. A new value can judge a recorded history.
type Workload interface {
	// Name returns the workload's name on the command line.
	Name() string
	// About describes in one line what the workload does and which promise it judges.
	About() string
	// Run makes the calls of one process, one at a time, each through Call, until ctx
	// ends. It paces its calls itself; if the cluster is not available it keeps trying
	// at a modest rate.
	Run(ctx context.Context, p *Process)
	// Final makes the calls that the checker needs once all faults are healed, for
	// example reads of everything. One process runs it.
	Final(ctx context.Context, p *Process) error
	// Check judges a history that holds only this workload's calls. The verdict is
	// unknown if ctx ends first.
	Check(ctx context.Context, h *history.History) check.Result
}

// DiskReader is a Workload that can judge what is on the disks of a cluster that has not
// recovered.
type DiskReader interface {
	// ReadDisk makes a CallDisk for each key. The client's node holds what was on the disk of
	// one node of the cluster, p.Node.
	ReadDisk(ctx context.Context, p *Process) error
}

// CallDisk is the name of the calls of ReadDisk.
const CallDisk = "read disk"

// Process is a logical single-threaded client.
type Process struct {
	ID     int
	Node   string // the node that Client is bound to; "" if Client may use any node
	Client Client
	Via    Via        // what Client is
	Rand   *rand.Rand // seeded from the run's seed and ID
	Scope  string     // only for this workload's keys

	// Dial returns a client like Client that calls with another token, and what closes it.
	// nil if the cluster asks for no tokens.
	Dial func(token string) (Client, io.Closer, error)

	Pace time.Duration // mean wait between two calls; 0 means PaceDefault

	Workload string
	Record   *history.Recorder
}

// twins is the distance between the ids of a process and its twins.
const twins = 1_000

// Twin returns a process that makes calls beside those of p with the same client, so that
// the client sends them together. i tells the twins of p apart; a twin must have returned
// from its calls before the next one of the same i is made.
func (p *Process) Twin(i int) *Process {
	twin := *p
	twin.ID += (i + 1) * twins
	twin.Rand = rand.New(rand.NewPCG(p.Rand.Uint64(), uint64(i)))
	return &twin
}

// CallMax bounds one call.
const CallMax = check.CallMax

// Call makes one call and records it: the invocation before, the return after. The
// outcome of a failed write is unknown if agent.OutcomeOf returns Undecided. A failed
// read (or any other call without effect) is refused. If an error is an expected
// answer, such as not_found of a read, do must return it as an Out.
func Call[In, Out any](ctx context.Context, p *Process, call, key string, effect bool, in In, do func(ctx context.Context) (Out, error)) (Out, error) {
	return CallFor(ctx, CallMax, p, call, key, effect, in, do)
}

// CallFor is Call with the timeout most. The record of the call has it if it is shorter
// than CallMax.
func CallFor[In, Out any](ctx context.Context, most time.Duration, p *Process, call, key string, effect bool, in In, do func(ctx context.Context) (Out, error)) (Out, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		panic(err) // cannot fail: a workload's own type
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	op := history.Op{Workload: p.Workload, Process: p.ID, Node: p.Node, Via: string(p.Via), Call: call, Key: key, In: raw}
	if most < CallMax {
		op.Patience = most
	}
	id := p.Record.Invoke(op)
	out, err := do(ctx)
	if err != nil {
		outcome := history.Refused
		if effect && agent.OutcomeOf(err) == agent.Undecided {
			outcome = history.Unknown
		}
		p.Record.Fail(id, outcome, string(agent.CodeOf(err)), err.Error())
		return out, err
	}
	answer, err := json.Marshal(out)
	if err != nil {
		panic(err) // cannot fail: a workload's own type
	}
	p.Record.Return(id, answer)
	return out, nil
}
