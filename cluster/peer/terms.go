package peer

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/internal/framed"
	peerpb "dormouse/proto/peer"
)

// termsWaitingMax bounds the requests to a peer that does not answer. A leader does
// some thousand rounds a second, and waits up to 250 ms for each.
const termsWaitingMax = 1024

// Terms implements peerpb.PeerServer.
func (s server) Terms(stream peerpb.Peer_TermsServer) error {
	for {
		if _, err := stream.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		node, term := s.node.Term()
		if err := stream.Send(&peerpb.TermResponse{Node: node, Term: term}); err != nil {
			return err
		}
	}
}

// TermsIn returns the name of the stream of requests for terms, and its handler. A server
// whose port takes frames serves it in frames too.
func TermsIn(node Node) (method string, serve func(grpc.ServerStream) error) {
	return peerpb.Peer_Terms_FullMethodName, func(s grpc.ServerStream) error {
		return server{node: node}.Terms(&grpc.GenericServerStream[peerpb.TermRequest, peerpb.TermResponse]{ServerStream: s})
	}
}

// openTerms opens a stream of requests for terms: over frames, or over gRPC with a node
// that does not know them, or not for this stream.
func (p *Pool) openTerms(ctx context.Context, l *link) (peerpb.Peer_TermsClient, error) {
	frames, err := p.frames(ctx, l, peerpb.Peer_Terms_FullMethodName)
	if err == nil {
		stream := &grpc.GenericClientStream[peerpb.TermRequest, peerpb.TermResponse]{ClientStream: frames}
		if err = stream.Send(&peerpb.TermRequest{}); err == nil || errors.Is(err, io.EOF) {
			_, err = stream.Recv() // the request only shows that the node knows the stream
		}
		if err == nil {
			return stream, nil
		}
	}
	if errors.Is(err, framed.ErrOther) || status.Code(err) == codes.Unimplemented {
		return l.peer.Terms(ctx)
	}
	return nil, err
}

// Term implements membership.Peers.
func (p *Pool) Term(addr string, done func(node string, term uint64, err error)) {
	l, err := p.link(addr)
	if err != nil {
		done("", 0, err)
		return
	}
	p.termsOf(l).ask(done)
}

// termsOf returns the link's stream of requests for terms. It opens the stream on
// first use, and again once it has broken.
func (p *Pool) termsOf(l *link) *terms {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terms == nil || l.terms.ended() {
		l.terms = &terms{wake: make(chan struct{}, 1), broken: p.ctx.Err()}
		if l.terms.broken != nil {
			return l.terms
		}
		t := l.terms
		p.wg.Go(func() {
			t.run(p.ctx, func(ctx context.Context) (peerpb.Peer_TermsClient, error) { return p.openTerms(ctx, l) })
		})
	}
	return l.terms
}

// terms asks one peer for its term, one request at a time. Callers that ask during a
// request share the next one.
type terms struct {
	wake chan struct{} // capacity 1: a caller waits

	mu      sync.Mutex
	broken  error                                       // why the stream ended; nil while it lives. Guarded by mu
	waiting []func(node string, term uint64, err error) // guarded by mu
}

func (t *terms) ask(done func(node string, term uint64, err error)) {
	t.mu.Lock()
	err := t.broken
	if err == nil && len(t.waiting) >= termsWaitingMax {
		err = agent.Errorf(agent.CodeUnavailable, "the peer does not answer")
	}
	if err == nil {
		t.waiting = append(t.waiting, done)
	}
	t.mu.Unlock()
	if err != nil {
		done("", 0, err)
		return
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// run sends requests until the stream breaks or ctx ends.
func (t *terms) run(ctx context.Context, open func(context.Context) (peerpb.Peer_TermsClient, error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := open(ctx)
	for err == nil {
		select {
		case <-t.wake:
			err = t.exchange(stream)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	t.mu.Lock()
	t.broken = err
	t.mu.Unlock()
	for _, done := range t.take() {
		done("", 0, err)
	}
}

// exchange sends one request for all callers that wait.
func (t *terms) exchange(stream peerpb.Peer_TermsClient) error {
	asking := t.take()
	var answer peerpb.TermResponse
	err := stream.Send(&peerpb.TermRequest{})
	if err == nil {
		err = stream.RecvMsg(&answer)
	}
	for _, done := range asking {
		done(answer.Node, answer.Term, err)
	}
	return err
}

func (t *terms) take() []func(node string, term uint64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.waiting
	t.waiting = nil
	return waiting
}

func (t *terms) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken != nil
}
