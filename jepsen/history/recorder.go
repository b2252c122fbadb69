package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// flushEvery bounds how much of a history a crash of the harness loses.
const flushEvery = 100 * time.Millisecond

// line is one line of the file. Exactly one member is set.
type line struct {
	Header *Header `json:"header,omitempty"`
	Invoke *Op     `json:"invoke,omitempty"`
	Return *ending `json:"return,omitempty"`
	Event  *Event  `json:"event,omitempty"`
	Closed bool    `json:"closed,omitempty"` // the last line of a complete history
}

// ending is the outcome of a call.
type ending struct {
	ID      int64           `json:"id"`
	At      time.Duration   `json:"at"`
	Outcome Outcome         `json:"outcome"`
	Out     json.RawMessage `json:"out,omitempty"`
	Code    string          `json:"code,omitempty"`
	Detail  string          `json:"detail,omitempty"`
}

// Recorder writes a history to its file during the run. All methods may be called
// concurrently. Close returns the first write error.
type Recorder struct {
	start time.Time

	mu     sync.Mutex
	file   File
	buffer *bufio.Writer
	lines  *json.Encoder // into buffer
	err    error         // the first error
	last   int64         // id of the newest call
	open   map[int64]Op  // calls that have not returned, by id
	watch  func(Op)
	closed bool

	stop, stopped chan struct{}
}

// Create creates a history file, which must not exist.
func Create(path string, h Header) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return Record(f, h), nil
}

// File is where a Recorder writes: a file of the disk, or one in memory.
type File interface {
	io.WriteCloser
	Sync() error
}

// Record begins a history in an empty file, which it closes.
func Record(f File, h Header) *Recorder {
	r := &Recorder{
		start: time.Now(), file: f, buffer: bufio.NewWriterSize(f, 1<<20), open: map[int64]Op{},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	r.lines = json.NewEncoder(r.buffer)
	r.lines.SetEscapeHTML(false) // people read histories too
	h.Format = Format
	r.write(line{Header: &h})
	go r.flush()
	return r
}

// Now returns the time since the start of the run.
func (r *Recorder) Now() time.Duration { return time.Since(r.start) }

// Watch makes the Recorder call f with every call that ends from now on. f must not
// block. It is called concurrently and without locks held.
func (r *Recorder) Watch(f func(Op)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = f
}

// Invoke records the invocation of a call and returns its id. The caller sets all
// fields but ID and Invoke, and makes the call afterwards.
func (r *Recorder) Invoke(op Op) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	op.ID, op.Invoke = r.last, r.Now()
	r.write(line{Invoke: &op})
	r.open[op.ID] = op
	return op.ID
}

// Return records that a call took effect, and its output.
func (r *Recorder) Return(id int64, out json.RawMessage) {
	r.end(ending{ID: id, Outcome: OK, Out: out})
}

// Fail records that a call was refused or that its outcome is unknown.
func (r *Recorder) Fail(id int64, o Outcome, code, detail string) {
	r.end(ending{ID: id, Outcome: o, Code: code, Detail: detail})
}

func (r *Recorder) end(e ending) {
	r.mu.Lock()
	e.At = r.Now()
	r.write(line{Return: &e})
	op, watch := r.open[e.ID], r.watch
	delete(r.open, e.ID)
	r.mu.Unlock()
	if watch != nil {
		op.finish(e)
		watch(op)
	}
}

// Event records an event and sets its At.
func (r *Recorder) Event(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.At = r.Now()
	r.write(line{Event: &e})
}

// Close ends the history and returns the first write error. Calls after Close are not
// recorded.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return r.err
	}
	r.write(line{Closed: true})
	r.closed = true
	r.mu.Unlock()
	close(r.stop)
	<-r.stopped
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.buffer.Flush(), r.file.Sync(), r.file.Close())
}

// write writes a line; the caller holds mu.
func (r *Recorder) write(l line) {
	if r.err != nil || r.closed {
		return
	}
	r.err = r.lines.Encode(l)
}

func (r *Recorder) flush() {
	defer close(r.stopped)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.mu.Lock()
			if err := r.buffer.Flush(); err != nil && r.err == nil {
				r.err = err
			}
			r.mu.Unlock()
		case <-r.stop:
			return
		}
	}
}
