package main

import (
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows the progress of a long command on stderr: a bar on a terminal,
// otherwise a line for each new step.
type progress struct {
	a    *app
	what string
	bar  *progressbar.ProgressBar
	done chan struct{} // closed at the end
	end  func()        // removes the bar; may be called more than once
}

// newProgress returns the progress of an operation of known duration.
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

// newCount returns the progress of total items.
func (a *app) newCount(what string, total int, unit string) *progress {
	p := &progress{a: a, what: what, done: make(chan struct{})}
	p.end = sync.OnceFunc(func() {
		close(p.done)
		if p.bar != nil {
			_ = p.bar.Finish() // errors are ignored, as in add
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

// add adds n items. It may be called from any goroutine.
func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn does not stop the command
	}
}

// tell shows the current step.
func (p *progress) tell(now string) {
	if p.bar != nil {
		p.bar.Describe(p.what + ": " + now)
		return
	}
	p.a.tell("%s: %s", p.what, now)
}
