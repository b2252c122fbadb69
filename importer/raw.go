package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"dormouse/agent"
)

// RawOptions say how an export is read back.
type RawOptions struct {
	Scope    string        // "" means agent.DefaultScope; the export's own scope does not matter
	GiveUp   time.Duration // when nothing has been answered for so long; 0 means 2 min
	Progress func(n int)   // told of n more records; nil means nobody
}

func (o RawOptions) filled() RawOptions {
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	return o
}

// Bounds of one commit of entries, well within the store's.
const (
	rawEntriesMax = 256
	rawBytesMax   = 1 << 20
)

// RawSummary is what reading an export back did, or found.
type RawSummary struct {
	Records     EndRecord
	Retries     int64
	Elapsed     time.Duration
	Nodes       []string // that answered, of a verification
	Differences Differences
}

// ImportRaw brings an export in. open is called twice: threads and values come
// first, then the checkpoints that point to them. Where something is there
// already it must be the same, or the beginning of it; what differs is left as
// it is and told in the summary. A thread that was compacted cannot be brought
// in, since its head speaks of entries that are gone: it is told, too.
func ImportRaw(ctx context.Context, s agent.Service, open func() (io.ReadCloser, error), o RawOptions) (RawSummary, error) {
	o = o.filled()
	began := time.Now()
	var counted counters
	r := &rawImport{session: newSession(s, o.Scope, o.GiveUp, &counted), now: began, progress: o.Progress}
	for _, pass := range []func(context.Context, Record) error{r.threadsAndValues, r.checkpoints} {
		err := readAll(open, func(_ int, record Record) error { return pass(ctx, record) })
		if err == nil {
			err = r.flush(ctx)
		}
		if err != nil {
			return r.summary, err
		}
	}
	r.summary.Retries, r.summary.Elapsed = counted.retries.Load(), time.Since(began)
	return r.summary, nil
}

func readAll(open func() (io.ReadCloser, error), handle func(int, Record) error) error {
	file, err := open()
	if err != nil {
		return err
	}
	return errors.Join(ReadRecords(file, handle), file.Close())
}

type rawImport struct {
	session  *session
	now      time.Time
	progress func(int)
	summary  RawSummary

	thread  *ThreadRecord // whose entries are being read; nil where they are to be skipped
	rev     uint64        // of it as stored
	waiting []agent.Draft // its entries that are yet to be appended, from rev on
	bytes   int           // of waiting
}

func (r *rawImport) count(record Record) {
	r.summary.Records.count(record)
	r.progress(1)
}

// threadsAndValues is the first pass.
func (r *rawImport) threadsAndValues(ctx context.Context, record Record) error {
	if record.Checkpoint == nil {
		r.count(record)
	}
	switch {
	case record.Value != nil:
		return r.value(ctx, record.Value)
	case record.Thread != nil:
		if err := r.flush(ctx); err != nil {
			return err
		}
		return r.begin(ctx, record.Thread)
	case record.Entry != nil && r.thread != nil:
		return r.entry(ctx, record.Entry)
	}
	return nil
}

func (r *rawImport) value(ctx context.Context, v *ValueRecord) error {
	ttl, alive := remaining(v.ExpiresAt, r.now)
	if !alive {
		return nil
	}
	old, err := ask[*agent.Value](ctx, r.session, &agent.GetValue{Key: v.Key})
	switch {
	case err == nil && bytes.Equal(old.Bytes, v.Bytes) && old.ContentType == v.ContentType:
		return nil
	case err == nil:
		r.summary.Differences.add("value %q: there is another one", v.Key)
		return nil
	case !errors.Is(err, agent.ErrNotFound):
		return err
	}
	none := uint64(0)
	err = r.session.commit(ctx, &agent.PutValue{Key: v.Key, ContentType: v.ContentType, Bytes: v.Bytes, TTL: ttl, IfRevision: &none})
	return err
}

// begin takes up a thread where the stored one ends.
func (r *rawImport) begin(ctx context.Context, t *ThreadRecord) error {
	r.thread, r.rev = nil, 0
	if t.Floor > 0 {
		r.summary.Differences.add("thread %q: it was compacted below %d, and cannot be brought in (a backup keeps it)", t.ID, t.Floor)
		return nil
	}
	stored, err := ask[*agent.Thread](ctx, r.session, &agent.GetThread{Thread: t.ID})
	switch {
	case err == nil && stored.Rev > t.Rev:
		r.summary.Differences.add("thread %q: the stored one is at rev %d, the export's at %d", t.ID, stored.Rev, t.Rev)
		return nil
	case err == nil:
		r.rev = stored.Rev
	case errors.Is(err, agent.ErrNotFound):
		if t.Rev == 0 {
			return r.create(ctx, t)
		}
	default:
		return err
	}
	r.thread = t
	return nil
}

