package peer_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/cluster/peer"
	"dormouse/internal/framed"
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

// port hands the connections that carry frames to serve, and the others to gRPC.
type port struct {
	net.Listener
	serve map[string]func(grpc.ServerStream) error
	work  *sync.WaitGroup
}

func (p port) Accept() (net.Conn, error) {
	for {
		raw, err := p.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // gRPC looks at it
		}
		conn, err := framed.Peek(raw)
		if err != nil || !conn.Framed {
			return conn, err //nolint:wrapcheck // gRPC looks at it
		}
		s, err := framed.Accept(context.Background(), conn, framed.ServerOptions{MessageMax: 1 << 20})
		if err != nil {
			return nil, err //nolint:wrapcheck // it fails the test
		}
		p.work.Go(func() {
			if serve := p.serve[s.Method()]; serve != nil {
				s.End(serve(s))
				return
			}
			s.End(status.Error(codes.Unimplemented, "not in frames"))
		})
	}
}

func TestATermCanBeAskedForRepeatedly(t *testing.T) {
	v := &voter{}
	method, serve := peer.TermsIn(v)
	inFrames := 0
	counted := func(s grpc.ServerStream) error { inFrames++; return serve(s) }
	for name, c := range map[string]struct {
		frames map[string]func(grpc.ServerStream) error
		opened int // streams in frames
	}{
		"in frames":             {map[string]func(grpc.ServerStream) error{method: counted}, 1},
		"over gRPC":             {nil, 0},
		"to an earlier version": {map[string]func(grpc.ServerStream) error{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inFrames = 0
			asksForTerms(t, v, c.frames)
			if inFrames != c.opened {
				t.Errorf("%d streams were opened in frames, not %d", inFrames, c.opened)
			}
		})
	}
}

// asksForTerms asks a voter whose port serves those streams in frames; nil means that it knows no
// frames.
func asksForTerms(t *testing.T, v *voter, frames map[string]func(grpc.ServerStream) error) {
	t.Helper()
	var work sync.WaitGroup
	inMemory, server := bufconn.Listen(1<<20), grpc.NewServer()
	var listener net.Listener = inMemory
	if frames != nil {
		listener = port{inMemory, frames, &work}
	}
	peer.Register(server, v)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	pool := peer.NewPool(func(ctx context.Context, _ string) (net.Conn, error) { return inMemory.DialContext(ctx) })
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
	if frames != nil { // the streams in frames end with their clients
		pool.Close()
		work.Wait()
	}
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
