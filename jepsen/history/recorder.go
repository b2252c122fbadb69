package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// flushEvery bounds what a crash of the harness itself may lose of a history.
const flushEvery = 100 * time.Millisecond

// line is one line of the file; exactly one of its members is there.
type line struct {
	Header *Header `json:"header,omitempty"`
	Invoke *Op     `json:"invoke,omitempty"`
	Return *ending `json:"return,omitempty"`
	Event  *Event  `json:"event,omitempty"`
	Closed bool    `json:"closed,omitempty"` // the last line: nothing is missing
}

// ending is how a call ended.
type ending struct {
	ID      int64           `json:"id"`
	At      time.Duration   `json:"at"`
	Outcome Outcome         `json:"outcome"`
	Out     json.RawMessage `json:"out,omitempty"`
	Code    string          `json:"code,omitempty"`
	Detail  string          `json:"detail,omitempty"`
}

// Recorder writes a history to its file as it happens. All methods may be
// called concurrently; a failed write is kept and told by Close.
type Recorder struct {
	start time.Time

	mu     sync.Mutex
	file   *os.File
	buffer *bufio.Writer
	lines  *json.Encoder // into buffer
	err    error         // the first failure
	last   int64         // id of the newest call
	open   map[int64]Op  // calls that have not returned, by id
	watch  func(Op)
	closed bool

	stop, stopped chan struct{}
}

// Create begins a history in a new file, which must not be there yet.
func Create(path string, h Header) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	r := &Recorder{
		start: time.Now(), file: f, buffer: bufio.NewWriterSize(f, 1<<20), open: map[int64]Op{},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	r.lines = json.NewEncoder(r.buffer)
	r.lines.SetEscapeHTML(false) // a history is for people too
	h.Format = Format
	r.write(line{Header: &h})
	go r.flush()
	return r, nil
}

// Now is the time since the run's start.
func (r *Recorder) Now() time.Duration { return time.Since(r.start) }

// Watch has every call that ended told to f from now on. f must not block; it
// is called without locks held, by many at a time.
func (r *Recorder) Watch(f func(Op)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = f
}

// Invoke records that a call begins, and returns its id. The caller fills all
// but ID and Invoke, and makes the call afterwards.
func (r *Recorder) Invoke(op Op) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	op.ID, op.Invoke = r.last, r.Now()
	r.write(line{Invoke: &op})
	r.open[op.ID] = op
	return op.ID
}

// Return records that a call took effect, and its answer.
func (r *Recorder) Return(id int64, out json.RawMessage) {
	r.end(ending{ID: id, Outcome: OK, Out: out})
}

// Fail records that a call was refused, or that its outcome is unknown.
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

// Event records what happened beside the calls; At is set here.
func (r *Recorder) Event(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.At = r.Now()
	r.write(line{Event: &e})
}

// Close ends the history, and tells what of it could not be written. Calls
// after Close are lost.
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

// write adds a line; mu is held.
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
