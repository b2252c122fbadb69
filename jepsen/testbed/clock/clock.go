package clock

import (
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Env names the variable by which a daemon is told the path of its clock's
// file. A daemon that was not built by Build does not look at it.
const Env = "CHAOSCLOCK"

const (
	// fileSize is a page; the daemon maps the first two words of it.
	fileSize = 4096

	// driftEvery is the step of a drift: small enough for a rate of some
	// seconds a second to be no series of jumps.
	driftEvery = 5 * time.Millisecond
)

// Clock is the wall clock of one host. Its faults follow one another: each call
// ends the strobe or the drift before it. It outlasts the host's processes: one
// that starts while the clock is off starts with a clock that is off.
type Clock struct {
	path   string
	mapped []byte
	offset *atomic.Int64 // in the file: nanoseconds that the wall clock is ahead
	reader *atomic.Int64 // in the file: the process that mapped it last

	mu   sync.Mutex
	stop chan struct{} // guarded by mu; ends the strobe or drift; nil if there is none
	done chan struct{} // guarded by mu; closed when that has ended
}

// Open makes a clock that is right, with its file at path.
func Open(path string) (*Clock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the mapping stays
	if err := file.Truncate(fileSize); err != nil {
		return nil, err
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, fileSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return &Clock{
		path:   path,
		mapped: mapped,
		offset: (*atomic.Int64)(unsafe.Pointer(&mapped[0])),
		reader: (*atomic.Int64)(unsafe.Pointer(&mapped[8])),
	}, nil
}

// Setting is the environment variable, NAME=value, of a daemon with this clock.
func (c *Clock) Setting() string { return Env + "=" + c.path }

// Reader is the id of the process that started last with this clock; 0 before
// any has. It is how to know that a daemon was built to have one.
func (c *Clock) Reader() int { return int(c.reader.Load()) }

// Offset is how far ahead the clock is now.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Set makes the clock jump: it is ahead by offset from now on, or behind where
// that is negative.
func (c *Clock) Set(offset time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt()
	c.offset.Store(int64(offset))
}

// Heal makes the clock right.
func (c *Clock) Heal() { c.Set(0) }

// Strobe makes the clock jump to and fro between where it is and amplitude
// ahead of that, each for half a period. It returns at once; after total the
// clock is where it was.
func (c *Clock) Strobe(amplitude, period, total time.Duration) {
	base := c.Offset()
	c.steps(period/2, total, func(since time.Duration) time.Duration {
		if since < total && int64(since/max(period/2, 1))%2 == 0 {
			return base + amplitude
		}
		return base
	})
}

// Drift makes the clock gain rate seconds in each second, or lose them where
// that is negative: below -1 it goes backwards. It returns at once; after total
// the clock stays as far off as it came.
func (c *Clock) Drift(rate float64, total time.Duration) {
	base := c.Offset()
	c.steps(driftEvery, total, func(since time.Duration) time.Duration {
		return base + time.Duration(math.Round(rate*float64(min(since, total))))
	})
}

// steps sets the clock by what at tells for the time since now, every so often,
// until total is over, and then once more.
func (c *Clock) steps(every, total time.Duration, at func(since time.Duration) time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt()
	stop, done := make(chan struct{}), make(chan struct{})
	c.stop, c.done = stop, done
	go func() {
		defer close(done)
		start := time.Now()
		tick := time.NewTicker(max(every, time.Microsecond))
		defer tick.Stop()
		for {
			since := time.Since(start)
			c.offset.Store(int64(at(since)))
			if since >= total {
				return
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
}

// halt ends what steps started. c.mu is held.
func (c *Clock) halt() {
	if c.stop == nil {
		return
	}
	close(c.stop)
	<-c.done
	c.stop, c.done = nil, nil
}

// Close makes the clock right and forgets it; the file stays. It is not used
// after that.
func (c *Clock) Close() error {
	c.Heal()
	c.mu.Lock()
	defer c.mu.Unlock()
	return unix.Munmap(c.mapped)
}
