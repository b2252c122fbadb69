// Package deletes drives writes and deletions of checkpoints, threads and values. It
// checks that deleted objects do not return and that seals hold.
package deletes

import (
	"context"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// deletion creates, writes, deletes and recreates checkpoints, threads and values.
// Some writes name an incarnation, sometimes one that was deleted long ago. Some
// deletes seal the id for a while.
type deletion struct {
	keys  []*workload.Keys // one for each kind
	calls atomic.Int64
}

const (
	callsMax    = 150 // picks of a key; a pick makes one call
	sealForever = agent.SealMax
)

// New returns workload delete.
func New() workload.Workload {
	w := &deletion{}
	for _, kind := range deletables {
		w.keys = append(w.keys, workload.NewKeys(kind.prefix, 1, callsMax))
	}
	return w
}

func (*deletion) Name() string { return "delete" }

func (*deletion) About() string {
	return "checkpoints, threads and values deleted and recreated: no late write restores a deleted object, and a sealed id accepts no write"
}

// deletePut is a write of the unique content Name.
type deletePut struct {
	Name        string `json:"name"`
	Incarnation uint64 `json:"incarnation,omitempty"` // required incarnation; 0 for any
	New         bool   `json:"new,omitempty"`         // the object must not exist
}

// deleteCall deletes, and seals the id for the duration Seal.
type deleteCall struct {
	Incarnation uint64        `json:"incarnation,omitempty"` // required incarnation; 0 for any
	Seal        time.Duration `json:"seal,omitempty"`
}

// deleteSeen is the state that a call found or left; for a delete, the state that it
// deleted. Incarnation 0 means that the object did not exist.
type deleteSeen struct {
	Incarnation uint64 `json:"incarnation,omitempty"`
	Revision    uint64 `json:"revision,omitempty"` // of a thread: its rev
	Name        string `json:"name,omitempty"`     // of a read: the newest content
	Untold      bool   `json:"untold,omitempty"`   // of a delete: the answer does not say what it deleted
	Index       uint64 `json:"index"`
	Time        int64  `json:"time,omitempty"` // of a write: the log's time, in Unix ms
}

func (w *deletion) Run(ctx context.Context, p *workload.Process) {
	known := map[string][]uint64{} // :: key → incarnations in the answers to the process, in order of time
	for workload.Pace(ctx, p) {
		key := w.keys[p.Rand.IntN(len(w.keys))].Pick(p)
		seen, err := w.call(ctx, p, key, known[key])
		if err == nil && seen.Incarnation > 0 {
			known[key] = append(known[key], seen.Incarnation)
		}
	}
}

// Final reads every key.
func (w *deletion) Final(ctx context.Context, p *workload.Process) error {
	var all []string
	for _, keys := range w.keys {
		all = append(all, keys.All()...)
	}
	return workload.FinalReads(ctx, all, func(key string) error {
		_, err := w.get(ctx, p, key)
		return err
	})
}

// call makes one call on a key; known are the incarnations that the process knows.
func (w *deletion) call(ctx context.Context, p *workload.Process, key string, known []uint64) (deleteSeen, error) {
	newest, some := uint64(0), uint64(0)
	if n := len(known); n > 0 {
		newest, some = known[n-1], known[p.Rand.IntN(n)]
	}
	put := deletePut{Name: workload.WriteName(p, w.calls.Add(1))}
	switch draw := p.Rand.IntN(1000); {
	case draw < 300:
		return w.get(ctx, p, key)
	case draw < 580:
		return w.put(ctx, p, key, put)
	case draw < 640:
		put.New = true
		return w.put(ctx, p, key, put)
	case draw < 770:
		put.Incarnation = newest
		return w.put(ctx, p, key, put)
	case draw < 840:
		put.Incarnation = some
		return w.put(ctx, p, key, put)
	case draw < 930:
		return w.delete(ctx, p, key, deleteCall{})
	case draw < 960:
		return w.delete(ctx, p, key, deleteCall{Incarnation: newest})
	case draw < 975:
		return w.delete(ctx, p, key, deleteCall{Incarnation: some})
	case draw < 997:
		return w.delete(ctx, p, key, deleteCall{Seal: time.Duration(100+p.Rand.IntN(1500)) * time.Millisecond})
	default:
		return w.delete(ctx, p, key, deleteCall{Seal: sealForever})
	}
}

func (*deletion) put(ctx context.Context, p *workload.Process, key string, in deletePut) (deleteSeen, error) {
	return workload.Call(ctx, p, "put", key, true, in, func(ctx context.Context) (deleteSeen, error) {
		return committed(ctx, p, deletableOf(key).put(key, in))
	})
}

func (*deletion) delete(ctx context.Context, p *workload.Process, key string, in deleteCall) (deleteSeen, error) {
	return workload.Call(ctx, p, "delete", key, true, in, func(ctx context.Context) (deleteSeen, error) {
		return committed(ctx, p, deletableOf(key).delete(key, in))
	})
}

func (*deletion) get(ctx context.Context, p *workload.Process, key string) (deleteSeen, error) {
	return workload.Call(ctx, p, "get", key, false, struct{}{}, func(ctx context.Context) (deleteSeen, error) {
		index, answers, err := workload.FindAll(ctx, p, deletableOf(key).get(key))
		out := deleteSeen{Index: index}
		if err != nil || answers[0] == nil {
			return out, err
		}
		return out, out.read(answers[0])
	})
}

// committed commits one op and returns the state that it found or left.
func committed(ctx context.Context, p *workload.Process, op agent.Op) (deleteSeen, error) {
	result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{op}})
	if err != nil {
		return deleteSeen{}, err
	}
	if len(result.Results) != 1 {
		return deleteSeen{}, agent.Errorf(agent.CodeInternal, "one op has %d results", len(result.Results))
	}
	out := deleteSeen{Index: result.Index, Time: result.Time}
	return out, out.wrote(result.Results[0])
}
