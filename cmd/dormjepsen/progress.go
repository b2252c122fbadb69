package main

import (
	"fmt"
	"io"
	"sync"

	"dormouse/internal/cli"
)

// progress shows the progress of a run on stderr: a line for each event and, on a
// terminal, a live last line.
type progress struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	live  string // text of the live line; guarded by mu
	quiet bool   // suppress lines; guarded by mu
}

func newProgress(out io.Writer, terminal bool) *progress {
	return &progress{out: out, terminal: terminal}
}

// Control sequences for a terminal. Lines that are too long are cut off: a wrapped
// live line could not be erased.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

// line writes a line. It may be called from any goroutine.
func (p *progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	text = cli.Clean(text)
	if p.terminal {
		p.write(eraseLine + text + "\n" + noWrap + p.live + wrap)
	} else {
		p.write(text + "\n")
	}
}

// draw redraws the live line; it does nothing unless stderr is a terminal.
func (p *progress) draw(text string) {
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = cli.Clean(text)
	p.write(eraseLine + noWrap + p.live + wrap)
}

// end removes the live line.
func (p *progress) end() { p.draw("") }

// write writes to stderr and ignores errors, because there is no other place to report
// them.
func (p *progress) write(text string) { _, _ = fmt.Fprint(p.out, text) }
