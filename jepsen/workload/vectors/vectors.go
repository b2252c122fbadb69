// Package vectors drives recalls of memories by their vectors, beside rewrites and deletes. It checks that
// an acknowledged memory is found by its own vector, and that a deleted one does not come back.
package vectors

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// vectors writes memories, each with a vector of its own. The process that wrote a memory gives it another
// vector now and then, and deletes it at last; its id is not used again. All processes recall by the vectors
// of memories that were acknowledged.
type vectors struct {
	keys  *workload.Keys
	names atomic.Int64 // number of memories so far; numbers them

	mu   sync.Mutex
	seen map[string][]call // :: key → the newest acknowledged writes; guarded by mu
}

const (
	keysAtOnce = 2   // agents at a time
	callsMax   = 500 // of an agent
	mineMax    = 12  // memories of a process that are left
	seenMax    = 48  // of an agent
	limit      = 5   // of a recall
	dimensions = 32  // so many that two vectors are never near each other
	word       = "vector"
)

// Name is the workload's name.
const Name = "vectors"

// New returns workload vectors.
func New() workload.Workload {
	return &vectors{keys: workload.NewSharedKeys("v", keysAtOnce, callsMax), seen: map[string][]call{}}
}

func (*vectors) Name() string { return Name }

func (*vectors) About() string {
	return "memories recalled by vectors beside rewrites and deletes: an acknowledged one is found by its own vector and by no earlier one, and a deleted one never comes back"
}

// The calls. A find recalls by the vector that a version of a memory has, a list all memories.
const (
	callWrite  = "write"
	callDelete = "delete"
	callFind   = "find"
)

// call is the input of a call: a version of a memory, from 1 on.
type call struct {
	ID      string `json:"id"`
	Version uint64 `json:"version,omitempty"` // 0 of a delete
	Mode    string `json:"mode,omitempty"`    // of a find
}

// found is the answer of a find.
type found struct {
	Items []item `json:"items,omitempty"` // in the order of the answer
}

type item struct {
	ID    string  `json:"id"`
	Score float64 `json:"score,omitempty"`
}

// vectorOf returns the vector of a version of a memory. It is the same in every run.
func vectorOf(id string, version uint64) []float32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash never fails
	draw := rand.New(rand.NewPCG(h.Sum64(), version))
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(draw.NormFloat64())
	}
	return v
}

func (w *vectors) Run(ctx context.Context, p *workload.Process) {
	mine := map[string][]call{} // :: key → memories of the process whose last write was acknowledged
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		left := mine[key]
		switch draw := p.Rand.IntN(20); {
		case draw < 9:
			w.find(ctx, p, key)
		case draw < 12 && len(left) > 0:
			at := p.Rand.IntN(len(left))
			next := call{ID: left[at].ID, Version: left[at].Version + 1}
			if left[at] = next; !w.write(ctx, p, key, next) {
				mine[key] = without(left, at) // whatever it has now: it is left alone
			}
		case draw < 16 && len(left) > 0 || len(left) >= mineMax:
			at := p.Rand.IntN(len(left))
			w.delete(ctx, p, key, left[at].ID)
			mine[key] = without(left, at)
		default:
			if fresh := (call{ID: workload.WriteName(p, w.names.Add(1)), Version: 1}); w.write(ctx, p, key, fresh) {
				mine[key] = append(left, fresh)
			}
		}
	}
}

func without(all []call, at int) []call { return append(all[:at:at], all[at+1:]...) }

// write writes a version of a memory, and reports whether it was acknowledged.
func (w *vectors) write(ctx context.Context, p *workload.Process, key string, in call) bool {
	_, err := workload.Call(ctx, p, callWrite, key, true, in, func(ctx context.Context) (struct{}, error) {
		before := in.Version - 1
		_, err := p.Client.In(p.Scope).WriteMemory(ctx, agent.WriteMemory{
			Agent: key, ID: in.ID, Content: word + " " + in.ID, Embedding: vectorOf(in.ID, in.Version), IfRevision: &before,
		})
		return struct{}{}, err
	})
	if err == nil {
		w.mu.Lock()
		w.seen[key] = append(w.seen[key], in)
		w.seen[key] = w.seen[key][max(0, len(w.seen[key])-seenMax):]
		w.mu.Unlock()
	}
	return err == nil
}

func (*vectors) delete(ctx context.Context, p *workload.Process, key, id string) {
	_, _ = workload.Call(ctx, p, callDelete, key, true, call{ID: id}, func(ctx context.Context) (struct{}, error) {
		_, err := p.Client.In(p.Scope).DeleteMemory(ctx, agent.DeleteMemory{Agent: key, ID: id})
		return struct{}{}, err
	})
}

// find recalls by one of the vectors that were acknowledged, or that no memory has, if there is none.
func (w *vectors) find(ctx context.Context, p *workload.Process, key string) {
	w.mu.Lock()
	in := call{ID: "none", Version: 1}
	if all := w.seen[key]; len(all) > 0 {
		in = all[p.Rand.IntN(len(all))]
	}
	w.mu.Unlock()
	if in.Mode = agent.ModeVector; p.Rand.IntN(3) == 0 {
		in.Mode = agent.RecallModes[p.Rand.IntN(len(agent.RecallModes))]
	}
	_, _ = recall(ctx, p, key, in, limit)
}

func recall(ctx context.Context, p *workload.Process, key string, in call, most uint64) (found, error) {
	return workload.Call(ctx, p, callFind, key, false, in, func(ctx context.Context) (out found, err error) {
		q := agent.Recall{Agent: key, Mode: in.Mode, Limit: most}
		if in.Mode == agent.ModeVector || in.Mode == agent.ModeHybrid {
			q.Embedding = vectorOf(in.ID, in.Version)
		}
		if in.Mode != agent.ModeVector && in.Mode != agent.ModeQuery {
			q.Query = word
		}
		answer, err := p.Client.In(p.Scope).Recall(ctx, q)
		if err != nil {
			return found{}, err
		}
		for _, m := range answer.Items {
			out.Items = append(out.Items, item{m.Memory.ID, m.Score})
		}
		return out, nil
	})
}

// Final recalls all memories of each agent in each mode, and the newest acknowledged ones by their vectors.
func (w *vectors) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		for _, mode := range agent.RecallModes {
			if _, err := recall(ctx, p, key, call{ID: "none", Version: 1, Mode: mode}, agent.RecallLimitMax); err != nil {
				return err
			}
		}
		w.mu.Lock()
		newest := w.seen[key]
		w.mu.Unlock()
		for _, in := range newest {
			in.Mode = agent.ModeVector
			if _, err := recall(ctx, p, key, in, limit); err != nil {
				return err
			}
		}
		return nil
	})
}
