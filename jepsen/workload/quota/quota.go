// Package quota drives scopes that may hold few threads. It checks that no acknowledged write
// exceeds the quota, that no write is refused that fits, and that a refused one leaves nothing.
package quota

import (
	"context"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// quota adds and deletes threads in many scopes, one for each key, up to a limit. A commit adds
// several threads, so a quota that is checked before its ops lets too many in, and one that refuses a
// commit without undoing its first ops leaves threads behind.
type quota struct{ keys *workload.Keys }

// Limit is the number of threads that a scope may hold, and addMax how many a commit adds.
const (
	Limit  = 8
	addMax = 3
)

// keysAtOnce and callsMax size the rotation of keys.
const (
	keysAtOnce = 2 // scopes of a group of processes at the same time
	callsMax   = 300
)

// New returns workload quota.
func New() workload.Workload {
	return &quota{keys: workload.NewKeys("q", keysAtOnce, callsMax)}
}

func (*quota) Name() string { return "quota" }

func (*quota) About() string {
	return "threads added to scopes that may hold few: no acknowledged write exceeds the quota, none that fits is refused, the count is right, and a refused commit leaves no thread"
}

// The calls. CallLimit sets the quota; each process does that before its other calls on a key.
const (
	CallLimit  = "limit"
	CallAdd    = "add"
	CallRemove = "remove"
)

// In is the input of CallAdd and CallRemove.
type In struct {
	Threads int      `json:"threads"`         // that the commit adds or deletes
	Names   []string `json:"names,omitempty"` // of these threads
}

// Out is the answer of a read.
type Out struct {
	Threads uint64   `json:"threads"`
	Names   []string `json:"names,omitempty"` // of the threads, at the same index
}

func (w *quota) Run(ctx context.Context, p *workload.Process) {
	limited := map[string]bool{}
	mine := map[string][]string{} // :: key → threads that this process has added
	for n := 0; workload.Pace(ctx, p); n++ {
		key := w.keys.Pick(p)
		if !limited[key] {
			_, err := workload.Call(ctx, p, CallLimit, key, true, struct{}{}, func(ctx context.Context) (struct{}, error) {
				_, err := p.Client.In(scopeOf(p, key)).PutScope(ctx, agent.Policy{ThreadsMax: Limit})
				return struct{}{}, err
			})
			limited[key] = err == nil
			continue
		}
		switch {
		case p.Rand.IntN(6) == 0:
			_, _ = read(ctx, p, key)
		case len(mine[key]) > 0 && p.Rand.IntN(2) == 0:
			mine[key] = remove(ctx, p, key, mine[key])
		default:
			var names []string
			for i := range 1 + p.Rand.IntN(addMax) {
				names = append(names, fmt.Sprintf("%d-%d-%d", p.ID, n, i))
			}
			if add(ctx, p, key, names) == nil {
				mine[key] = append(mine[key], names...)
			}
		}
	}
}

// scopeOf returns the scope of a key.
func scopeOf(p *workload.Process, key string) string { return p.Scope + "-" + key }

func add(ctx context.Context, p *workload.Process, key string, names []string) error {
	_, err := workload.Call(ctx, p, CallAdd, key, true, In{Threads: len(names), Names: names}, func(ctx context.Context) (struct{}, error) {
		var ops []agent.Op
		for _, name := range names {
			ops = append(ops, &agent.AppendThread{Thread: name})
		}
		_, err := p.Client.Commit(ctx, agent.Commit{Scope: scopeOf(p, key), Ops: ops})
		return struct{}{}, err
	})
	return err
}

// remove deletes the oldest of a process's threads. It returns those that are left: none is deleted
// twice, so each delete takes one away.
func remove(ctx context.Context, p *workload.Process, key string, names []string) []string {
	_, _ = workload.Call(ctx, p, CallRemove, key, true, In{Threads: 1, Names: names[:1]}, func(ctx context.Context) (struct{}, error) {
		_, err := p.Client.Commit(ctx, agent.Commit{Scope: scopeOf(p, key), Ops: []agent.Op{&agent.DeleteThread{Thread: names[0]}}})
		return struct{}{}, err
	})
	return slices.Clone(names[1:])
}

func read(ctx context.Context, p *workload.Process, key string) (Out, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (Out, error) {
		answers, err := p.Client.Read(ctx, agent.Reads{Scope: scopeOf(p, key), Reads: []agent.Read{
			&agent.GetScope{}, &agent.ListThreads{Page: agent.Page{Limit: agent.ListLimitMax}},
		}})
		if err != nil {
			return Out{}, err
		}
		var out Out
		for _, answer := range answers.Answers {
			switch found := answer.Found.(type) {
			case *agent.Scope:
				out.Threads = found.Threads
			case *agent.ThreadList:
				for _, thread := range found.Items {
					out.Names = append(out.Names, thread.ID)
				}
			default:
				if answer.Err != nil {
					return Out{}, answer.Err
				}
				return Out{}, agent.Errorf(agent.CodeInternal, "a read of a scope and its threads was answered with %T", found)
			}
		}
		return out, nil
	})
}

// Final reads the count of every scope.
func (w *quota) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := read(ctx, p, key)
		if agent.CodeOf(err) == agent.CodeNotFound { // no call on the key was applied
			return nil
		}
		return err
	})
}
