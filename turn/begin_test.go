package turn_test

import (
	"context"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/turn"
)

// blind is a service whose next reads fail.
type blind struct {
	agent.Service
	reads int
}

func (b *blind) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if b.reads > 0 {
		b.reads--
		return agent.Answers{}, agent.Errorf(agent.CodeUnavailable, "no linearizable read now")
	}
	return b.Service.Read(ctx, r)
}

// A turn that has its lease, and cannot read its session during an election, begins after it. It
// leaves no session behind that runs without a runner.
func TestATurnBeginsAlthoughReadsFail(t *testing.T) {
	sim(t, func(k *kit) {
		service := &blind{Service: k.service, reads: 3}
		k.runner.Service = service
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(*turn.Turn) error { return nil })
		if err != nil || row.Status != agent.SessionFinished {
			k.Fatalf("%s, %v", row.Status, err)
		}
		service.reads = 1 << 30
		ctx, cancel := context.WithTimeout(k.Context(), 2*ttl)
		defer cancel()
		_, err = k.runner.Turn(ctx, "s", request("r2"), func(*turn.Turn) error { return nil })
		if agent.CodeOf(err) != agent.CodeUnknown {
			k.Errorf("the session runs, and its turn ends with %v", err)
		}
		k.expectStatus(agent.SessionRunning)
		time.Sleep(ttl + time.Second)
		service.reads = 0
		if row, err := k.runner.Recover(k.Context(), "s", func(*turn.Turn) error { return nil }); err != nil || row.Status != agent.SessionFinished {
			k.Errorf("%s, %v", row.Status, err)
		}
	})
}
