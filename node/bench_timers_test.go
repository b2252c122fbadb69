package node_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// BenchmarkTimers measures the CPU of three nodes in this process for each turn of one-second
// timers, whose handler appends an entry.
func BenchmarkTimers(b *testing.B) {
	const timers, window = 1000, 10 * time.Second
	c, err := client.Dial(client.Options{Endpoints: benchNodes(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it never fails
	ctx := context.Background()
	put := agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	if _, err := c.PutManager(ctx, put); err != nil {
		b.Fatal(err)
	}
	var ops []agent.Op
	for i := range timers {
		ops = append(ops, &agent.PutTimer{Timer: agent.Timer{
			Manager: "m", Key: fmt.Sprint("k", i), ID: "t", Cron: "* * * * * *", Missed: agent.MissedFireOnce, Type: "append", Data: agent.JSON(`{"entries":[{"payload":{"fired":true}}]}`),
		}})
	}
	if _, err := c.Commit(ctx, agent.Commit{Ops: ops}); err != nil {
		b.Fatal(err)
	}
	turns := func() (sum uint64) {
		for i := range 50 {
			key := agent.InstanceRef{Manager: "m", Key: fmt.Sprint("k", i*timers/50)}.Checkpoint()
			answers, err := c.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetThread{Thread: key}}})
			if err != nil {
				b.Fatal(err)
			}
			if found, ok := answers.Answers[0].Found.(*agent.Thread); ok {
				sum += found.Rev
			}
		}
		return sum * timers / 50
	}
	time.Sleep(5 * time.Second) // all instances have woken
	for b.Loop() {
		before, cpu := turns(), cpuTime(b)
		time.Sleep(window)
		fired, used := turns()-before, cpuTime(b)-cpu
		b.ReportMetric(float64(used.Microseconds())/float64(max(fired, 1)), "cpu-us/turn")
		b.ReportMetric(float64(fired)/window.Seconds(), "turns/s")
		b.ReportMetric(used.Seconds()/window.Seconds(), "cores")
	}
}

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
