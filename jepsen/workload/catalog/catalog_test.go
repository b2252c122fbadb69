package catalog

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Every workload's reads go through workload.FinalReads: without a cluster, the first
// key is asked for as often as it may be, and the error says which it was.
func TestNoWorkloadGivesItsFinalReadsUpAtTheFirstError(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, err := New(name)
				if err != nil {
					t.Fatal(err)
				}
				record, err := history.Create(filepath.Join(t.TempDir(), "history"), history.Header{})
				if err != nil {
					t.Fatal(err)
				}
				defer record.Close() //nolint:errcheck // nothing reads it
				c, err := client.Dial(client.Options{Endpoints: []string{"127.0.0.1:1"}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close() //nolint:errcheck // as above
				p := &workload.Process{Client: workload.GoClient{Client: c}, Rand: rand.New(rand.NewPCG(1, 1)), Scope: "s", Workload: name, Record: record}
				ctx, cancel := context.WithTimeout(t.Context(), 2*workload.CallMax)
				defer cancel()
				w.Run(ctx, p) // hands out keys
				var tries atomic.Int64
				record.Watch(func(history.Op) { tries.Add(1) })
				if err := w.Final(t.Context(), p); agent.CodeOf(err) != agent.CodeUnavailable || tries.Load() == 0 || tries.Load()%workload.FinalTries != 0 { // of each key
					t.Errorf("%d tries, %v", tries.Load(), err)
				}
			})
		})
	}
}
