package peer_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/cluster/peer"
)

// voter answers for its term alone.
type voter struct {
	peer.Node
	term atomic.Uint64
}

func (v *voter) Term() (string, uint64) { return "n2", v.term.Load() }

// termAnswer is what a question for a term came to.
type termAnswer struct {
	node string
	term uint64
	err  error
}

func TestTermsAreAskedForAsOftenAsOneLikes(t *testing.T) {
	v := &voter{}
	listener, server := bufconn.Listen(1<<20), grpc.NewServer()
	peer.Register(server, v)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	pool := peer.NewPool(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	t.Cleanup(pool.Close)
	answers := make(chan termAnswer, 16)
	ask := func() {
		pool.Term("n2:1", func(node string, term uint64, err error) { answers <- termAnswer{node, term, err} })
	}
	for term := uint64(1); term <= 50; term++ {
		v.term.Store(term)
		ask()
		if a := <-answers; a != (termAnswer{"n2", term, nil}) { // one of the question before would be older
			t.Fatalf("in term %d it answers %+v", term, a)
		}
	}
	for range 10 {
		ask()
	}
	for range 10 {
		if a := <-answers; a != (termAnswer{"n2", 50, nil}) {
			t.Errorf("asked many times at once, it answers %+v", a)
		}
	}
	server.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for range 3 { // on the stream that has ended, and on the next one
		ask()
		if a := <-answers; a.err == nil {
			t.Errorf("a server that is gone answers %+v", a)
		}
	}
	pool.Close()
	ask()
	if a := <-answers; a.err == nil {
		t.Errorf("a pool that is closed answers %+v", a)
	}
}
