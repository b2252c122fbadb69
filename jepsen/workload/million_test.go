package workload

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"dormouse/jepsen/check"
)

// BenchmarkAMillionCalls judges histories of a million calls, each key as long
// as a run makes it and far more crowded, and tells the memory of the process:
// the history, which is held whole, and what the check adds to it.
//
//	go test -run xxx -bench AMillionCalls -benchtime 1x ./jepsen/workload
func BenchmarkAMillionCalls(b *testing.B) {
	const calls = 1_000_000
	for _, c := range []struct {
		workload Workload
		perKey   int
		madeUp   func(d draw, n int, key string) script
	}{
		{newRegister(), registerCalls, func(d draw, n int, key string) script { return madeUpRegister(d, n).of("c" + key) }},
		{newAppend(), appendCalls, madeUpAppends},
		{newSet(), setCalls, madeUpSet},
		{newDedupe(), dedupeCalls, madeUpRequests},
	} {
		b.Run(c.workload.Name(), func(b *testing.B) {
			d := thrown(rand.New(rand.NewPCG(1, 2)))
			all := make(script, 0, calls+c.perKey)
			for key := 0; len(all) < calls; key++ {
				all = append(all, c.madeUp(d, c.perKey, fmt.Sprint(key))...)
			}
			h := all.history()
			all = nil
			runtime.GC()
			for b.Loop() {
				if r := c.workload.Check(b.Context(), h); r.Verdict != check.OK {
					b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, details(r))
				}
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.Sys-memory.HeapReleased)/(1<<20), "MiB")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
		})
	}
}

// of is the same calls on another key.
func (s script) of(key string) script {
	for i := range s {
		s[i].Key = key
	}
	return s
}
