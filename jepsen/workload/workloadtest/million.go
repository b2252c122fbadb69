package workloadtest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/workload"
)

// AMillionCalls judges a history of a million calls that madeUp makes, perKey of
// each key: as many as a run makes, and far more crowded. It reports the memory of
// the process: the history, which is held whole, and what the check adds to it.
//
//	go test -run xxx -bench AMillionCalls -benchtime 1x ./jepsen/workload/...
func AMillionCalls(b *testing.B, w workload.Workload, perKey int, madeUp func(d Draw, n int, key string) Script) {
	b.Helper()
	const calls = 1_000_000
	d := Thrown(rand.New(rand.NewPCG(1, 2)))
	all := make(Script, 0, calls+perKey)
	for key := 0; len(all) < calls; key++ {
		all = append(all, madeUp(d, perKey, fmt.Sprint(key))...)
	}
	h := all.History()
	all = nil
	runtime.GC()
	for b.Loop() {
		if r := w.Check(b.Context(), h); r.Verdict != check.OK {
			b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, Details(r))
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys-memory.HeapReleased)/(1<<20), "MiB")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
}
