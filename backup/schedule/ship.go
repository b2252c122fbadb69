package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/agent/layout"
	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/internal/pause"
	"dormouse/internal/retry"
)

// ErrCompacted means that the log does not hold an entry any more.
var ErrCompacted = errors.New("the log lacks the next entry")

// errNoStart means that a backup is needed before the log can be shipped.
var errNoStart = errors.New("there is no backup that the log would continue: waiting for one")

// collectEvery is the interval at which new entries are read.
const collectEvery = time.Second

// shipper ships the log while this node leads.
type shipper struct {
	*Runner
	catalog *backup.Catalog
	segment *backup.SegmentWriter // nil before the start is known
	began   time.Time             // when the segment got its first entry
	after   point                 // behind which the segment began that was made last by begin or put
	gapped  bool                  // a gap was recorded, and the log has not begun again
	known   map[string]bool       // names of the backups that there were when the gap asked for one
	wrong   map[point]bool        // points at the destination that the log does not continue
}

// point is an entry with the chain up to it: another log may have another entry at the same index.
type point struct {
	index uint64
	chain uint32
}

// ship ships the log until ctx ends.
func (r *Runner) ship(ctx context.Context) {
	c, err := r.current()
	if err != nil {
		return // this node has stopped leading
	}
	s := &shipper{Runner: r, catalog: c, wrong: map[point]bool{}}
	attempts := retry.New(collectEvery, retryMax/10)
	for ctx.Err() == nil {
		err := s.step(ctx)
		switch {
		case err == nil:
			attempts.Reset()
			pause.For(ctx, min(collectEvery, r.o.LogEvery))
			continue
		case errors.Is(err, ErrCompacted):
			s.gap(ctx, err)
		case errors.Is(err, errNoStart):
		case ctx.Err() == nil:
			r.metrics.logFailures.Inc()
			r.o.Logger.Error("cannot ship the log; trying again", "error", err)
		}
		s.segment = nil // begins again behind the last entry that is at the destination
		r.update(func(s *layout.BackupStatus) { s.LogError = err.Error() })
		attempts.Wait(ctx)
	}
}

// gap records that entries are lost for the shipped log, and asks for a backup. If the log does not
// continue that one either, as after a compaction in the meantime, gap asks for another once it is
// complete.
func (s *shipper) gap(ctx context.Context, why error) {
	all, err := s.catalog.ListBackups(ctx)
	if err != nil {
		return // the next step finds the same gap
	}
	if s.gapped && !slices.ContainsFunc(all.Backups, func(m backup.Manifest) bool { return !s.known[m.Name] }) {
		return // the backup is under way
	}
	if !s.gapped {
		s.metrics.gaps.Inc()
		s.update(func(status *layout.BackupStatus) { status.Gaps++ })
	}
	s.gapped, s.known = true, map[string]bool{}
	for _, m := range all.Backups {
		s.known[m.Name] = true
	}
	s.o.Logger.Error("the shipped log has a gap: points in time in it cannot be restored; taking a backup", "error", why)
	s.want()
}

// step collects new entries, and ships the segment once it is due.
func (s *shipper) step(ctx context.Context) error {
	if s.segment == nil {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	for {
		full, err := s.collect()
		if err != nil {
			return err
		}
		if s.segment.Empty() {
			s.update(func(status *layout.BackupStatus) { status.LogError = "" })
			return nil
		}
		if !full && time.Since(s.began) < s.o.LogEvery-collectEvery/2 {
			return nil
		}
		if err := s.put(ctx); err != nil {
			return err
		}
		if !full {
			return nil
		}
	}
}

// collect reads new entries. It reports whether the segment is full.
func (s *shipper) collect() (full bool, err error) {
	empty := s.segment.Empty()
	var bad error
	last, err := s.o.Source.Entries(s.segment.Head().To, func(e backup.Entry, time int64) bool {
		bad = s.segment.Add(e, time)
		full = s.segment.Bytes() >= s.o.LogBytes
		return bad == nil && !full
	})
	if err := errors.Join(err, bad); err != nil {
		return false, err
	}
	s.segment.Extend(last)
	if empty && !s.segment.Empty() {
		s.began = time.Now()
	}
	head := s.segment.Head()
	if chain, ok := s.o.Source.ChainAt(head.To); ok && chain != head.Chain {
		s.wrong[s.after] = true
		return false, fmt.Errorf("%w: the entries up to %d give chain %08x, and the state has %08x", ErrCompacted, head.To, head.Chain, chain)
	}
	return full, nil
}

// put ships the segment, and begins the next one.
func (s *shipper) put(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shipTimeout)
	defer cancel()
	ref, err := s.catalog.PutSegment(ctx, s.o.Key, s.o.Recipients, s.segment)
	if err != nil {
		return err
	}
	s.metrics.logBytes.Add(float64(ref.Bytes))
	h := s.segment.Head()
	s.segment, s.after = backup.NewSegment(s.catalog.Cluster, s.o.Node, h.To, h.Chain, h.Time), point{h.To, h.Chain}
	s.shipped(h.To, h.Time)
	s.update(func(status *layout.BackupStatus) { status.LogError = "" })
	return nil
}

func (s *shipper) shipped(to uint64, at int64) {
	s.update(func(status *layout.BackupStatus) { status.ShippedTo, status.ShippedTime = to, at })
}

// start finds the entry behind which to continue: the last one that was shipped. If there is none, or
// if the log lacks the next entry, it is the last one of the oldest backup after it that the log
// continues.
func (s *shipper) start(ctx context.Context) error {
	all, err := s.catalog.ListBackups(ctx)
	if err != nil {
		return err
	}
	lost := errNoStart
	head, err := s.catalog.Head(ctx)
	switch {
	case err == nil && !s.wrong[point{head.To, head.Chain}]:
		s.shipped(head.To, head.Time)
		if lost = s.begin(head.To, head.Chain, head.Time); !errors.Is(lost, ErrCompacted) {
			return lost
		}
	case err == nil || errors.Is(err, blob.ErrNotFound):
	case errors.Is(err, backup.ErrDocument):
		s.o.Logger.Warn("it is not known how far the log was shipped; continuing behind a backup", "error", err)
	default:
		return err // the head is not known: a backup may be behind it
	}
	for _, m := range all.Backups {
		if s.wrong[point{m.Index, m.Chain}] || err == nil && !s.wrong[point{head.To, head.Chain}] && m.Index <= head.To {
			continue
		}
		if lost = s.begin(m.Index, m.Chain, m.Time); !errors.Is(lost, ErrCompacted) {
			return lost
		}
	}
	return lost
}

// begin begins a segment behind an entry, if the log has the next one.
func (s *shipper) begin(after uint64, chain uint32, at int64) error {
	if _, err := s.o.Source.Entries(after, func(backup.Entry, int64) bool { return false }); err != nil {
		return err
	}
	s.segment, s.gapped = backup.NewSegment(s.catalog.Cluster, s.o.Node, after, chain, at), false
	s.after = point{after, chain}
	s.shipped(after, at)
	return nil
}
