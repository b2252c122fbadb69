package grpc

import (
	"context"
	"sync"
	"time"
)

// windowLength is by how much a call on a stream may outlive its deadline. Calls whose deadlines
// are in the same window share one context and one timer; separate ones would cost more than the
// rest of the call.
const windowLength = 20 * time.Millisecond

// windows provides the contexts of one stream's calls.
type windows struct {
	parent context.Context //nolint:containedctx // the stream's
	expire func(*window)   // called when a window ends

	mu     sync.Mutex
	start  time.Time
	open   map[int64]*window // guarded by mu; by end, in windowLengths since start
	closed bool              // guarded by mu
}

type window struct {
	ctx    context.Context //nolint:containedctx // of the calls in the window
	cancel context.CancelFunc
	stop   func() bool
}

func newWindows(parent context.Context, expire func(*window)) *windows {
	return &windows{parent: parent, expire: expire, start: time.Now(), open: map[int64]*window{}}
}

// at returns the window that ends timeout from now, or a little later.
func (s *windows) at(timeout time.Duration) *window {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := int64(time.Since(s.start)+timeout)/int64(windowLength) + 1
	if w := s.open[end]; w != nil {
		return w
	}
	w := &window{}
	w.ctx, w.cancel = context.WithDeadline(s.parent, s.start.Add(time.Duration(end)*windowLength))
	w.stop = context.AfterFunc(w.ctx, func() {
		s.mu.Lock()
		delete(s.open, end)
		s.mu.Unlock()
		w.cancel()
		s.expire(w)
	})
	if s.closed {
		w.cancel()
		return w
	}
	s.open[end] = w
	return w
}

// close ends all windows. It may be called again.
func (s *windows) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for end, w := range s.open {
		delete(s.open, end)
		w.stop()
		w.cancel()
	}
}
