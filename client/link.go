package client

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// refusalWait bounds the wait for the reason why a node ends a stream.
const refusalWait = time.Second

// flight is one attempt of a call on one link.
type flight struct {
	call  *call
	link  *link
	msg   apipb.Call
	size  int
	since time.Time
	until time.Time // when the attempt ends, unless parts of long messages come or go
	due   time.Time // guarded by link.mu; when the call's tick is due
	sent  bool      // guarded by link.mu; it was, or is being, written to the stream
}

// link is an Exchange stream with the connections to its node. One goroutine writes and one
// reads the stream; both end with it.
type link struct {
	addr   string
	conn   *grpc.ClientConn                 // the first of conns
	dial   func() (*grpc.ClientConn, error) // returns another connection to the node, which connects on first use
	stream apipb.Store_ExchangeClient
	moved  func() time.Time   // returns when the last part of a long message came or went; zero if that is not known
	cancel context.CancelFunc // of the stream
	since  time.Time          // when it was made

	life context.Context //nolint:containedctx // the pool's
	wake chan struct{}   // capacity 1: queue is not empty
	used chan struct{}   // closed when the first call is queued

	mu      sync.Mutex
	broken  bool               // guarded by mu; accepts no more calls
	queue   []*flight          // guarded by mu; not sent yet
	flying  map[uint64]*flight // guarded by mu; by message id, including queued ones
	handing bool               // guarded by mu; the reader is handing replies to their callers, and wakes the writer afterwards
	nextID  uint64             // guarded by mu
	heard   time.Time          // guarded by mu; time of the last frame
	alarm   *time.Timer        // guarded by mu; calls ring; nil before the first call
	rings   time.Time          // guarded by mu; when alarm is due; zero if it is not set
	rang    time.Time          // guarded by mu; when ring last ran
	looking bool               // guarded by mu; see pool.look
	conns   []*sharedConn      // guarded by mu; of watches and unary calls. Those that are unused become idle
	users   int                // guarded by mu; watches and unary calls on conns
	retired func() bool        // guarded by mu; if set, conns are closed once they have no users. It stops the closing with the pool

	check   func() error // checks that the node belongs to the client's cluster; called at the first frame
	refusal *agent.Error // why the node refused the stream before it read any call; set before the link is gone
	others  []string     // addresses of other nodes, sent by a stopping node; set before the link is gone
}

func newLink(life context.Context, addr string, conn *grpc.ClientConn, stream apipb.Store_ExchangeClient, cancel context.CancelFunc) *link {
	return &link{
		addr: addr, conn: conn, conns: []*sharedConn{{ClientConn: conn}}, stream: stream, moved: func() time.Time { return time.Time{} }, cancel: cancel, since: time.Now(), life: life,
		wake: make(chan struct{}, 1), used: make(chan struct{}), flying: map[uint64]*flight{}, heard: time.Now(),
	}
}

// enqueue queues f for sending, and wakes its call when it is due; it returns false if the
// link is broken.
func (l *link) enqueue(f *flight, due time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return false
	}
	if l.nextID == 0 {
		close(l.used)
	}
	l.nextID++
	f.msg.Id = l.nextID
	l.flying[f.msg.Id] = f
	l.queue = append(l.queue, f)
	l.wakeAtLocked(f, due)
	if len(l.queue) == 1 && !l.handing {
		l.nudge()
	}
	return true
}

// nudge wakes the writer.
func (l *link) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// ringEvery is the least time between two alarms: each looks at all flights.
const ringEvery = 10 * time.Millisecond

// wakeAt ticks the call of f when it is due, or up to ringEvery later. The flights of a
// link share a timer: nearly all are answered before they are due, and a timer for each
// would cost more than the rest of the client's work for it.
func (l *link) wakeAt(f *flight, due time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flying[f.msg.Id] == f {
		l.wakeAtLocked(f, due)
	}
}

func (l *link) wakeAtLocked(f *flight, due time.Time) {
	f.due = due
	if l.rings.IsZero() || due.Before(l.rings) {
		l.setAlarm(due)
	}
}

// setAlarm sets the alarm. mu is held.
func (l *link) setAlarm(at time.Time) {
	if soonest := l.rang.Add(ringEvery); at.Before(soonest) {
		at = soonest
	}
	if at.Equal(l.rings) {
		return
	}
	l.rings = at
	if l.alarm == nil {
		l.alarm = time.AfterFunc(time.Until(at), l.ring)
		return
	}
	l.alarm.Reset(time.Until(at))
}

// ring ticks the calls that are due, in the order in which they were sent.
func (l *link) ring() {
	var due []*flight
	var next time.Time
	l.mu.Lock()
	now := time.Now()
	l.rang, l.rings = now, time.Time{}
	for _, f := range l.flying {
		if !f.due.After(now) {
			due = append(due, f)
		} else if next.IsZero() || f.due.Before(next) {
			next = f.due
		}
	}
	if !next.IsZero() {
		l.setAlarm(next)
	}
	l.mu.Unlock()
	slices.SortFunc(due, func(a, b *flight) int { return cmp.Compare(a.msg.Id, b.msg.Id) })
	for _, f := range due {
		f.call.tick()
	}
}

