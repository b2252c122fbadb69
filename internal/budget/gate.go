package budget

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Gate bounds the memory of work whose result is not counted yet.
type Gate struct{ room *semaphore.Weighted }

// NewGate returns a Gate for work of size at once.
func NewGate(size int64) *Gate { return &Gate{semaphore.NewWeighted(size)} }

// Work is a call that keeps what it took of a Gate until its caller has counted the result.
type Work struct {
	pool   *Pool // from which its result will be taken
	caller string

	mu    sync.Mutex
	leave func() // guarded by mu; nil if nothing was taken
	done  bool   // guarded by mu
}

type workKey struct{}

// ErrFull means that there would be no room for the result of work.
var ErrFull = errors.New("too many bytes are in flight")

// WithWork returns a context for a call, and its Work. The caller takes the result from the pool, and
// then calls Done.
func WithWork(ctx context.Context, pool *Pool, caller string) (context.Context, *Work) {
	w := &Work{pool: pool, caller: caller}
	return context.WithValue(ctx, workKey{}, w), w
}

// Done gives back what the work took.
func (w *Work) Done() {
	w.mu.Lock()
	leave := w.leave
	w.leave, w.done = nil, true
	w.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// keep makes Done call leave. It returns false if the work is done.
func (w *Work) keep(leave func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.leave = leave
	}
	return !w.done
}

// holds reports whether the work has taken something.
func (w *Work) holds() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leave != nil
}

// Enter waits for room of n, which must fit the gate. The caller calls leave when the work ends. If
// ctx has a Work, that keeps the room until it is done, and leave does nothing. The error is ErrFull
// if the pool of the Work has no room for n.
func (g *Gate) Enter(ctx context.Context, n int64) (leave func(), err error) {
	w, _ := ctx.Value(workKey{}).(*Work)
	if w != nil && w.holds() {
		return func() {}, nil
	}
	if err := g.room.Acquire(ctx, n); err != nil {
		return nil, err //nolint:wrapcheck // of ctx
	}
	leave = func() { g.room.Release(n) }
	if w != nil && !w.pool.Fits(w.caller, n) {
		leave()
		return nil, ErrFull
	}
	if w != nil && w.keep(leave) {
		return func() {}, nil
	}
	return leave, nil
}
