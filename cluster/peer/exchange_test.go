package peer_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/cluster/peer"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

// leader answers streams of forwarded commits as a test says.
type leader struct {
	apipb.UnimplementedStoreServer
	serve func(apipb.Store_ExchangeServer) error
}

func (l leader) Exchange(s apipb.Store_ExchangeServer) error { return l.serve(s) }

// poolTo returns a pool that connects every address to a server with that handler;
// nil means that no server listens.
func poolTo(t *testing.T, serve func(apipb.Store_ExchangeServer) error) *peer.Pool {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	if serve != nil {
		server := grpc.NewServer()
		apipb.RegisterStoreServer(server, leader{serve: serve})
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(listener) }()
		t.Cleanup(func() {
			server.Stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	pool := peer.NewPool(func(ctx context.Context, _ string) (net.Conn, error) {
		if serve == nil {
			return nil, errors.New("nobody listens")
		}
		return listener.DialContext(ctx)
	})
	t.Cleanup(pool.Close)
	return pool
}

// forward sends one commit and waits for what came of it.
func forward(t *testing.T, pool *peer.Pool) <-chan error {
	t.Helper()
	c := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	settled := make(chan error, 2) // a second answer would be a fault, and is looked for
	pool.Submit(t.Context(), "leader", c, func(_ agent.Result, err error) { settled <- err })
	return settled
}

// take reads one frame and returns its calls.
func take(s apipb.Store_ExchangeServer) ([]*apipb.Call, error) {
	frame, err := s.Recv()
	return frame.GetCalls(), err
}

func TestACommitThatNoNodeAcceptedIsNotApplied(t *testing.T) {
	if err := <-forward(t, poolTo(t, nil)); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("%v, want unavailable", err)
	}
}

// The leader learns how long the caller waits, so that it does not send a commit after its caller gave up.
func TestAForwardedCommitTellsHowLongItsCallerWaits(t *testing.T) {
	told := make(chan uint64, 1)
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		for {
			calls, err := take(s)
			if err != nil {
				return err
			}
			for _, call := range calls {
				told <- call.GetTimeoutMs()
			}
		}
	})
	c := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pool.Submit(ctx, "leader", c, func(agent.Result, error) {})
	if ms := <-told; ms == 0 || ms > 60_000 {
		t.Errorf("a caller that waits for a minute: %d ms", ms)
	}
	pool.Submit(t.Context(), "leader", c, func(agent.Result, error) {})
	if ms := <-told; ms != 0 {
		t.Errorf("a caller without a deadline: %d ms", ms)
	}
}

func TestACommitThatWasSentBeforeTheStreamBrokeIsUnknown(t *testing.T) {
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		if _, err := take(s); err != nil {
			return err
		}
		return errors.New("the leader died")
	})
	for range 3 { // each on a stream of its own
		settled := forward(t, pool)
		if err := <-settled; agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("%v, want unknown", err)
		}
		if len(settled) != 0 {
			t.Error("answered twice")
		}
	}
}

func TestAStreamThatEndsLeavesSentCommitsUnknown(t *testing.T) {
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		_, err := take(s)
		return err
	})
	if err := <-forward(t, pool); agent.CodeOf(err) != agent.CodeUnknown {
		t.Errorf("%v, want unknown", err)
	}
}

func TestAClosedPoolEndsCallsInFlight(t *testing.T) {
	taken := make(chan struct{})
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		if _, err := take(s); err != nil {
			return err
		}
		close(taken)
		<-s.Context().Done()
		return nil
	})
	settled := forward(t, pool)
	<-taken
	pool.Close()
	if err := <-settled; agent.CodeOf(err) != agent.CodeUnknown {
		t.Errorf("%v, want unknown", err)
	}
	if err := <-forward(t, pool); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("after it was closed: %v, want unavailable", err)
	}
}

func TestARefusalAndAnAnswerOfAnotherKindAreToldApart(t *testing.T) {
	kinds := make(chan func(id uint64) *apipb.Reply, 1)
	pool := poolTo(t, func(s apipb.Store_ExchangeServer) error {
		for {
			calls, err := take(s)
			if err != nil {
				return err
			}
			reply := (<-kinds)(calls[0].Id)
			if err := s.Send(&apipb.Replies{Replies: []*apipb.Reply{{Id: reply.Id + 100}, reply}}); err != nil {
				return err
			}
		}
	})
	kinds <- func(id uint64) *apipb.Reply {
		return &apipb.Reply{Id: id, Reply: &apipb.Reply_Error{Error: &oppb.Error{Code: string(agent.CodeConflict), Final: true}}}
	}
	var refusal *agent.Error
	if err := <-forward(t, pool); !errors.As(err, &refusal) || refusal.Code != agent.CodeConflict || !refusal.Final {
		t.Errorf("%v, want a final conflict", err)
	}
	kinds <- func(id uint64) *apipb.Reply { return &apipb.Reply{Id: id} }
	if err := <-forward(t, pool); agent.CodeOf(err) != agent.CodeUnknown {
		t.Errorf("an answer that says nothing: %v, want unknown", err)
	}
}
