package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"dormouse/agent"
)

// VerifyRaw compares what is stored with an export, byte for byte.
func VerifyRaw(ctx context.Context, s agent.Service, open func() (io.ReadCloser, error), o RawOptions) (RawSummary, error) {
	o = o.filled()
	began := time.Now()
	var counted counters
	v := &rawVerify{session: newSession(s, o.Scope, o.GiveUp, &counted), now: began, nodes: map[string]bool{}}
	err := readAll(open, func(_ int, record Record) error {
		v.summary.Records.count(record)
		o.Progress(1)
		return v.record(ctx, record)
	})
	v.summary.Nodes = slices.Sorted(maps.Keys(v.nodes))
	v.summary.Retries, v.summary.Elapsed = counted.retries.Load(), time.Since(began)
	return v.summary, err
}

type rawVerify struct {
	session *session
	now     time.Time
	nodes   map[string]bool
	summary RawSummary

	thread string        // whose entries are being read; "" where they are skipped
	rev    uint64        // of it in the export
	page   []agent.Entry // stored entries that are yet to be compared
}

func (v *rawVerify) record(ctx context.Context, r Record) error {
	switch {
	case r.Value != nil:
		return v.value(ctx, r.Value)
	case r.Checkpoint != nil:
		return v.checkpoint(ctx, r.Checkpoint)
	case r.Thread != nil:
		return v.begin(ctx, r.Thread)
	case r.Entry != nil && v.thread != "":
		return v.entry(ctx, r.Entry)
	}
	return nil
}

// read asks one thing. A thing that is not there is a difference, not an error.
func read[T agent.Found](ctx context.Context, v *rawVerify, what, name string, question agent.Read) (found T, ok bool, err error) {
	answers, err := v.session.read(ctx, question)
	if err != nil {
		return found, false, err
	}
	v.nodes[answers.Node] = true
	found, err = foundIn[T](answers, 0)
	if errors.Is(err, agent.ErrNotFound) {
		v.summary.Differences.add("%s %q: it is not there", what, name)
		return found, false, nil
	}
	return found, err == nil, err
}

func (v *rawVerify) value(ctx context.Context, want *ValueRecord) error {
	if _, alive := remaining(want.ExpiresAt, v.now); !alive {
		return nil
	}
	stored, ok, err := read[*agent.Value](ctx, v, "value", want.Key, &agent.GetValue{Key: want.Key})
	if ok && (!bytes.Equal(stored.Bytes, want.Bytes) || stored.ContentType != want.ContentType) {
		v.summary.Differences.add("value %q: it differs", want.Key)
	}
	return err
}

func (v *rawVerify) checkpoint(ctx context.Context, want *CheckpointRecord) error {
	if _, alive := remaining(want.ExpiresAt, v.now); !alive {
		return nil
	}
	stored, ok, err := read[*agent.Checkpoint](ctx, v, "checkpoint", want.Key, &agent.GetCheckpoint{Key: want.Key})
	if ok && !sameCheckpoint(stored, want) {
		v.summary.Differences.add("checkpoint %q: it differs", want.Key)
	}
	return err
}

func (v *rawVerify) begin(ctx context.Context, want *ThreadRecord) error {
	v.thread, v.page = "", nil
	stored, ok, err := read[*agent.Thread](ctx, v, "thread", want.ID, &agent.GetThread{Thread: want.ID})
	if err != nil || !ok {
		return err
	}
	if stored.Rev != want.Rev || stored.Head.String() != want.Head || stored.Floor != want.Floor {
		v.summary.Differences.add("thread %q: the stored one has head %s at rev %d above %d, the export's %s at rev %d above %d",
			want.ID, stored.Head, stored.Rev, stored.Floor, want.Head, want.Rev, want.Floor)
		return nil
	}
	if !equal(stored.Metadata, agent.JSON(want.Metadata)) || !equal(stored.Summary, agent.JSON(want.Summary)) {
		v.summary.Differences.add("thread %q: its metadata or summary differs", want.ID)
	}
	v.thread, v.rev = want.ID, want.Rev
	return nil
}

func (v *rawVerify) entry(ctx context.Context, want *EntryRecord) error {
	if len(v.page) == 0 {
		page, ok, err := read[*agent.Entries](ctx, v, "thread", v.thread, &agent.LoadEntries{
			Thread: v.thread, From: want.Seq, AtRev: &v.rev, Limit: agent.EntriesLimitMax,
		})
		if err != nil {
			return err
		}
		if !ok || len(page.Items) == 0 {
			v.summary.Differences.add("thread %q: entry %d is not there", v.thread, want.Seq)
			v.thread = ""
			return nil
		}
		v.page = page.Items
	}
	e := v.page[0]
	v.page = v.page[1:]
	if e.Seq != want.Seq || e.ID != want.ID || e.At != want.At || e.Kind != want.Kind ||
		!equal(e.Payload, agent.JSON(want.Payload)) || !equal(e.Refs, agent.JSON(want.Refs)) {
		v.summary.Differences.add("thread %q: entry %d differs: %s", v.thread, want.Seq, firstDifference(
			fmt.Appendf(nil, "%d %s %d %s %s %s", e.Seq, e.ID, e.At, e.Kind, e.Payload, e.Refs),
			fmt.Appendf(nil, "%d %s %d %s %s %s", want.Seq, want.ID, want.At, want.Kind, want.Payload, want.Refs)))
		v.thread = ""
	}
	return nil
}