// drop removes f and reports whether it was sent; if not, it never will be.
func (l *link) drop(f *flight) (sent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flying[f.msg.Id] == f {
		delete(l.flying, f.msg.Id)
	}
	return f.sent
}

// stalled breaks a link that has been silent since an attempt that timed out, so that
// its other calls need not time out as well. It reports whether the link was silent.
func (l *link) stalled(since time.Time, silence time.Duration) bool {
	l.mu.Lock()
	silent := l.silentLocked(since, silence)
	l.mu.Unlock()
	if silent {
		l.cancel()
	}
	return silent
}

// silentLocked reports whether no message came since then, and no part of a long one comes or goes now:
// none has for half of silence.
func (l *link) silentLocked(since time.Time, silence time.Duration) bool {
	return !l.heard.After(since) && time.Since(l.moved()) >= silence/2
}

// run serves the link until its stream ends. Then it calls gone, after which no call
// can pick the link, and returns its calls to their owners.
func (l *link) run(gone func()) {
	var writer sync.WaitGroup
	writer.Go(l.write)
	l.read()
	l.cancel()
	writer.Wait()
	gone()

	l.mu.Lock()
	l.broken = true
	flying := l.flying
	l.flying, l.queue = nil, nil
	if l.alarm != nil {
		l.alarm.Stop()
	}
	l.mu.Unlock()
	l.retire()
	for _, f := range flying {
		if l.refusal != nil {
			f.call.refused(f, l.refusal)
			continue
		}
		f.call.broken(f, f.sent) // sent is stable: the writer has ended
	}
}

func (l *link) read() {
	// A node that refuses the stream does so at once. The refusal is for the calls that the link was
	// made for, so they are queued first.
	select {
	case <-l.used:
	case <-time.After(refusalWait):
	case <-l.stream.Context().Done():
	}
	for first := true; ; first = false {
		frame, err := l.stream.Recv()
		if first && err == nil && l.check() != nil {
			return
		}
		if err != nil {
			if e := errorOf(err, false); first && (e.Code == agent.CodeUnauthenticated || e.Code == agent.CodeForbidden) {
				l.refusal = e
			}
			l.others = l.stream.Trailer().Get(convert.MembersTrailer)
			return
		}
		replies := frame.Replies
		flights := make([]*flight, len(replies))
		l.mu.Lock()
		l.heard = time.Now()
		for i, r := range replies {
			flights[i] = l.flying[r.GetId()]
			delete(l.flying, r.GetId())
		}
		l.handing = true // callers call again at once: their calls share a frame
		l.mu.Unlock()
		for i, f := range flights {
			if f != nil {
				f.call.replied(f, replies[i])
			}
		}
		l.mu.Lock()
		l.handing = false
		waiting := len(l.queue) > 0
		l.mu.Unlock()
		if waiting {
			l.nudge()
		}
	}
}

func (l *link) write() {
	var batch []*flight
	for {
		select {
		case <-l.wake:
			l.gather()
		case <-l.stream.Context().Done():
			return
		}
		for {
			l.mu.Lock()
			batch, l.queue = l.queue, batch[:0]
			l.mu.Unlock()
			if len(batch) == 0 {
				break
			}
			for rest := batch; len(rest) > 0; {
				frame, n := l.frame(rest)
				rest = rest[n:]
				if len(frame.Calls) > 0 && l.stream.Send(frame) != nil {
					// The stream has ended: its reader finds out why.
					time.AfterFunc(refusalWait, l.cancel)
					return
				}
			}
			clear(batch)
		}
	}
}

// gather lets the callers that are ready to run add their calls. It costs a single
// caller nothing.
func (l *link) gather() {
	for before, waiting := -1, 0; waiting > before; {
		runtime.Gosched()
		l.mu.Lock()
		before, waiting = waiting, len(l.queue)
		l.mu.Unlock()
	}
}

// frame takes the first n flights that fit one frame and marks them as sent. Flights
// that were dropped are left out.
func (l *link) frame(flights []*flight) (frame *apipb.Calls, n int) {
	frame = &apipb.Calls{Calls: make([]*apipb.Call, 0, min(len(flights), convert.FrameCallsMax))}
	size := 0
	l.mu.Lock()
	defer l.mu.Unlock()
	for n < len(flights) && len(frame.Calls) < convert.FrameCallsMax {
		f := flights[n]
		if l.flying[f.msg.Id] != f {
			n++
			continue
		}
		if len(frame.Calls) > 0 && (size >= convert.FrameBytesMax || f.size > convert.FrameBytesMax) {
			break
		}
		f.sent = true
		frame.Calls = append(frame.Calls, &f.msg)
		size += f.size
		n++
	}
	return frame, n
}

// idle reports whether the link has been unused for longer than since.
func (l *link) idle(now time.Time, since time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.users == 0 && len(l.flying) == 0 && now.Sub(l.heard) > since
}
