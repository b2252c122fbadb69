package cluster

import (
	"sync"
	"time"
)

const (
	// refusedMin and refusedMax pace dialing an address that refuses: the pause
	// doubles from one to the other. It is for all callers together, of which
	// raft has dozens where elections go on.
	refusedMin = 100 * time.Millisecond
	refusedMax = 2 * time.Second
	// refusedLogEvery paces the log's lines about one who is refused.
	refusedLogEvery = 10 * time.Second
	// refusedTold bounds those that are kept apart for that.
	refusedTold = 256
)

// refusals are the addresses that answered and would not have us. One that is
// merely down is not among them: it is to be found at once when it is back.
type refusals struct {
	mu    sync.Mutex
	addrs map[string]refusal // guarded by mu
}

type refusal struct {
	until time.Time // nobody dials before
	pause time.Duration
	asked bool // someone dials now
}

// wait is how long a caller must wait before it may dial addr; where it need
// not, the others must until it has been heard what came of it.
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
	known.until, known.asked = now.Add(known.pause), true
	r.addrs[addr] = known
	return 0
}

// note takes what came of dialing addr.
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
		known.pause = refusedMin
	case !known.asked: // of a call that was under way when the first was refused
		return
	default:
		known.pause = min(2*known.pause, refusedMax)
	}
	known.until, known.asked = now.Add(known.pause), false
	r.addrs[addr] = known
}

// told is who was named in the log lately as refused.
type told struct {
	mu   sync.Mutex
	last map[string]telling // guarded by mu
}

type telling struct {
	at     time.Time
	silent int // since then
}

// say tells whether a line about who is due, and how many were left out since
// the last.
func (t *told) say(who string, now time.Time) (leftOut int, due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, known := t.last[who]
	if known && now.Sub(last.at) < refusedLogEvery {
		last.silent++
		t.last[who] = last
		return 0, false
	}
	if t.last == nil || len(t.last) >= refusedTold {
		t.last = make(map[string]telling)
	}
	t.last[who] = telling{at: now}
	return last.silent, true
}
