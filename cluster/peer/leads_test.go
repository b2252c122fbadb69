package peer_test

import (
	"testing"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// What was sent to a node that leads no more, and is not answered, is unknown
// soon after; the stream to the one that leads goes on.
func TestACommitThatWasSentToWhoLeadsNoMoreIsUnknown(t *testing.T) {
	came := make(chan uint64, 2)
	answer := make(chan uint64)
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		for {
			calls, err := take(s)
			if err != nil {
				return err
			}
			came <- calls[0].Id
			select {
			case id := <-answer:
				refusal := &apipb.Error{Code: string(agent.CodeConflict), Final: true}
				if err := s.Send(&apipb.Replies{Replies: []*apipb.Reply{{Id: id, Reply: &apipb.Reply_Error{Error: refusal}}}}); err != nil {
					return err
				}
			case <-s.Context().Done():
				return nil
			}
		}
	})
	pool.Leads("leader")
	settled := forward(t, pool)
	first := <-came
	pool.Leads("leader") // still
	answer <- first
	if err := <-settled; agent.CodeOf(err) != agent.CodeConflict {
		t.Errorf("to who leads: %v", err)
	}
	settled = forward(t, pool)
	<-came
	pool.Leads("another")
	if err := <-settled; agent.CodeOf(err) != agent.CodeUnknown {
		t.Errorf("to who led: %v, want unknown", err)
	}
	settled = forward(t, pool) // it may be told of the change before this node is
	answer <- <-came
	if err := <-settled; agent.CodeOf(err) != agent.CodeConflict {
		t.Errorf("to who led, after the change: %v", err)
	}
}
