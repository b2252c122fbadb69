package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/metadata"

	"dormouse/agent"
	peerpb "dormouse/proto/peer"
)

// A pool closes the connections that were not used for unusedMax, unless calls may be under way on them.
func TestAPoolClosesUnusedConnectionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(func(context.Context, string) (net.Conn, error) { return nil, errors.New("connection refused") })
		defer pool.Close()
		start := time.Now()
		at := func(addr string, when time.Time) (l *link, closed map[string]bool) {
			l, unused, err := pool.linkTo(addr, when)
			if err != nil {
				t.Fatal(err)
			}
			closed = map[string]bool{}
			for _, gone := range unused {
				closed[gone.addr] = true
				_ = gone.conn.Close()
			}
			return l, closed
		}
		for _, addr := range []string{"unused", "used again", "commits", "terms", "broken"} {
			l, _ := at(addr, start)
			switch addr {
			case "commits":
				l.exchange = idle()
			case "terms":
				l.terms = &terms{}
			case "broken":
				l.exchange, l.terms = &exchange{broken: io.EOF}, &terms{broken: io.EOF}
			}
		}
		at("used again", start.Add(time.Second))
		if _, closed := at("early", start.Add(unusedMax-1)); len(closed) != 0 {
			t.Errorf("before %s: %v", unusedMax, closed)
		}
		if _, closed := at("late", start.Add(unusedMax)); len(closed) != 2 || !closed["unused"] || !closed["broken"] {
			t.Errorf("after %s: %v", unusedMax, closed)
		}
	})
}

// indexes is a stream of requests for read indexes whose peer answers each one or is silent.
type indexes struct {
	peerpb.Peer_BarriersClient
	ctx    context.Context //nolint:containedctx // of the stream
	silent bool
}

func (s *indexes) Context() context.Context          { return s.ctx }
func (s *indexes) Header() (metadata.MD, error)      { return nil, nil }
func (s *indexes) Send(*peerpb.BarrierRequest) error { return nil }
func (s *indexes) Recv() (*peerpb.BarrierResponse, error) {
	if s.silent {
		<-s.ctx.Done()
		return nil, s.ctx.Err()
	}
	return &peerpb.BarrierResponse{Index: 7}, nil
}

// A stream of requests is kept for the next one, or ended: none is left open that no request will use.
func TestAStreamOfRequestsIsKeptOrEnded(t *testing.T) {
	open := func() *barriers {
		ctx, cancel := context.WithCancel(t.Context())
		return &barriers{&indexes{ctx: ctx}, cancel}
	}
	ended := func(b *barriers) bool { return b.stream.Context().Err() != nil }
	l, first, second := &link{}, open(), open()
	for _, b := range []*barriers{first, second} { // two requests at once
		if answer, err := b.ask(t.Context(), l, nil); err != nil || answer.Index != 7 {
			t.Fatal(answer, err)
		}
	}
	if ended(first) || !ended(second) || l.barriers != first {
		t.Errorf("the first stream has ended: %t; the second: %t", ended(first), ended(second))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late, l := open(), &link{}
	late.stream.(*indexes).silent = true //nolint:forcetypeassert // open made it
	if _, err := late.ask(ctx, l, nil); agent.CodeOf(fromStatus(err)) != agent.CodeUnavailable || !ended(late) || l.barriers != nil {
		t.Errorf("a caller that waits no more: %v, the stream has ended: %t, it is kept: %t", err, ended(late), l.barriers != nil)
	}
}

// The stream that waits for a next request ends with its connection.
func TestAnIdleStreamEndsWithItsConnection(t *testing.T) {
	pool := NewPool(func(context.Context, string) (net.Conn, error) { return nil, errors.New("connection refused") })
	defer pool.Close()
	unused, err := pool.link("unused")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	unused.barriers = &barriers{&indexes{ctx: ctx}, cancel}
	unused.used = time.Now().Add(-unusedMax)
	if _, err := pool.link("another"); err != nil || ctx.Err() == nil {
		t.Errorf("%v, the stream of an unused connection: %v", err, ctx.Err())
	}
}

// A request ends with its caller, also while the peer does not take the connection.
func TestARequestForAReadIndexEndsWithItsCaller(t *testing.T) {
	dialing := make(chan struct{}, 1)
	pool := NewPool(func(ctx context.Context, _ string) (net.Conn, error) {
		dialing <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	pool.Connect = time.Hour
	defer pool.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-dialing
		cancel()
	}()
	if index, err := pool.Barrier(ctx, "n1", 0); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("index %d, %v", index, err)
	}
}
