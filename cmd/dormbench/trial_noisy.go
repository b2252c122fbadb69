package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/bench/dormouse"
	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/internal/pause"
)

// The callers of the noisy-neighbour trial. The clients of the flood are as many as
// keep all of its callers busy.
const (
	quietCallers = 1
	noisyCallers = 256
	noisyClients = 8
	noisyLimit   = 500             // requests a second of the flooded scope, for the second half
	limitDelay   = 3 * time.Second // after which all nodes have applied a limit
)

// noisy compares the p99 of puts in a quiet scope alone and beside a scope that many
// callers flood, on the same nodes: without limits, and with a limit of the flooded
// scope.
func (st *stage) noisy(ctx context.Context) (found []report.Trial, err error) {
	err = st.with(ctx, system.Dormouse, 0, func(s *system.System, _ load.Driver) error {
		quiet, err := dormouse.Dial(dormouse.Options{Endpoints: s.Endpoints, Clients: 1, Scope: "quiet"})
		if err != nil {
			return err
		}
		noisy, err := dormouse.Dial(dormouse.Options{Endpoints: s.Endpoints, Clients: noisyClients, Scope: "noisy"})
		if err != nil {
			return errors.Join(err, quiet.Close())
		}
		defer func() { err = errors.Join(err, quiet.Close(), noisy.Close()) }()
		alone, err := st.puts(ctx, quiet, "alone", quietCallers)
		if err != nil {
			return err
		}
		for _, limit := range []uint64{0, noisyLimit} {
			if err := noisy.Limit(ctx, limit); err != nil {
				return err
			}
			pause.For(ctx, limitDelay)
			beside, flood, err := st.besideFlood(ctx, quiet, noisy)
			if err != nil {
				return err
			}
			t := report.Trial{
				Name: report.TrialNoisy, System: s.Name, Value: beside.P99 / alone.P99, Unit: "×",
				Note: fmt.Sprintf("p99 %.1f ms beside a scope with %d callers (p50 %.1f), %.1f ms alone (p50 %.1f); the other scope had %.0f puts/s, and this one %.0f of %.0f",
					beside.P99, noisyCallers, beside.P50, alone.P99, alone.P50, flood.Rate, beside.Rate, alone.Rate),
			}
			if limit > 0 {
				t.Name = report.TrialNoisyLimited
			}
			found = append(found, t)
		}
		return nil
	})
	return found, err
}

// puts measures puts of 1 KiB.
func (st *stage) puts(ctx context.Context, d load.Driver, prefix string, callers int) (load.Result, error) {
	w, _ := load.ByName("put-1k")
	return load.Run(ctx, d, load.Options{Workload: w, Callers: callers, Warmup: st.warmup, Duration: st.duration, Prefix: prefix, Failed: func(error) bool { return true }})
}

// besideFlood measures the quiet scope while the noisy one is flooded.
func (st *stage) besideFlood(ctx context.Context, quiet, noisy load.Driver) (beside, flood load.Result, err error) {
	type outcome struct {
		result load.Result
		err    error
	}
	flooded := make(chan outcome, 1)
	go func() {
		result, err := st.puts(ctx, noisy, "flood", noisyCallers)
		flooded <- outcome{result, err}
	}()
	beside, err = st.puts(ctx, quiet, "beside", quietCallers)
	o := <-flooded
	return beside, o.result, errors.Join(err, o.err)
}
