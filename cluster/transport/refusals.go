package transport

import (
	"sync"
	"time"
)

const (
	// refusedMin and refusedMax bound the backoff of dialing an address that
	// refuses this node; it doubles from one to the other. All callers share it:
	// Raft has dozens of them during elections.
	refusedMin = 100 * time.Millisecond
	refusedMax = 2 * time.Second
	// logEvery is the least time between two log lines about one peer.
	logEvery = 10 * time.Second
	// loggedMax bounds the peers that a logLimiter remembers.
	loggedMax = 256
)

// refusals holds the addresses that answered and refused this node. An address
// that does not answer is not among them, so that callers find it at once when
// it is back.
type refusals struct {
	mu    sync.Mutex
	addrs map[string]refusal // guarded by mu
}

type refusal struct {
	until   time.Time // no caller dials before
	backoff time.Duration
	dialing bool // one caller dials now
}

// wait returns how long a caller must wait before it may dial addr. If it
// returns 0, other callers wait until note has the result.
func (r *refusals) wait(addr string, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.addrs[addr]
	if !ok {
		return 0
	}
	if left := known.until.Sub(now); left > 0 {
		return left
	}
	known.until, known.dialing = now.Add(known.backoff), true
	r.addrs[addr] = known
	return 0
}

// note records the result of dialing addr.
func (r *refusals) note(addr string, refused bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !refused {
		delete(r.addrs, addr)
		return
	}
	if r.addrs == nil {
		r.addrs = make(map[string]refusal)
	}
	known, again := r.addrs[addr]
	switch {
	case !again:
		known.backoff = refusedMin
	case !known.dialing: // a call that began before the first refusal
		return
	default:
		known.backoff = min(2*known.backoff, refusedMax)
	}
	known.until, known.dialing = now.Add(known.backoff), false
	r.addrs[addr] = known
}

// logLimiter limits the log to one line about a peer in logEvery.
type logLimiter struct {
	mu   sync.Mutex
	last map[string]logged // guarded by mu
}

type logged struct {
	at         time.Time
	suppressed int // lines since then
}

// allow reports whether a line about peer is due, and how many lines were
// suppressed since the last one.
func (l *logLimiter) allow(peer string, now time.Time) (suppressed int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.last[peer]
	if known && now.Sub(last.at) < logEvery {
		last.suppressed++
		l.last[peer] = last
		return 0, false
	}
	if l.last == nil || len(l.last) >= loggedMax {
		l.last = make(map[string]logged)
	}
	l.last[peer] = logged{at: now}
	return last.suppressed, true
}
