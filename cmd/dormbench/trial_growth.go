package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
)

// Sizes of the trials of growth.
const (
	agentsFew     = 10_000
	entriesFew    = 100
	growthCallers = 256
	threadCallers = 16
	putBytes      = 1 << 10
	mibPerAgents  = 100_000 // per node: that many agents need less than one GiB

	settlePoll   = 500 * time.Millisecond
	settledLooks = 4 // consecutive polls without a compaction on any node
	settleMax    = 5 * time.Minute
)

// growthWorkloads are measured on few and on many agents.
var growthWorkloads = []string{"put-1k", "append-300", "get-1k"}

// growth compares a store of many agents with a store of few. Each agent has a
// checkpoint of 1 KiB and a thread. Each measurement starts at rest and is long enough
// to include the compactions of its writes.
func (st *stage) growth(ctx context.Context) ([]report.Trial, error) {
	rates := map[string][]float64{} // :: workload → rates with few and with many agents
	for _, agents := range []int{agentsFew, st.size.agents} {
		err := st.grown(ctx, agents, st.size.nodeMemory, func(workload string, cell report.Cell) {
			rates[workload] = append(rates[workload], cell.Rate)
		})
		if err != nil {
			return nil, err
		}
	}
	var found []report.Trial
	for _, workload := range slices.Sorted(maps.Keys(rates)) {
		few, many := rates[workload][0], rates[workload][1]
		found = append(found, report.Trial{
			Name: report.TrialGrowth + " " + workload, System: system.Dormouse, Value: many / few, Unit: "×",
			Note: fmt.Sprintf("%.0f ops/s on %d agents, %.0f on %d, %d callers, nodes of %s", few, agentsFew, many, st.size.agents, growthCallers, st.size.nodeMemory),
		})
	}
	return found, nil
}

// memoryOfNode is what a node may use in the trial of memory.
const memoryOfNode = "512MiB"

// memory measures the resident memory of nodes that may use memoryOfNode and have many agents.
func (st *stage) memory(ctx context.Context) ([]report.Trial, error) {
	largest := 0.0
	err := st.grown(ctx, st.size.agents, memoryOfNode, func(_ string, cell report.Cell) {
		largest = max(largest, float64(cell.Memory)/(1<<20))
	})
	if err != nil {
		return nil, err
	}
	return []report.Trial{{
		Name: report.TrialMemory, System: system.Dormouse, Value: largest, Unit: "MiB",
		Note: fmt.Sprintf("the largest node, resident, after each of the workloads on %d agents, storage.memory: %s", st.size.agents, memoryOfNode),
	}}, nil
}

// grown fills nodes with agents, and measures the workloads of growth one after the other.
func (st *stage) grown(ctx context.Context, agents int, memory string, measured func(workload string, cell report.Cell)) error {
	if err := st.roomFor((agents/mibPerAgents + 1) * system.NodesDefault << 10); err != nil {
		return err
	}
	return st.withOptions(ctx, system.Dormouse, system.Options{Memory: memory}, func(s *system.System, d load.Driver) error {
		if err := st.fill(ctx, d, load.Fill{Prefix: "agent", Agents: agents, Checkpoint: putBytes, Entries: 1}); err != nil {
			return err
		}
		for _, workload := range growthWorkloads {
			if err := st.settle(ctx, s); err != nil {
				return err
			}
			cell, err := st.rate(ctx, s, workload, "agent", agents, growthCallers, st.size.growthFor)
			if err != nil {
				return err
			}
			measured(workload, cell)
		}
		return nil
	})
}

// settle waits until no node compacts earlier writes, so that they do not affect the
// next measurement.
func (st *stage) settle(ctx context.Context, s *system.System) error {
	for began, quiet := time.Now(), 0; quiet < settledLooks; quiet++ {
		if time.Since(began) > settleMax {
			return fmt.Errorf("the engines still compact after %v", settleMax)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settlePoll):
		}
		for _, url := range s.HTTP {
			n, err := system.Compacting(ctx, url)
			if err != nil {
				return err
			}
			if n > 0 {
				quiet = -1 // start counting again
			}
		}
	}
	return nil
}

// thread compares appends to long threads with appends to short threads in one store.
func (st *stage) thread(ctx context.Context) ([]report.Trial, error) {
	var rates []float64
	err := st.with(ctx, system.Dormouse, 0, func(s *system.System, d load.Driver) error {
		for _, entries := range []int{entriesFew, st.size.threadRevs} {
			prefix := fmt.Sprintf("thread-%d", entries)
			if err := st.fill(ctx, d, load.Fill{Prefix: prefix, Agents: threadCallers, Checkpoint: putBytes, Entries: entries}); err != nil {
				return err
			}
			cell, err := st.rate(ctx, s, "append-300", prefix, threadCallers, threadCallers, st.duration)
			if err != nil {
				return err
			}
			rates = append(rates, cell.Rate)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []report.Trial{{
		Name: report.TrialThread, System: system.Dormouse, Value: rates[1] / rates[0], Unit: "×",
		Note: fmt.Sprintf("%.0f ops/s from entry %d on, %.0f from entry %d, %d threads and callers", rates[0], entriesFew, rates[1], st.size.threadRevs, threadCallers),
	}}, nil
}
