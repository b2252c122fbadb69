package turn_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"dormouse/agent"
	"dormouse/node/nodetest"
	"dormouse/turn"
)

// BenchmarkTurn measures a whole turn, from its claim to its last commit, on
// one node without a disk.
func BenchmarkTurn(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for name, f := range map[string]turn.Func{
			"empty": func(*turn.Turn) error { return nil },
			"entry": func(t *turn.Turn) error {
				t.Commit(&agent.AppendThread{Thread: t.Session().Thread, Entries: []agent.Draft{{Kind: agent.KindMessage}}})
				return nil
			},
			"effect": func(t *turn.Turn) error {
				_, err := t.Effect(turn.Effect{ID: "e", Name: "act", Class: turn.Pure}, func(context.Context, turn.Call) (agent.JSON, error) {
					return agent.JSON(`1`), nil
				})
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) { runTurns(b, callers, f) })
		}
	}
}

func runTurns(b *testing.B, callers int, f turn.Func) {
	b.Helper()
	n := nodetest.Start(b)
	r := turn.Runner{Service: n, Owner: "bench"}
	for i := range callers {
		s := fmt.Sprint("s", i)
		if _, err := n.StartSession(b.Context(), agent.PutSession{Session: s, Agent: "a", SessionSettings: agent.SessionSettings{Thread: s}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			for {
				turn := left.Add(-1)
				if turn < 0 {
					return
				}
				if _, err := r.Turn(b.Context(), fmt.Sprint("s", i), agent.SessionRequest{ID: fmt.Sprint("r", turn)}, f); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
}
