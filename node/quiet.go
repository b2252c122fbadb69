package node

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	repeatsMax   = 20 // of one message, in repeatsEvery
	repeatsEvery = 10 * time.Second
	messagesMax  = 1000 // whose repeats are counted
)

// repeats bounds how often the log says the same: a client that causes an error with each request
// must not fill the disk.
type repeats struct {
	now func() time.Time

	mu     sync.Mutex
	since  time.Time      // guarded by mu; the counts are of that time on
	counts map[string]int // guarded by mu; by message
}

func newRepeats() *repeats { return &repeats{now: time.Now, counts: map[string]int{}} }

// exclude reports whether a warning or an error was logged too often. Messages are constants, so
// their number is small. The log of slow calls has a bound of its own, which counts what it leaves out.
func (r *repeats) exclude(level hclog.Level, message string, _ ...any) bool {
	if level < hclog.Warn || message == slowMessage {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.Sub(r.since) >= repeatsEvery || len(r.counts) >= messagesMax {
		r.since = now
		clear(r.counts)
	}
	r.counts[message]++
	return r.counts[message] > repeatsMax
}