// create makes a thread that has no entries.
func (r *rawImport) create(ctx context.Context, t *ThreadRecord) error {
	err := r.session.commit(ctx, &agent.AppendThread{Thread: t.ID, ExpectedRev: &t.Rev, Metadata: agent.JSON(t.Metadata)})
	return err
}

func (r *rawImport) entry(ctx context.Context, e *EntryRecord) error {
	if e.Seq < r.rev {
		return nil // the head tells in the end whether it is the same
	}
	if want := r.rev + uint64(len(r.waiting)); e.Seq != want {
		return fmt.Errorf("entry %d of thread %q comes where %d should", e.Seq, r.thread.ID, want)
	}
	size := len(e.Payload) + len(e.Refs) + len(e.ID) + len(e.Kind)
	if len(r.waiting) == rawEntriesMax || len(r.waiting) > 0 && r.bytes+size > rawBytesMax {
		if err := r.append(ctx); err != nil || r.thread == nil {
			return err
		}
	}
	r.waiting = append(r.waiting, e.draft())
	r.bytes += size
	return nil
}

// append commits the entries that wait.
func (r *rawImport) append(ctx context.Context) error {
	if len(r.waiting) == 0 {
		return nil
	}
	rev := r.rev
	err := r.session.commit(ctx, &agent.AppendThread{
		Thread: r.thread.ID, ExpectedRev: &rev, Entries: r.waiting, Metadata: agent.JSON(r.thread.Metadata),
	})
	if errors.Is(err, agent.ErrConflict) || agent.CodeOf(err) == agent.CodeDuplicateEntry {
		r.summary.Differences.add("thread %q: it has other entries, or someone else writes to it: %v", r.thread.ID, err)
		r.thread, r.waiting, r.bytes = nil, nil, 0
		return nil
	}
	if err != nil {
		return fmt.Errorf("append to thread %q: %w", r.thread.ID, err)
	}
	r.rev += uint64(len(r.waiting))
	r.waiting, r.bytes = nil, 0
	return nil
}

// flush finishes the thread that is being read, and compares its head.
func (r *rawImport) flush(ctx context.Context) error {
	if r.thread == nil {
		return nil
	}
	if err := r.append(ctx); err != nil || r.thread == nil {
		return err
	}
	stored, err := ask[*agent.Thread](ctx, r.session, &agent.GetThread{Thread: r.thread.ID})
	if err != nil {
		return fmt.Errorf("read thread %q: %w", r.thread.ID, err)
	}
	if stored.Rev != r.thread.Rev || stored.Head.String() != r.thread.Head {
		r.summary.Differences.add("thread %q: the stored one has head %s at rev %d, the export's %s at rev %d",
			r.thread.ID, stored.Head, stored.Rev, r.thread.Head, r.thread.Rev)
	}
	r.thread = nil
	return nil
}

// checkpoints is the second pass.
func (r *rawImport) checkpoints(ctx context.Context, record Record) error {
	c := record.Checkpoint
	if c == nil {
		return nil
	}
	r.count(record)
	ttl, alive := remaining(c.ExpiresAt, r.now)
	if !alive {
		return nil
	}
	old, err := ask[*agent.Checkpoint](ctx, r.session, &agent.GetCheckpoint{Key: c.Key})
	switch {
	case err == nil && sameCheckpoint(old, c):
		return nil
	case err == nil:
		r.summary.Differences.add("checkpoint %q: there is another one", c.Key)
		return nil
	case !errors.Is(err, agent.ErrNotFound):
		return err
	}
	none := uint64(0)
	put := &agent.PutCheckpoint{
		Key: c.Key, Version: c.Version, State: agent.JSON(c.State), Lifecycle: c.Lifecycle, Metadata: agent.JSON(c.Metadata),
		TTL: ttl, IfRevision: &none,
	}
	if p := c.Thread; p != nil {
		put.Thread = &agent.Pointer{Thread: p.ID, Rev: p.Rev, Head: p.Head}
	}
	err = r.session.commit(ctx, put)
	if errors.Is(err, agent.ErrMissingThread) || errors.Is(err, agent.ErrThreadMismatch) {
		r.summary.Differences.add("checkpoint %q: its thread is not the export's: %v", c.Key, err)
		return nil
	}
	return err
}

func sameCheckpoint(stored *agent.Checkpoint, c *CheckpointRecord) bool {
	same := stored.Version == c.Version && stored.Lifecycle == c.Lifecycle &&
		equal(stored.State, agent.JSON(c.State)) && equal(stored.Metadata, agent.JSON(c.Metadata))
	p, q := stored.Thread, c.Thread
	if p == nil || q == nil {
		return same && p == nil && q == nil
	}
	return same && p.Thread == q.ID && p.Rev == q.Rev && p.Head == q.Head
}
