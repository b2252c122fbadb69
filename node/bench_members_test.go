package node_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/cluster/assign"
)

// BenchmarkAMembersChange measures the cost of a new member: a host joins a node that owns all
// partitions, and owns half of them afterwards. Dormant instances cost nothing. Awake instances
// hibernate on the old owner before their partition is released. They have stored everything
// already, so they write nothing.
//
// CPU is that of the whole process, from the first partition that moves to the last.
func BenchmarkAMembersChange(b *testing.B) {
	for _, size := range []int{1_000, 10_000, 100_000} {
		for _, status := range []string{"dormant", "awake"} {
			b.Run(fmt.Sprintf("%s=%d", status, size), func(b *testing.B) { benchJoin(b, size, status == "awake") })
		}
	}
}

func benchJoin(b *testing.B, size int, awake bool) {
	b.Helper()
	w := newEmptyCluster(b)
	w.lease = time.Second
	w.found(1)
	n1 := w.awake["n1"]
	fill(b, n1, size)
	w.even("n1")
	var cost cost
	b.ResetTimer()
	b.StopTimer()
	for range b.N {
		if awake {
			wake(b, n1, size)
		}
		h1 := w.startHost("h1", nil)
		until(n1, func() bool { return shares(n1)["*"] > 0 })
		b.StartTimer()
		before := costNow(n1)
		until(n1, func() bool { return shares(n1)["h1"] > 0 && settled(n1) })
		cost.add(costNow(n1), before)
		b.StopTimer()
		h1.stop()
		if err := <-h1.done; err != nil {
			b.Fatal(err)
		}
		w.even("n1")
	}
	b.ReportMetric(float64(cost.cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(cost.entries)/float64(b.N), "entries/op")
	b.ReportMetric(float64(cost.commits)/float64(b.N), "commits/op")
	b.ReportMetric(float64(cost.bytes)/float64(b.N), "log-B/op")
}

// until waits until a condition on the partitions holds.
func until(r *testNode, done func() bool) {
	for {
		changed := r.Machine().PartitionsChanged()
		if done() {
			return
		}
		<-changed
	}
}

// settled reports whether every node owns the partitions that placement assigns to it.
func settled(r *testNode) bool {
	table, shares := r.partitions()
	if shares["*"] > 0 || shares[""] > 0 {
		return false
	}
	target, owners := assign.Target(table, r.Group().Partitions().Eligible(""), nil)
	return slices.Equal(target, owners)
}

// cost is what this process has used, and what a leader has written.
type cost struct {
	cpu                     time.Duration
	entries, commits, bytes uint64
}

func costNow(leader *testNode) cost {
	s := leader.Group().Stats()
	return cost{cpuNow(), s.Entries, s.Commits, s.Bytes}
}

// cpuNow returns the CPU time that this process has used.
func cpuNow() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// add adds the difference of two costs.
func (c *cost) add(after, before cost) {
	c.cpu += after.cpu - before.cpu
	c.entries += after.entries - before.entries
	c.commits += after.commits - before.commits
	c.bytes += after.bytes - before.bytes
}

func benchRef(i int) agent.InstanceRef {
	return agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: fmt.Sprint("k", i)}
}

// fill stores size instances of a manager, none of them awake.
func fill(b *testing.B, r *testNode, size int) {
	b.Helper()
	ops := []agent.Op{&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: 24 * time.Hour}}}
	for i := range size {
		ops = append(ops, &agent.PutCheckpoint{Key: benchRef(i).Checkpoint(), State: agent.JSON(`{"name":"an instance that is at rest","turns":12345678}`)})
		if len(ops) < agent.CommitOpsMax && i < size-1 {
			continue
		}
		if _, err := r.Service().Commit(b.Context(), agent.Commit{Ops: ops}); err != nil {
			b.Fatal(err)
		}
		ops = ops[:0]
	}
}

// wake wakes the dormant instances.
func wake(b *testing.B, r *testNode, size int) {
	b.Helper()
	var next atomic.Int64
	callers, ctx := errgroup.WithContext(context.Background())
	for range 256 {
		callers.Go(func() error {
			for i := int(next.Add(1)) - 1; i < size; i = int(next.Add(1)) - 1 {
				if _, err := r.Instances().Start(ctx, benchRef(i), agent.StartInstance{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := callers.Wait(); err != nil {
		b.Fatal(err)
	}
}
