package audit

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Options configure a Log.
type Options struct {
	Dir       string // of the log alone; it is made if it does not exist
	Node      string // named in each line
	FileBytes int64  // size from which on a file is full; 0 means 64 MiB
	Files     int    // files that are kept, 2 or more; 0 means 8
	Key       []byte // of the macs; nil means none
	KeyID     string // names Key for those who check the macs
	Now       func() time.Time

	// Failed is called when the log cannot be written, and with nil once it can be again. It must not
	// block. nil means no calls.
	Failed func(err error)

	fault func() error // for tests: a disk that fails
}

const (
	fileBytesDefault = 64 << 20
	filesDefault     = 8
	queueMax         = 8192 // records that wait for the disk
	denialsMax       = queueMax / 2
	usersMax         = queueMax / 4 * 3 // of these and others, when a call of a scope's users takes places
	batchMax         = 512
)

// ErrFull says that too many records wait for the disk.
var ErrFull = errors.New("too many audit records wait for the disk")

// errClosed says that the log is closed.
var errClosed = errors.New("the audit log is closed")

// entry is one record on its way to the disk.
type entry struct {
	rec  Record
	done func(seq uint64, err error) // nil if no caller waits
}

// Log writes records. Its methods may be called concurrently. Put does not block: one goroutine, Run,
// writes all waiting records at once and syncs them together.
type Log struct {
	o    Options
	wake chan struct{} // capacity 1: the queue has records, or the log is closing

	mu       sync.Mutex
	queue    []*entry      // guarded by mu
	reserved int           // guarded by mu; places of records that will come. Invariant: len(queue)+reserved <= queueMax
	closed   bool          // guarded by mu; Put refuses
	stats    Stats         // guarded by mu
	missing  uint64        // guarded by mu; records that never waited in the queue, and that the writer does not know of yet
	durable  uint64        // guarded by mu; seq of the last line that is on disk
	grown    chan struct{} // guarded by mu; closed when durable grows

	broken string
	writer *writer // used by Run alone
	ended  chan struct{}
}

// Stats are the counts of a log since it was opened.
type Stats struct {
	Last    uint64 // seq of the last line
	Lines   uint64 // lines of records
	Lost    uint64 // records that could not be written
	LeftOut uint64 // denials without a line: of an address with too many, or while too many waited
	Waiting int    // records that wait for the disk
	Failing bool   // the last write failed
}

// Open opens the log of a directory, and finds where it ends. It fails if the directory cannot be
// read or written. It writes nothing before Run.
func Open(o Options) (*Log, error) {
	if o.FileBytes == 0 {
		o.FileBytes = fileBytesDefault
	}
	if o.Files == 0 {
		o.Files = filesDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	w, err := openWriter(o)
	if err != nil {
		return nil, err
	}
	return &Log{o: o, wake: make(chan struct{}, 1), grown: make(chan struct{}), writer: w, broken: w.start.Broken, ended: make(chan struct{}), stats: Stats{Last: w.seq}, durable: w.seq}, nil
}

// Broken returns what was wrong with the log when it was opened, or "".
func (l *Log) Broken() string { return l.broken }

// Reserve takes n places for records, each of which a call of Put or Release gives back. It reports
// whether there were as many.
func (l *Log) Reserve(n int) bool { return l.reserve(n, queueMax) }

func (l *Log) reserve(n, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue)+l.reserved+n > most {
		return false
	}
	l.reserved += n
	return true
}

// Release gives n places back.
func (l *Log) Release(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved -= n
}

// Put writes a record, for which the caller has reserved a place. done is called once the record is on
// disk, with its seq, or cannot be written. It must not block; nil means that the caller does not wait.
func (l *Log) Put(rec Record, done func(seq uint64, err error)) {
	l.mu.Lock()
	l.reserved--
	if l.closed {
		l.stats.Lost++
		l.missing++
		l.mu.Unlock()
		if done != nil {
			done(0, errClosed)
		}
		return
	}
	l.queue = append(l.queue, &entry{rec, done})
	l.mu.Unlock()
	l.signal()
}

// leaveOut counts denials without a line.
func (l *Log) leaveOut(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.LeftOut += n
}

// Stats returns the counts.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Waiting = len(l.queue)
	return s
}

// onDisk returns the seq of the last line that a power cut cannot remove, and a channel that is closed when
// there are more.
func (l *Log) onDisk() (last uint64, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable, l.grown
}

// sync makes all lines durable.
func (l *Log) sync() error {
	err := l.writer.sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.durable < l.writer.synced {
		l.durable = l.writer.synced
		close(l.grown)
		l.grown = make(chan struct{})
	}
	return err
}

func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run writes records until Close. It returns once all are written.
func (l *Log) Run() error {
	defer close(l.ended)
	l.write(nil) // the record of KindStart
	ticker := time.NewTicker(syncEvery)
	defer ticker.Stop()
	for {
		var due <-chan time.Time
		if l.writer.synced < l.writer.seq {
			due = ticker.C
		}
		select {
		case <-l.wake:
		case <-due:
			l.report(l.sync())
		}
		for batch := l.take(); len(batch) > 0; batch = l.take() {
			l.write(batch)
		}
		if l.ending() {
			if l.tell() > 0 {
				l.write(nil) // the gap
			}
			return l.writer.close()
		}
	}
}

// take returns the next records.
func (l *Log) take() []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), batchMax)
	batch := l.queue[:n:n]
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
	return batch
}

func (l *Log) ending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed && len(l.queue) == 0
}

// write writes one batch, and syncs it if a caller waits for one of it.
func (l *Log) write(batch []*entry) {
	l.tell()
	err := l.writer.write(batch)
	if err != nil {
		l.writer.lost += uint64(len(batch))
	}
	wait := len(batch) == 0
	for _, e := range batch {
		wait = wait || e.done != nil
	}
	synced := err
	if err == nil && wait {
		synced = l.sync()
	}
	l.report(synced)
	l.mu.Lock()
	if err == nil {
		l.stats.Last, l.stats.Lines = l.writer.seq, l.stats.Lines+uint64(len(batch))
	} else {
		l.stats.Lost += uint64(len(batch))
	}
	l.mu.Unlock()
	for _, e := range batch {
		if e.done != nil {
			e.done(e.rec.Seq, synced)
		}
	}
}

// report tells Options.Failed of a change.
func (l *Log) report(err error) {
	l.mu.Lock()
	changed := l.stats.Failing != (err != nil)
	l.stats.Failing = err != nil
	l.mu.Unlock()
	if changed {
		l.o.Failed(err)
	}
}

// Close ends Run once all records are written. If ctx ends first, it returns its error. A log that
// never ran is only closed.
func (l *Log) Close(ctx context.Context, ran bool) error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	if !ran {
		return l.writer.close()
	}
	select {
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
