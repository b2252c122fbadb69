package main

import (
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress tells on stderr how far a long command has got: a bar on a terminal,
// a line where something new begins elsewhere.
type progress struct {
	a    *app
	what string
	bar  *progressbar.ProgressBar
	done chan struct{} // closed at the end
	end  func()        // takes the bar away; may be called twice
}

// newProgress is the progress of what takes a known time.
func (a *app) newProgress(what string, takes time.Duration) *progress {
	const step = 100 * time.Millisecond
	p := a.newCount(what, int(takes/step), "")
	if p.bar == nil {
		return p
	}
	go func() {
		ticker := time.NewTicker(step)
		defer ticker.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-ticker.C:
				p.add(1)
			}
		}
	}()
	return p
}

// newCount is the progress of so many things.
func (a *app) newCount(what string, total int, unit string) *progress {
	p := &progress{a: a, what: what, done: make(chan struct{})}
	p.end = sync.OnceFunc(func() {
		close(p.done)
		if p.bar != nil {
			_ = p.bar.Finish() // as in add
		}
	})
	if !a.terminal {
		return p
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
	}
	if unit != "" {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionSetItsString(unit))
	}
	p.bar = progressbar.NewOptions(total, options...)
	return p
}

// add tells of n more. It may be called from any goroutine.
func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn is no reason to stop
	}
}

// tell says what goes on now.
func (p *progress) tell(now string) {
	if p.bar != nil {
		p.bar.Describe(p.what + ": " + now)
		return
	}
	p.a.tell("%s: %s", p.what, now)
}
