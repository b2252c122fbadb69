package peer

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	peerpb "dormouse/proto/peer"
)

// Barrier implements peerpb.PeerServer. Nodes of earlier versions call it.
func (s server) Barrier(ctx context.Context, r *peerpb.BarrierRequest) (*peerpb.BarrierResponse, error) {
	caller, _ := callerOf(ctx)
	index, err := s.node.BarrierFor(ctx, caller.Node, r.Term, r.Applied)
	if err != nil {
		return nil, toStatus(err)
	}
	return &peerpb.BarrierResponse{Index: index}, nil
}

// Barriers implements peerpb.PeerServer.
func (s server) Barriers(stream peerpb.Peer_BarriersServer) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := s.Barrier(stream.Context(), r)
		if err != nil {
			return err
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// barriers is a stream of requests for read indexes. It is used by one request at a
// time, and not again once one has failed.
type barriers struct {
	stream peerpb.Peer_BarriersClient
	cancel context.CancelFunc
}

// Barrier implements router.Peers. A request on a stream costs less than a call.
func (p *Pool) Barrier(ctx context.Context, addr string, applied uint64) (uint64, error) {
	l, err := p.link(addr)
	if err != nil {
		return 0, err
	}
	asked := &peerpb.BarrierRequest{Applied: applied}
	if p.VotingTerm != nil {
		asked.Term = p.VotingTerm()
	}
	answer, err := p.onStream(ctx, l, asked)
	if status.Code(err) == codes.Unimplemented { // a leader of an earlier version
		answer, err = l.peer.Barrier(ctx, asked)
	}
	if err != nil {
		return 0, fromStatus(err)
	}
	return answer.Index, nil
}

// onStream sends a request on the idle stream of the link, or on a new one: also if the idle one turns
// out to be broken.
func (p *Pool) onStream(ctx context.Context, l *link, asked *peerpb.BarrierRequest) (*peerpb.BarrierResponse, error) {
	if b := l.takeBarriers(); b != nil {
		if answer, err := b.ask(ctx, l, asked); err == nil || ctx.Err() != nil {
			return answer, err
		}
	}
	streaming, cancel := context.WithCancel(p.ctx)
	stop := context.AfterFunc(ctx, cancel) // while it waits for the connection
	stream, err := l.peer.Barriers(streaming)
	if !stop() {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return (&barriers{stream, cancel}).ask(ctx, l, asked)
}

// ask sends one request. Then it keeps the stream for the next one, or ends it.
func (b *barriers) ask(ctx context.Context, l *link, asked *peerpb.BarrierRequest) (*peerpb.BarrierResponse, error) {
	stop := context.AfterFunc(ctx, b.cancel)
	err := b.stream.Send(asked)
	var answer *peerpb.BarrierResponse
	if err == nil || errors.Is(err, io.EOF) { // Recv returns why the stream has ended
		answer, err = b.stream.Recv()
	}
	if !stop() || err != nil || !l.putBarriers(b) {
		b.cancel()
	}
	if ctx.Err() != nil && err != nil {
		err = status.FromContextError(ctx.Err()).Err()
	}
	return answer, err
}

// takeBarriers returns the idle stream, or nil.
func (l *link) takeBarriers() *barriers {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.barriers
	l.barriers = nil
	return b
}

// close closes the connection, and ends the idle stream.
func (l *link) close() {
	if b := l.takeBarriers(); b != nil {
		b.cancel()
	}
	_ = l.conn.Close() // its only error is that it was closed before
}

// putBarriers keeps an idle stream. It returns false if there is another one.
func (l *link) putBarriers(b *barriers) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.barriers != nil {
		return false
	}
	l.barriers = b
	return true
}
