// Package recall drives writes and searches of agents' memories, and checks
// that each search on any node finds every acknowledged memory.
package recall

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/set"
)

// recall adds members to sets as set does, but a set is what an agent
// remembers, and it is read by a recall in one of five modes. Three of them ask
// an index that each node keeps in memory; other memories, written and deleted
// all the while, see to it that the index has something to follow.
type recall struct {
	agents  *workload.Keys
	members atomic.Int64 // added so far; numbers them
}

const agentPrefix = "a"

// New returns workload recall.
func New() workload.Workload {
	return &recall{agents: workload.NewKeys(agentPrefix, set.KeysAtOnce, set.CallsMax)}
}

func (*recall) Name() string { return "recall" }

func (*recall) About() string {
	return "memories, recalled in five modes on any node: acknowledged ⊆ recalled ⊆ attempted; nothing lost, stale or from nowhere"
}

const (
	callChurn   = "churn" // no judge looks at it
	churnPrefix = "churn-"
	churnMax    = 20 // memories of an agent that come and go
)

// recallIn is what a recall asks; the judge needs none of it.
type recallIn struct {
	Mode string `json:"mode"`
}

// Run adds, recalls, and churns.
func (w *recall) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.agents.Pick(p)
		switch n := p.Rand.IntN(8); {
		case n < 2:
			_, _ = w.read(ctx, p, key, agent.RecallModes[p.Rand.IntN(len(agent.RecallModes))])
		case n < 4:
			_, _ = workload.Call(ctx, p, callChurn, key, true, struct{}{}, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, churn(ctx, p, key)
			})
		default:
			in := set.In{Member: w.members.Add(1)}
			_, _ = workload.Call(ctx, p, set.CallAdd, key, true, in, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, w.add(ctx, p, key, in.Member)
			})
		}
	}
}

// add adds a new member, on the condition that it does not exist.
func (w *recall) add(ctx context.Context, p *workload.Process, key string, member int64) error {
	absent := uint64(0)
	_, err := p.Client.In(p.Scope).WriteMemory(ctx, agent.WriteMemory{
		Agent: key, ID: strconv.FormatInt(member, 10), Content: fmt.Sprintf("member number %d", member),
		Embedding: []float32{1, float32(member)}, IfRevision: &absent,
	})
	return err
}

// churn writes or deletes a memory that is no member.
func churn(ctx context.Context, p *workload.Process, key string) error {
	at, id := p.Client.In(p.Scope), churnPrefix+strconv.Itoa(p.Rand.IntN(churnMax))
	if p.Rand.IntN(2) == 0 {
		_, err := at.DeleteMemory(ctx, agent.DeleteMemory{Agent: key, ID: id})
		return err
	}
	_, err := at.WriteMemory(ctx, agent.WriteMemory{
		Agent: key, ID: id, Content: "no member, whatever its number", Embedding: []float32{1, -1},
	})
	return err
}

// Final recalls what every agent remembers, in every mode.
func (w *recall) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.agents.All(), func(key string) error {
		for _, mode := range agent.RecallModes {
			if _, err := w.read(ctx, p, key, mode); err != nil {
				return err
			}
		}
		return nil
	})
}

// read recalls all that an agent remembers: fewer than a recall gives at most.
func (w *recall) read(ctx context.Context, p *workload.Process, key, mode string) (set.Out, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, recallIn{Mode: mode}, func(ctx context.Context) (out set.Out, err error) {
		q := agent.Recall{Agent: key, Mode: mode, Limit: agent.RecallLimitMax}
		if mode != agent.ModeQuery && mode != agent.ModeVector {
			q.Query = "member"
		}
		if mode == agent.ModeVector || mode == agent.ModeHybrid {
			q.Embedding = []float32{1, 1}
		}
		found, err := p.Client.In(p.Scope).Recall(ctx, q)
		if err != nil {
			return set.Out{}, err
		}
		for _, item := range found.Items {
			if !strings.HasPrefix(item.Memory.ID, churnPrefix) {
				out.Add(item.Memory.ID, key+"/"+item.Memory.ID)
			}
		}
		return out, nil
	})
}

// Check is set's: a memory is a member.
func (w *recall) Check(ctx context.Context, h *history.History) check.Result {
	return set.Check(ctx, w.Name(), h)
}
