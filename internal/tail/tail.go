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
		w.kept = append(w.kept[:0], w.kept[len(w.kept)-w.max:]...)
	}
	w.mu.Unlock()
	return w.to.Write(p)
}

// Bytes returns a copy of the last max bytes, from the beginning of a line on.
func (w *Writer) Bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) <= w.max {
		return bytes.Clone(w.kept)
	}
	last := w.kept[len(w.kept)-w.max:]
	if w.kept[len(w.kept)-w.max-1] != '\n' {
		_, last, _ = bytes.Cut(last, []byte("\n"))
	}
	return bytes.Clone(last)
}
