package peer_test

import (
	"testing"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

// What was sent to a node that leads no more, and is not answered, is unknown
// soon after; the stream to the one that leads goes on.
func TestACommitSentToAFormerLeaderIsUnknown(t *testing.T) {
	// Each call brings a channel of its own: the server's end of a stream that was
	// given up may still be there when the next one's call comes.
	came := make(chan chan struct{}, 2)
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		for {
			calls, err := take(s)
			if err != nil {
				return err
			}
			answer := make(chan struct{})
			came <- answer
			select {
			case <-answer:
				refusal := &oppb.Error{Code: string(agent.CodeConflict), Final: true}
				if err := s.Send(&apipb.Replies{Replies: []*apipb.Reply{{Id: calls[0].Id, Reply: &apipb.Reply_Error{Error: refusal}}}}); err != nil {
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
	close(first)
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
	close(<-came)
	if err := <-settled; agent.CodeOf(err) != agent.CodeConflict {
		t.Errorf("to who led, after the change: %v", err)
	}
}
