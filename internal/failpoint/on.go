//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Enabled reports whether this build has failpoints.
const Enabled = true

// order is what the file says.
type order struct {
	point Point
	crash bool
	wait  time.Duration
}

// current is the order in effect; nil for none.
var current atomic.Pointer[order]

// every is how often the file is read.
const every = 5 * time.Millisecond

func init() {
	if path := os.Getenv(Variable); path != "" {
		read(path)
		go func() {
			for range time.Tick(every) {
				read(path)
			}
		}()
	}
}

// read reads the order. It ends the process if there is one that it cannot follow,
// because the run would prove nothing.
func read(path string) {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		current.Store(nil)
		return
	}
	o, err := parse(string(text))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
	if old := current.Load(); old == nil || *old != o {
		current.Store(&o)
	}
}

func parse(text string) (o order, err error) {
	point, what, _ := strings.Cut(strings.TrimSpace(text), " ")
	if o.point = Point(point); !Known(o.point) {
		return o, fmt.Errorf("no failpoint is called %q", point)
	}
	if o.crash = what == "crash"; !o.crash {
		o.wait, err = time.ParseDuration(what)
	}
	return o, err
}

// At ends or delays the process if it was ordered for this point.
func At(p Point) {
	o := current.Load()
	switch {
	case o == nil || o.point != p:
	case o.crash:
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	default:
		time.Sleep(o.wait)
	}
}
