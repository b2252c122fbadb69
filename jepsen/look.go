package jepsen

import (
	"context"
	"errors"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

const (
	// lookMax bounds the time for the nodes to converge.
	lookMax   = 60 * time.Second
	lookEvery = 500 * time.Millisecond
)

// look compares all nodes until they have one index, term, chain and state, or until
// lookMax. Every comparison is recorded; the last one counts.
func (r *run) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookMax)
	defer cancel()
	for step := 1; ; step++ {
		if r.lookOnce(ctx, step) || !pause.For(ctx, lookEvery) {
			return
		}
	}
}

// lookOnce records one comparison and reports whether the nodes agree.
func (r *run) lookOnce(ctx context.Context, step int) bool {
	nodes := r.stage.nodes()
	samples, errs := together(ctx, len(nodes), func(i int) (uint64, check.Sample, error) {
		s, err := r.stage.sample(ctx, nodes[i].name)
		return s.Applied, s, err
	})
	if level(samples) {
		each(len(nodes), func(i int) {
			if errs[i] == nil {
				samples[i].State, errs[i] = r.stateOf(ctx, nodes[i])
			}
		})
		r.addRows(ctx, nodes, samples, errs)
	}
	if ctx.Err() != nil && step > 1 {
		return false // the comparison before was complete
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return false // the run was interrupted, so a missing answer says nothing about the nodes
	}
	one := true
	for i, n := range nodes {
		if errs[i] != nil {
			r.record.Event(history.Event{Kind: history.EventSample, Name: check.FinalLook, Step: step, Node: n.name, Detail: errs[i].Error()})
			one = false
			continue
		}
		r.sampled(n.name, check.FinalLook, step, samples[i])
		one = one && samples[i].State != "" && samples[i].State == samples[0].State && alike(samples[i].Rows, samples[0].Rows)
	}
	return one
}

// addRows adds the hash of its rows to the sample of each node, if all nodes have answered so
// far. A build that has no such call adds nothing.
func (r *run) addRows(ctx context.Context, nodes []node, samples []check.Sample, errs []error) {
	if errors.Join(errs...) != nil {
		return
	}
	rows, failed := together(ctx, len(nodes), func(i int) (uint64, *check.Rows, error) {
		rows, err := r.stage.rows(ctx, nodes[i].name)
		if rows == nil {
			return anyIndex, nil, err
		}
		return rows.Index, rows, err
	})
	for i := range nodes {
		samples[i].Rows, errs[i] = rows[i], failed[i]
	}
}

// alike reports whether two nodes store the same rows, as far as they tell.
func alike(a, b *check.Rows) bool {
	return a == nil || b == nil || a.Index == b.Index && a.Hash == b.Hash
}

// level reports whether all samples have one index, term and chain, so that reading
// the whole state makes sense. It is true if there are no samples.
func level(samples []check.Sample) bool {
	for _, s := range samples {
		if s.Applied != samples[0].Applied || s.Term != samples[0].Term || s.Chain != samples[0].Chain {
			return false
		}
	}
	return true
}
