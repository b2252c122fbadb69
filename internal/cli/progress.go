package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressEvery is the time between two lines of progress if stderr is no terminal.
const progressEvery = 5 * time.Second

// Progress shows the progress of a long command on stderr: a bar on a terminal, a line
// every few seconds elsewhere.
type Progress struct {
	out   io.Writer
	what  string
	unit  string
	total int // 0 if unknown
	bar   *progressbar.ProgressBar

	mu    sync.Mutex
	done  int       // guarded by mu
	began time.Time // guarded by mu
	told  time.Time // guarded by mu
}

// NewProgress starts to show progress, on a terminal or as lines. A total of 0 means
// unknown.
func NewProgress(out io.Writer, terminal bool, what string, total int, unit string) *Progress {
	p := &Progress{out: out, what: what, unit: unit, total: total, began: time.Now()}
	p.told = p.began
	if terminal {
		length := total
		if length == 0 {
			length = -1 // a spinner
		}
		p.bar = progressbar.NewOptions(length,
			progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish())
	}
	return p
}

// Add adds n to the progress. It may be called concurrently.
func (p *Progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn is no reason to stop
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if now := time.Now(); now.Sub(p.told) >= progressEvery {
		p.told = now
		p.tell(now)
	}
}

// tell writes a line. Callers hold mu.
func (p *Progress) tell(now time.Time) {
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d", p.total)
	}
	_, _ = fmt.Fprintf(p.out, "%s: %d%s %s, %.0f/s\n", p.what, p.done, of, p.unit, float64(p.done)/max(now.Sub(p.began).Seconds(), 1e-3))
}

// End removes the bar.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
