package workload

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// recall adds members to sets as set does, but a set is what an agent
// remembers, and it is read by a recall in one of five modes. Three of them ask
// an index that each node keeps in memory; other memories, written and deleted
// all the while, see to it that the index has something to follow.
type recall struct {
	agents  *Keys
	members atomic.Int64 // added so far; numbers them
}

const agentPrefix = "a"

func newRecall() Workload {
	return &recall{agents: NewKeys(agentPrefix, setKeys, setCalls)}
}

func (*recall) Name() string { return "recall" }

func (*recall) About() string {
	return "what agents are to remember, recalled in five modes on any node: acknowledged ⊆ recalled ⊆ attempted; nothing lost, stale or from nowhere"
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
func (w *recall) Run(ctx context.Context, p *Process) {
	for Pace(ctx, p) {
		key := w.agents.Pick(p)
		switch n := p.Rand.IntN(8); {
		case n < 2:
			_, _ = w.read(ctx, p, key, agent.RecallModes[p.Rand.IntN(len(agent.RecallModes))])
		case n < 4:
			_, _ = Call(ctx, p, callChurn, key, true, struct{}{}, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, churn(ctx, p, key)
			})
		default:
			in := setIn{Member: w.members.Add(1)}
			_, _ = Call(ctx, p, callAdd, key, true, in, func(ctx context.Context) (struct{}, error) {
				return struct{}{}, w.add(ctx, p, key, in.Member)
			})
		}
	}
}

// add adds what nobody has added before, and says so.
func (w *recall) add(ctx context.Context, p *Process, key string, member int64) error {
	absent := uint64(0)
	_, err := p.Client.In(p.Scope).WriteMemory(ctx, agent.WriteMemory{
		Agent: key, ID: strconv.FormatInt(member, 10), Content: fmt.Sprintf("member number %d", member),
		Embedding: []float32{1, float32(member)}, IfRevision: &absent,
	})
	return err
}

// churn writes or deletes a memory that is no member.
func churn(ctx context.Context, p *Process, key string) error {
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
func (w *recall) Final(ctx context.Context, p *Process) error {
	return FinalReads(ctx, w.agents.All(), func(key string) error {
		for _, mode := range agent.RecallModes {
			if _, err := w.read(ctx, p, key, mode); err != nil {
				return err
			}
		}
		return nil
	})
}

// read recalls all that an agent remembers: fewer than a recall gives at most.
func (w *recall) read(ctx context.Context, p *Process, key, mode string) (setOut, error) {
	return Call(ctx, p, CallRead, key, false, recallIn{Mode: mode}, func(ctx context.Context) (out setOut, err error) {
		q := agent.Recall{Agent: key, Mode: mode, Limit: agent.RecallLimitMax}
		if mode != agent.ModeQuery && mode != agent.ModeVector {
			q.Query = "member"
		}
		if mode == agent.ModeVector || mode == agent.ModeHybrid {
			q.Embedding = []float32{1, 1}
		}
		found, err := p.Client.In(p.Scope).Recall(ctx, q)
		if err != nil {
			return setOut{}, err
		}
		for _, item := range found.Items {
			if !strings.HasPrefix(item.Memory.ID, churnPrefix) {
				out.add(item.Memory.ID, key+"/"+item.Memory.ID)
			}
		}
		return out, nil
	})
}

// Check is set's: a memory is a member.
func (w *recall) Check(ctx context.Context, h *history.History) check.Result {
	return checkSets(ctx, w.Name(), h)
}
