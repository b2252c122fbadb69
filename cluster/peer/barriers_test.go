package peer_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/cluster/peer"
	peerpb "dormouse/proto/peer"
)

// indexed answers requests for read indexes as a test says.
type indexed struct {
	peer.Node
	barrier func(ctx context.Context, term, applied uint64) (uint64, error)
}

func (n indexed) BarrierFor(ctx context.Context, _ string, term, applied uint64) (uint64, error) {
	return n.barrier(ctx, term, applied)
}

// serve returns a pool that connects every address to a server, and how many streams and how many calls were begun.
func serve(t *testing.T, register func(*grpc.Server)) (pool *peer.Pool, streams, calls *atomic.Int64) {
	t.Helper()
	streams, calls = new(atomic.Int64), new(atomic.Int64)
	listener, server := bufconn.Listen(1<<20), grpc.NewServer(
		grpc.ChainStreamInterceptor(func(s any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			streams.Add(1)
			return handle(s, stream)
		}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			calls.Add(1)
			return handle(ctx, r)
		}),
	)
	register(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	pool = peer.NewPool(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	t.Cleanup(pool.Close)
	return pool, streams, calls
}

func TestRequestsForReadIndexesShareAStream(t *testing.T) {
	n := indexed{barrier: func(_ context.Context, term, applied uint64) (uint64, error) {
		if term == 13 {
			return 0, agent.Errorf(agent.CodeUnavailable, "no leader")
		}
		return term*1000 + applied, nil
	}}
	pool, streams, calls := serve(t, func(s *grpc.Server) { peer.Register(s, n) })
	var term uint64 // each request carries the term that this node is in when it is sent
	pool.VotingTerm = func() uint64 { term++; return term }
	for i := uint64(1); i <= 12; i++ {
		if index, err := pool.Barrier(t.Context(), "n1", 7); err != nil || index != i*1000+7 {
			t.Fatalf("in term %d: index %d, %v", i, index, err)
		}
	}
	if streams.Load() != 1 || calls.Load() != 0 {
		t.Errorf("12 requests took %d streams and %d calls", streams.Load(), calls.Load())
	}
	if _, err := pool.Barrier(t.Context(), "n1", 0); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("a refusal is %v", err)
	}
	if index, err := pool.Barrier(t.Context(), "n1", 0); err != nil || index != 14000 {
		t.Errorf("after a refusal: index %d, %v", index, err)
	}
}

// An answer that no caller waits for any more is not taken for the answer to the next request.
func TestARequestThatEndsTakesItsStreamAlong(t *testing.T) {
	release := make(chan struct{})
	n := indexed{barrier: func(ctx context.Context, _, applied uint64) (uint64, error) {
		if applied == 1 {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return applied, nil
	}}
	pool, _, _ := serve(t, func(s *grpc.Server) { peer.Register(s, n) })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if index, err := pool.Barrier(ctx, "n1", 1); err == nil {
		t.Errorf("a request without an answer returns %d", index)
	}
	close(release)
	if index, err := pool.Barrier(t.Context(), "n1", 2); err != nil || index != 2 {
		t.Errorf("the next request returns %d, %v", index, err)
	}
}

// before is a leader of a version without streams of requests.
type before struct{ peerpb.UnimplementedPeerServer }

func (before) Barrier(_ context.Context, r *peerpb.BarrierRequest) (*peerpb.BarrierResponse, error) {
	return &peerpb.BarrierResponse{Index: r.Applied + 1}, nil
}

func TestALeaderOfAnEarlierVersionIsCalled(t *testing.T) {
	pool, _, calls := serve(t, func(s *grpc.Server) { peerpb.RegisterPeerServer(s, before{}) })
	for applied := uint64(1); applied <= 3; applied++ {
		if index, err := pool.Barrier(t.Context(), "n1", applied); err != nil || index != applied+1 {
			t.Errorf("index %d, %v", index, err)
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
}
