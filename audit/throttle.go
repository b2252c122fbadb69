package audit

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// Limits of denials. An address that is refused more often gets no line for each: its next line says
// how many were left out.
const (
	denialsBurst  = 32
	denialsEvery  = time.Second // one more line
	addressesMax  = 4096        // addresses that are told apart
	leftOutReport = 10 * time.Second
)

// throttle decides which denials become lines.
type throttle struct {
	now func() time.Time

	mu        sync.Mutex
	addresses *simplelru.LRU[string, *offender] // guarded by mu
	forgotten uint64                            // guarded by mu; left out, of addresses that are told apart no longer
}

// offender is an address with denials.
type offender struct {
	limit   *rate.Limiter
	leftOut uint64
}

func newThrottle(now func() time.Time) *throttle {
	t := &throttle{now: now}
	addresses, err := simplelru.NewLRU(addressesMax, func(_ string, o *offender) { t.forgotten += o.leftOut })
	if err != nil {
		panic(err) // only a size of 0 can cause this
	}
	t.addresses = addresses
	return t
}

// allow reports whether a denial of an address becomes a line, and how many before it did not.
func (t *throttle) allow(address string) (leftOut uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, known := t.addresses.Get(address)
	if !known {
		o = &offender{limit: rate.NewLimiter(rate.Every(denialsEvery), denialsBurst)}
		t.addresses.Add(address, o)
	}
	if !o.limit.AllowN(t.now(), 1) {
		o.leftOut++
		return 0, false
	}
	leftOut, o.leftOut = o.leftOut, 0
	return leftOut, true
}

// giveBack counts a denial that was allowed and has no line after all, with those before it.
func (t *throttle) giveBack(address string, n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o, known := t.addresses.Peek(address); known {
		o.leftOut += n
		return
	}
	t.forgotten += n
}

// drain returns how many denials were left out and not told yet, by address. The address "" means those of
// addresses that are told apart no longer.
func (t *throttle) drain() map[string]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]uint64{}
	if t.forgotten > 0 {
		all[""], t.forgotten = t.forgotten, 0
	}
	for _, address := range t.addresses.Keys() {
		if o, ok := t.addresses.Peek(address); ok && o.leftOut > 0 {
			all[address], o.leftOut = o.leftOut, 0
		}
	}
	return all
}
