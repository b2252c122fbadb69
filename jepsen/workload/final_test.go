package workload

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/history"
)

func TestFinalReadsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		var read []string
		failures := 3
		err := finalReads(t.Context(), []string{"a", "b"}, func(key string) error {
			if failures--; failures >= 0 {
				return away
			}
			read = append(read, key)
			return nil
		})
		if err != nil || !slices.Equal(read, []string{"a", "b"}) {
			t.Errorf("read %v, %v", read, err)
		}
		tries := 0
		never := func(string) error { tries++; return away }
		if err := finalReads(t.Context(), []string{"a"}, never); !errors.Is(err, away) || tries != finalTries {
			t.Errorf("%d tries, %v", tries, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tries = 0
		if err := finalReads(ctx, []string{"a"}, never); !errors.Is(err, away) || tries != 1 {
			t.Errorf("%d tries after the end, %v", tries, err)
		}
	})
}

// Every workload's reads go through finalReads: with nobody there, the first
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
				defer record.Close() //nolint:errcheck // it is read by nobody
				c, err := client.Dial(client.Options{Endpoints: []string{"127.0.0.1:1"}})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close() //nolint:errcheck // as above
				p := &Process{Client: c, Rand: rand.New(rand.NewPCG(1, 1)), Scope: "s", Workload: name, Record: record}
				ctx, cancel := context.WithTimeout(t.Context(), 2*callMax)
				defer cancel()
				w.Run(ctx, p) // hands out keys
				var tries atomic.Int64
				record.Watch(func(history.Op) { tries.Add(1) })
				if err := w.Final(t.Context(), p); agent.CodeOf(err) != agent.CodeUnavailable || tries.Load() != finalTries {
					t.Errorf("%d tries, %v", tries.Load(), err)
				}
			})
		})
	}
}
