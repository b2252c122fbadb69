// Package tail keeps the last bytes that were written, such as the end of a log.
package tail

import (
	"bytes"
	"io"
	"sync"
)

// Writer writes to another writer and keeps the last bytes. It may be used concurrently.
type Writer struct {
	to  io.Writer
	max int

	mu   sync.Mutex
	kept []byte // guarded by mu; at most twice max
}

// New returns a writer to another one that keeps at least the last max bytes.
func New(to io.Writer, max int) *Writer { return &Writer{to: to, max: max} }

// Write implements io.Writer. What cannot be written is kept all the same.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.kept = append(w.kept, p...)
	if len(w.kept) > 2*w.max {
		w.kept = append(w.kept[:0], lastLines(w.kept, w.max)...)
	}
	w.mu.Unlock()
	return w.to.Write(p)
}

// Bytes returns a copy of the last max bytes, from the beginning of a line on.
func (w *Writer) Bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(lastLines(w.kept, w.max))
}

// lastLines returns at most the last max bytes of text, from the beginning of a line on.
func lastLines(text []byte, max int) []byte {
	if len(text) <= max {
		return text
	}
	last := text[len(text)-max:]
	if text[len(text)-max-1] != '\n' {
		_, last, _ = bytes.Cut(last, []byte("\n"))
	}
	return last
}
