// Package cells drives a few values that are written and read together. It checks that one order explains
// all calls, by whichever protocol they were made.
package cells

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// cells has a few values for each key. Its calls are those that the protocol of Redis has too: writes and
// deletes of several at once, reads of all at one index, writes of a missing one, and compare-and-sets of
// bytes. They use no revision, index or request id.
type cells struct {
	keys  *workload.Keys
	names atomic.Int64 // number of values so far; numbers them
}

const (
	keysAtOnce = 3
	callsMax   = 300
	count      = 3 // cells of a key
)

// Name is the workload's name.
const Name = "cells"

// New returns workload cells.
func New() workload.Workload {
	return &cells{keys: workload.NewKeys("cell", keysAtOnce, callsMax)}
}

func (*cells) Name() string { return Name }

func (*cells) About() string {
	return "values written, swapped, deleted and read together, over gRPC, HTTP and the protocol of Redis: linearizable, never half a transaction"
}

// The calls.
const (
	callWrite  = "write"  // several cells
	callCreate = "create" // one cell, if it is missing
	callSwap   = "swap"   // one cell, if it has some bytes
)

// none is the value of a cell that is missing; a call that does not write a cell has "" for it.
const none = "-"

// call is the input of a call.
type call struct {
	Write [count]string `json:"write"`           // "" leaves a cell, none deletes it
	Old   string        `json:"old,omitempty"`   // of a swap
	Fresh bool          `json:"fresh,omitempty"` // of a create
}

// answer is the answer of a call.
type answer struct {
	Kept  bool          `json:"kept,omitempty"` // of a create and a swap: the condition did not hold
	Cells [count]string `json:"cells"`          // of a read; none where a cell is missing
}

func (w *cells) Run(ctx context.Context, p *workload.Process) {
	seen := map[string][count]string{} // :: key → what the process read last
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		at := p.Rand.IntN(count)
		var in call
		switch draw := p.Rand.IntN(20); {
		case draw < 8:
			if out, err := read(ctx, p, key); err == nil {
				seen[key] = out.Cells
			}
			continue
		case draw < 11 && seen[key][at] != "" && seen[key][at] != none:
			in.Old = seen[key][at]
			in.Write[at] = w.fresh(p)
			w.make(ctx, p, callSwap, key, in)
		case draw < 14:
			in.Fresh = true
			in.Write[at] = w.fresh(p)
			w.make(ctx, p, callCreate, key, in)
		case draw < 16:
			in.Write[at] = none
			w.make(ctx, p, callWrite, key, in)
		default:
			in.Write[at] = w.fresh(p)
			for other := range count {
				if other != at && p.Rand.IntN(2) == 0 {
					if in.Write[other] = w.fresh(p); p.Rand.IntN(3) == 0 {
						in.Write[other] = none
					}
				}
			}
			w.make(ctx, p, callWrite, key, in)
		}
	}
}

func (w *cells) fresh(p *workload.Process) string { return workload.WriteName(p, w.names.Add(1)) }

// cellOf returns the key of a value.
func cellOf(key string, at int) string { return fmt.Sprintf("%s/%d", key, at) }

// ops returns the ops of a call.
func (c call) ops(key string) (ops []agent.Op) {
	for at, value := range c.Write {
		switch put := (&agent.PutValue{Key: cellOf(key, at), Bytes: []byte(value)}); {
		case value == "":
		case value == none:
			ops = append(ops, &agent.DeleteValue{Key: put.Key})
		case c.Old != "":
			old := []byte(c.Old)
			put.IfBytes = &old
			ops = append(ops, put)
		case c.Fresh:
			put.IfRevision = new(uint64)
			ops = append(ops, put)
		default:
			ops = append(ops, put)
		}
	}
	return ops
}

func (w *cells) make(ctx context.Context, p *workload.Process, name, key string, in call) {
	_, err := workload.Call(ctx, p, name, key, true, in, func(ctx context.Context) (answer, error) {
		_, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: in.ops(key)})
		if name != callWrite && agent.CodeOf(err) == agent.CodeRevisionMismatch {
			return answer{Kept: true}, nil
		}
		return answer{}, err
	})
	if agent.OutcomeOf(err) == agent.Undecided && err != nil {
		w.keys.Doubt(key)
	}
}

func read(ctx context.Context, p *workload.Process, key string) (answer, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (answer, error) {
		var reads []agent.Read
		for at := range count {
			reads = append(reads, &agent.GetValue{Key: cellOf(key, at)})
		}
		_, found, err := workload.FindAll(ctx, p, reads...)
		if err != nil {
			return answer{}, err
		}
		out := answer{Cells: [count]string(slices.Repeat([]string{none}, count))}
		for at, f := range found {
			if value, is := f.(*agent.Value); is {
				out.Cells[at] = string(value.Bytes)
			}
		}
		return out, nil
	})
}

// Final reads the cells of every key.
func (w *cells) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := read(ctx, p, key)
		return err
	})
}

// words returns a call for findings.
func (c call) words(name string) string {
	var all []string
	for at, value := range c.Write {
		if value != "" {
			all = append(all, fmt.Sprintf("%d=%s", at, value))
		}
	}
	if c.Old != "" {
		all = append(all, "if "+c.Old)
	}
	return name + " " + strings.Join(all, " ")
}
