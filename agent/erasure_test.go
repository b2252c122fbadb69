package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

func TestAnErasureIsAwaitedUntilItIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		look := func(context.Context) (*agent.Erasure, error) {
			looks++
			receipt := &agent.Erasure{Agent: "a", Threads: uint64(looks)}
			if looks == 3 {
				receipt.CompletedAt = 1
			}
			return receipt, nil
		}
		receipt, err := agent.AwaitErasure(t.Context(), &agent.Erasure{Agent: "a"}, look)
		if err != nil || looks != 3 || receipt.Threads != 3 {
			t.Errorf("after %d looks: %+v, %v", looks, receipt, err)
		}
		if again, err := agent.AwaitErasure(t.Context(), receipt, look); err != nil || looks != 3 || again != receipt {
			t.Errorf("what is complete is looked at: %+v, %v", again, err)
		}
	})
}

// The agent is erased even if waiting fails, so the receipt is returned with the
// error.
func TestTheReceiptComesWithWhatEndsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		looks := uint64(0)
		receipt, err := agent.AwaitErasure(ctx, &agent.Erasure{Agent: "a"}, func(context.Context) (*agent.Erasure, error) {
			looks++
			return &agent.Erasure{Agent: "a", Threads: looks}, nil
		})
		if agent.CodeOf(err) != agent.CodeUnavailable || receipt == nil || receipt.Threads != looks || time.Since(begun) != time.Minute {
			t.Errorf("never complete: %+v after %d looks, %v", receipt, looks, err)
		}
		if looks < 50 || looks > 80 { // once a second, after the interval has grown
			t.Errorf("%d looks in a minute", looks)
		}
		gone := errors.New("gone")
		receipt, err = agent.AwaitErasure(t.Context(), &agent.Erasure{Agent: "a", Index: 7}, func(context.Context) (*agent.Erasure, error) { return nil, gone })
		if !errors.Is(err, gone) || receipt == nil || receipt.Index != 7 {
			t.Errorf("a look that fails: %+v, %v", receipt, err)
		}
	})
}
