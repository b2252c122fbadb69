package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"dormouse/backup/blob"
)

// Target is the entry or the instant at which a restored state ends. The zero value is the end of
// what was shipped.
type Target struct {
	Index uint64
	Time  int64 // Unix milliseconds, by the wall time of the log
}

// ParseTarget returns the target of "latest" or "", of an index, or of an instant as in RFC 3339.
func ParseTarget(text string) (Target, error) {
	if text == "" || text == "latest" {
		return Target{}, nil
	}
	if index, err := strconv.ParseUint(text, 10, 64); err == nil && index > 0 {
		return Target{Index: index}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.UnixMilli() <= 0 {
		return Target{}, fmt.Errorf("%q is no point in time: write an index of the log, an instant such as 2026-11-25T13:30:00Z, or latest", text)
	}
	return Target{Time: at.UnixMilli()}, nil
}

// String returns the text of a target.
func (t Target) String() string {
	switch {
	case t.Index > 0:
		return fmt.Sprintf("entry %d", t.Index)
	case t.Time > 0:
		return When(t.Time)
	}
	return "the end"
}

// When returns the text of a time in Unix milliseconds.
func When(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// before reports whether a state with that last entry is at or before the target.
func (t Target) before(index uint64, time int64) bool {
	switch {
	case t.Index > 0:
		return index <= t.Index
	case t.Time > 0:
		return time <= t.Time
	}
	return true
}

// Plan is how a state is built: a backup, and the segments after it.
type Plan struct {
	Cluster  string
	Target   Target
	Base     Manifest
	Segments []SegmentRef // those that may be needed
	Head     uint64       // the last entry that was shipped; 0 if the log was not
	HeadTime int64
	// Foreign are the names of backups after Base, and at or before the target, that no trusted key has signed.
	Foreign []string

	catalog *Catalog
	older   []Manifest   // whole backups before Base, in the order of their names
	log     []SegmentRef // all segments
}

// Plan chooses the newest backup at or before the target. It returns an error if a manifest is damaged that could
// change the choice, or if there is no such backup. It does not use foreign backups.
func (c *Catalog) Plan(ctx context.Context, t Target) (*Plan, error) {
	all, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	var base Manifest
	behind := uint64(math.MaxUint64) // the index of the first backup after the target
	for _, m := range all.Backups {
		if t.before(m.Index, m.Time) {
			base = m
		} else {
			behind = min(behind, m.Index)
		}
	}
	// between reports whether the backup of a name may be the newest one at or before the target.
	between := func(name string) bool {
		index := indexOf(name)
		return index > base.Index && index < behind && (t.Index == 0 || index <= t.Index)
	}
	for name, why := range all.Damages {
		if between(name) {
			return nil, fmt.Errorf("the manifest of backup %s: %w: move %s%s%s away to restore without it", name, why, c.Cluster, backupsDir, name)
		}
	}
	var foreign []string
	for _, name := range slices.Sorted(maps.Keys(all.Foreign)) {
		if between(name) {
			foreign = append(foreign, name)
		}
	}
	if base.Name == "" && len(foreign) > 0 {
		return nil, fmt.Errorf("no backup of cluster %s at or before %v is signed by a trusted key: %w", c.Cluster, t, all.Foreign[foreign[len(foreign)-1]])
	}
	switch {
	case len(all.Backups) == 0:
		return nil, fmt.Errorf("there is no whole backup of cluster %s", c.Cluster)
	case base.Name == "":
		first := all.Backups[0]
		return nil, fmt.Errorf("the oldest backup, %s, ends at entry %d of %s, after %v: choose a later point in time", first.Name, first.Index, When(first.Time), t)
	}
	p, err := c.plan(ctx, all.Segments, base, t)
	if err != nil {
		return nil, err
	}
	p.Foreign = foreign
	for _, m := range all.Backups {
		if m.Name < base.Name {
			p.older = append(p.older, m)
		}
	}
	return p, nil
}

// Older returns the plan with the next older backup, for a state that cannot be used. It returns false if there is none,
// or if no segments lead from it to the backup of p.
func (p *Plan) Older() (*Plan, bool) {
	last := len(p.older) - 1
	if last < 0 {
		return nil, false
	}
	next := *p
	next.Base, next.older = p.older[last], p.older[:last]
	next.Segments = segmentsAfter(p.log, next.Base.Index)
	rest := newSequence(next.Segments)
	for pos := next.Base.Index; pos < p.Base.Index; {
		holding := rest.holding(pos)
		if len(holding) == 0 {
			return nil, false
		}
		pos = holding[0].To
	}
	return &next, true
}

// segmentsAfter returns the segments with entries after an index.
func segmentsAfter(segments []SegmentRef, index uint64) (all []SegmentRef) {
	for _, s := range segments {
		if s.To > index {
			all = append(all, s)
		}
	}
	return all
}

// ErrState is wrapped by the error of a backup whose state is not that of its manifest.
var ErrState = errors.New("the state is not that of the manifest")

// PlanFrom is Plan with a backup that the caller has chosen.
func (c *Catalog) PlanFrom(ctx context.Context, base Manifest, t Target) (*Plan, error) {
	all, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	return c.plan(ctx, all.Segments, base, t)
}

func (c *Catalog) plan(ctx context.Context, segments []SegmentRef, base Manifest, t Target) (*Plan, error) {
	p := &Plan{Cluster: c.Cluster, Target: t, Base: base, Segments: segmentsAfter(segments, base.Index), catalog: c, log: segments}
	switch h, err := c.Head(ctx); {
	case err == nil:
		p.Head, p.HeadTime = h.To, h.Time
	case errors.Is(err, ErrDocument) && t != (Target{}): // the target says where to end
	case errors.Is(err, ErrDocument):
		return nil, fmt.Errorf("%w, and it says where the shipped log ends: name the entry or the instant to restore", err)
	case !errors.Is(err, blob.ErrNotFound):
		return nil, err
	case len(segments) > 0 && t == (Target{}):
		return nil, fmt.Errorf("%s%s is missing, which says where the shipped log ends: name the entry or the instant to restore", c.Cluster, headFile)
	}
	return p, nil
}

// Machine is a state machine that holds the state of a backup.
type Machine interface {
	Chain() (index uint64, chain uint32)
	Stamps() (tick uint64, wall int64)
	Replay(index, term uint64, entry []byte) error
}

// Outcome is the state that a replay has ended with.
type Outcome struct {
	Index    uint64 // the last entry of the state
	Time     int64  // of the log, at that entry
	Chain    uint32
	Segments int
	Entries  int // that were applied
}

// Replay applies the entries after the backup to a machine with its state, up to the target.
// entryTime returns the wall time of an entry, and progress is called after each segment. The error
// says which entries are missing or damaged: the state has then ended before the target.
func (p *Plan) Replay(ctx context.Context, m Machine, entryTime func([]byte) (int64, error), progress func(Outcome)) (o Outcome, err error) {
	o.Index, o.Chain = m.Chain()
	_, o.Time = m.Stamps()
	if o.Index != p.Base.Index || o.Chain != p.Base.Chain {
		return o, fmt.Errorf("%w: backup %s ends at entry %d with chain %08x, and its manifest says entry %d with chain %08x", ErrState, p.Base.Name, o.Index, o.Chain, p.Base.Index, p.Base.Chain)
	}
	rest := newSequence(p.Segments)
	pos := o.Index // up to which the log is known; not below o.Index
	for done := p.Target.Index == pos; !done; {
		s, err := p.segment(ctx, rest.holding(pos), pos, o.Chain)
		if err != nil {
			return o, err
		}
		if s == nil {
			return o, p.ended(rest, pos, o)
		}
		if done, err = p.apply(ctx, m, s, entryTime, &o); err != nil {
			return o, err
		}
		pos = s.To
		o.Segments++
		if progress != nil {
			progress(o)
		}
		done = done || p.Target.Index > 0 && pos >= p.Target.Index
	}
	return o, nil
}

// segment returns the first of some segments that can be read and continues the log at entry pos; nil
// if there are none. If none can be used, segment returns the error of the first.
func (p *Plan) segment(ctx context.Context, all []SegmentRef, pos uint64, chain uint32) (*Segment, error) {
	var first error
	for _, ref := range all {
		s, err := p.catalog.Segment(ctx, ref)
		if err == nil && s.ChainAt(pos) != chain {
			err = fmt.Errorf("segment %d-%d does not continue the log: its chain at entry %d is %08x, and that of the state %08x", ref.From, ref.To, pos, s.ChainAt(pos), chain)
		}
		if err == nil {
			return s, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// apply applies the entries of a segment after the state's last one, up to the target. It reports
// whether the target was reached.
func (p *Plan) apply(ctx context.Context, m Machine, s *Segment, entryTime func([]byte) (int64, error), o *Outcome) (bool, error) {
	for _, e := range s.All {
		if e.Index <= o.Index {
			continue
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		stamped, err := entryTime(e.Data)
		if err != nil {
			return false, fmt.Errorf("entry %d: %w", e.Index, err)
		}
		if !p.Target.before(e.Index, max(stamped, o.Time)) {
			return true, nil
		}
		if err := m.Replay(e.Index, e.Term, e.Data); err != nil {
			return false, err
		}
		o.Entries++
		o.Index, o.Chain = m.Chain()
		_, o.Time = m.Stamps()
		if want := s.ChainAt(e.Index); o.Chain != want {
			return false, fmt.Errorf("after entry %d the chain of the state is %08x, and that of the log %08x", e.Index, o.Chain, want)
		}
	}
	return false, nil
}

// ended returns the error of a log that has no entry after pos, or nil if that is the target.
func (p *Plan) ended(rest *sequence, pos uint64, o Outcome) error {
	if from, ok := rest.next(); ok {
		return fmt.Errorf("the entries %d to %d are missing: no segment holds them; a restore up to entry %d (%s) is possible", pos+1, from-1, o.Index, When(o.Time))
	}
	switch {
	case p.Target.Index > 0:
		return fmt.Errorf("the shipped log ends at entry %d, before entry %d: choose --at %d or less", pos, p.Target.Index, pos)
	case p.Target.Time > 0:
		return fmt.Errorf("the shipped log ends at entry %d of %s, so entries up to %v may be missing: choose --at %d, or an earlier instant", pos, When(o.Time), p.Target, pos)
	case pos < p.Head:
		return fmt.Errorf("the entries %d to %d were shipped, and their segments are missing: choose --at %d to restore without them", pos+1, p.Head, pos)
	}
	return nil
}
