package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	apipb "dormouse/proto/api"
)

// errSilent ends calls to a node that does not answer any more.
var errSilent = errors.New("the node does not answer")

// lookout finds nodes that have vanished without a word: their connections stay open, and
// nothing comes back. It asks a node that owes an answer for a while whether it still
// answers, with a call that every node answers at once, whatever the cluster's state is.
// All that wait on a connection share its calls. Connections to the same address are asked
// apart: behind a balancer they lead to different nodes. It may be used concurrently.
type lookout struct {
	ctx     context.Context //nolint:containedctx // the pool's: ends at close
	silence time.Duration   // without an answer, before the node is asked, and between two calls
	asking  singleflight.Group

	mu       sync.Mutex
	answered map[*grpc.ClientConn]time.Time // :: connection → its last answer; guarded by mu
}

func newLookout(ctx context.Context, silence time.Duration) *lookout {
	return &lookout{ctx: ctx, silence: silence, answered: map[*grpc.ClientConn]time.Time{}}
}

// answers reports whether the node at conn answers within the silence, or has answered
// that recently, or ctx ends before that is known.
func (o *lookout) answers(ctx context.Context, conn *grpc.ClientConn) bool {
	o.mu.Lock()
	last, known := o.answered[conn]
	o.mu.Unlock()
	if known && time.Since(last) < o.silence/2 {
		return true
	}
	asked := o.asking.DoChan(fmt.Sprintf("%p", conn), func() (any, error) {
		ctx, cancel := context.WithTimeout(o.ctx, o.silence)
		defer cancel()
		_, err := apipb.NewClusterClient(conn).WhoAmI(ctx, &apipb.WhoAmIRequest{})
		if status.Code(err) == codes.DeadlineExceeded {
			return false, nil
		}
		o.mu.Lock() // any answer will do, also a refusal; a broken connection ends its calls itself
		defer o.mu.Unlock()
		if len(o.answered) > 2*endpointsMax { // many are closed
			clear(o.answered)
		}
		o.answered[conn] = time.Now()
		return true, nil
	})
	select {
	case answer := <-asked:
		return answer.Val.(bool) //nolint:forcetypeassert // see above
	case <-ctx.Done():
		return true
	}
}

// untilSilent ends a call with errSilent once the node at conn does not answer. It returns
// when ctx, the call's, ends.
func (o *lookout) untilSilent(ctx context.Context, conn *grpc.ClientConn, end context.CancelCauseFunc) {
	wait := time.NewTimer(o.silence)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
		case <-ctx.Done():
			return
		}
		if !o.answers(ctx, conn) {
			end(errSilent)
			return
		}
		wait.Reset(o.silence)
	}
}

// look ends a link that has been silent since then, if its node does not answer: its calls
// are sent to other nodes. It returns at once.
func (p *pool) look(l *link, since time.Time) {
	if !l.beginLook(since, p.o.Silence) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.work.Go(func() {
		defer l.endLook()
		if p.lookout.answers(p.ctx, l.conn) {
			return
		}
		if l.stalled(since, p.o.Silence) {
			p.o.Logger.Debug("the node does not answer", "endpoint", l.addr)
			p.markUnhealthy(l)
		}
	})
}

// beginLook reports whether the link has been silent since then and no look is under way.
func (l *link) beginLook(since time.Time, silence time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken || l.looking || !l.silentLocked(since, silence) {
		return false
	}
	l.looking = true
	return true
}

func (l *link) endLook() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looking = false
}
