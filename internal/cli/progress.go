package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressEvery is how often progress is told where stderr is no terminal.
const progressEvery = 5 * time.Second

// Progress tells on stderr how far a long command has got: a bar on a
// terminal, a line every few seconds elsewhere.
type Progress struct {
	out   io.Writer
	what  string
	unit  string
	total int // 0 where it is not known
	bar   *progressbar.ProgressBar

	mu    sync.Mutex
	done  int       // guarded by mu
	began time.Time // guarded by mu
	told  time.Time // guarded by mu
}

// NewProgress begins to tell how far a command has got: on a terminal, or to what
// takes lines. A total of 0 is not known.
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

// Add tells of n more. It may be called from any goroutine.
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

// tell writes a line. The caller holds mu.
func (p *Progress) tell(now time.Time) {
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d", p.total)
	}
	_, _ = fmt.Fprintf(p.out, "%s: %d%s %s, %.0f/s\n", p.what, p.done, of, p.unit, float64(p.done)/max(now.Sub(p.began).Seconds(), 1e-3))
}

// End takes the bar away.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
