package main

import (
	"fmt"
	"io"
	"sync"

	"dormouse/internal/cli"
)

// progress tells on stderr how a run goes: what happens, a line each, and on a
// terminal a last line that is drawn again all the time.
type progress struct {
	out      io.Writer
	terminal bool

	mu    sync.Mutex
	live  string // what the last line shows; guarded by mu
	quiet bool   // lines are left out; guarded by mu
}

func newProgress(out io.Writer, terminal bool) *progress {
	return &progress{out: out, terminal: terminal}
}

// What a terminal is told. Lines that are too long for it are cut, or the next
// drawing would leave their ends behind.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

// line tells what happened. It may be called from any goroutine.
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

// draw draws the last line again; elsewhere than on a terminal it does nothing.
func (p *progress) draw(text string) {
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = cli.Clean(text)
	p.write(eraseLine + noWrap + p.live + wrap)
}

// end takes the last line away.
func (p *progress) end() { p.draw("") }

// write writes for people; where that cannot be done there is nobody.
func (p *progress) write(text string) { _, _ = fmt.Fprint(p.out, text) }
