// Package workload has what all workloads share: the Workload interface, calls
// and their record, the choice of keys, and the parts that checks are made of.
// Each workload is a package below this one, and package catalog lists them.
// A workload uses only the public contract.
package workload

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Workload is one kind of calls and its judge. A value serves one run: what
// its processes share is in it. To judge an old history, a fresh one will do.
type Workload interface {
	// Name is its name on the command line.
	Name() string
	// About says in one line what it does and which promise it judges.
	About() string
	// Run makes one process's calls, one at a time, each through Call, until
	// ctx ends. Pacing is its own; where the cluster is away it goes on trying
	// at a modest pace.
	Run(ctx context.Context, p *Process)
	// Final makes the calls that the judge needs once all faults are healed
	// (reads of everything, say). One process runs it.
	Final(ctx context.Context, p *Process) error
	// Check judges a history that holds this workload's calls alone. It gives
	// up as unknown when ctx ends.
	Check(ctx context.Context, h *history.History) check.Result
}

// Process is a logical single-threaded client.
type Process struct {
	ID     int
	Node   string // the node that Client is bound to; "" where it roams
	Client *client.Client
	Rand   *rand.Rand // of the run's seed and ID
	Scope  string     // for this workload's keys alone

	Pace time.Duration // mean wait between two calls; 0 means PaceDefault

	Workload string
	Record   *history.Recorder
}

// CallMax bounds one call, so that a process does not sit out a whole fault.
const CallMax = 5 * time.Second

// Call makes one call and records it: invocation before, return after. A write
// is unknown where agent.OutcomeOf says that its outcome is undecided; a read
// (or anything without effect) that fails is refused. Expected answers that
// come as errors, such as a read's not_found, do turns into an Out.
func Call[In, Out any](ctx context.Context, p *Process, call, key string, effect bool, in In, do func(ctx context.Context) (Out, error)) (Out, error) {
	return CallFor(ctx, CallMax, p, call, key, effect, in, do)
}

// CallFor is Call with the timeout most.
func CallFor[In, Out any](ctx context.Context, most time.Duration, p *Process, call, key string, effect bool, in In, do func(ctx context.Context) (Out, error)) (Out, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		panic(err) // a workload's own type
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	id := p.Record.Invoke(history.Op{Workload: p.Workload, Process: p.ID, Node: p.Node, Call: call, Key: key, In: raw})
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
		panic(err) // as above
	}
	p.Record.Return(id, answer)
	return out, nil
}
