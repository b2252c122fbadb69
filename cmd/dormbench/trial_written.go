package main

import (
	"context"
	"errors"
	"fmt"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/bench/usage"
)

// writtenCallers is the number of callers of the trial of writes.
const writtenCallers = 256

// written measures what a node writes to its disk for each put of 1 KiB, until the puts are compacted.
func (st *stage) written(ctx context.Context) (found []report.Trial, err error) {
	err = st.with(ctx, system.Dormouse, 0, func(s *system.System, d load.Driver) error {
		w, _ := load.ByName("put-1k")
		bar := st.a.newProgress("measuring "+w.Name, st.size.writtenFor)
		defer bar.end()
		before, err := writtenBy(s)
		if err != nil {
			return err
		}
		result, err := load.Run(ctx, d, load.Options{
			Workload: w, Callers: writtenCallers, Duration: st.size.writtenFor, Agents: agentsFew, Prefix: "written", Progress: bar.tell,
		})
		if err != nil {
			return err
		}
		if err := st.settle(ctx, s); err != nil {
			return err
		}
		after, err := writtenBy(s)
		if err != nil {
			return err
		}
		puts := float64(result.Ops + agentsFew) // the agents were written first
		found = []report.Trial{{
			Name: report.TrialWritten, System: s.Name, Value: float64(after-before) / 1024 / puts / float64(len(s.Nodes)), Unit: "KiB",
			Note: fmt.Sprintf("for each put of 1 KiB and node, %.0f puts to %d agents by %d callers in %v, their compactions included", puts, agentsFew, writtenCallers, st.size.writtenFor),
		}}
		return nil
	})
	return found, err
}

// writtenBy returns the bytes that all nodes have written to their disks since they began.
func writtenBy(s *system.System) (sum int64, err error) {
	for _, pid := range s.PIDs() {
		u, e := usage.Tree(pid)
		err = errors.Join(err, e)
		sum += u.Written
	}
	return sum, err
}
