package tenant

import "time"

// bucket is a token bucket that may go into debt: what a call costs is known only once it has been
// served. It holds at most what a second brings. The zero bucket is full.
type bucket struct {
	spent float64   // since it was full; more than a second's worth is debt
	at    time.Time // when spent was right
	rate  uint64    // in force then
}

// wait returns how long a call must wait until the bucket is out of debt; 0 means that it may go on.
func (b *bucket) wait(now time.Time, rate uint64) time.Duration {
	if rate == 0 {
		return 0
	}
	b.refill(now, rate)
	if b.spent < float64(rate) {
		return 0
	}
	return max(time.Duration((b.spent-float64(rate))/float64(rate)*float64(time.Second)), time.Millisecond)
}

// spend takes n, beyond what there is if need be.
func (b *bucket) spend(now time.Time, rate, n uint64) {
	if rate == 0 {
		return
	}
	b.refill(now, rate)
	b.spent += float64(n)
}

// refill adds what the time since the last call brings. A rate that has become lower leaves the bucket as full as it was,
// in seconds: otherwise the scope would wait until the lower rate has paid for what the higher one allowed.
func (b *bucket) refill(now time.Time, rate uint64) {
	if rate < b.rate {
		b.spent *= float64(rate) / float64(b.rate)
	}
	b.rate = rate
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.spent = max(0, b.spent-passed*float64(rate))
		b.at = now
	}
}
