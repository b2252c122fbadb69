package backup

import (
	"cmp"
	"slices"
	"time"
)

// Retention says which backups are kept. A backup is kept if one of the rules keeps it. The newest
// one always is.
type Retention struct {
	Last   int // this many of the newest
	Hourly int // the newest of each of the last hours with a backup: this many hours
	Daily  int // as Hourly, for days in UTC
	Weekly int // as Hourly, for weeks in UTC that begin on Monday
	// Log keeps each entry or instant of this last period restorable: the newest backup from before
	// it, and all segments after that one. 0 keeps the segments after the newest backup. The time between
	// two backups counts for at most the interval of the schedule.
	Log time.Duration
}

// period returns a name of the hour, day or week of an instant.
type period func(time.Time) [2]int

func hour(t time.Time) [2]int { return [2]int{t.Year(), t.YearDay()*24 + t.Hour()} }
func day(t time.Time) [2]int  { return [2]int{t.Year(), t.YearDay()} }
func week(t time.Time) [2]int { year, week := t.ISOWeek(); return [2]int{year, week} }

// Expired returns the backups and the segments that no rule keeps at the time now. due returns when the
// schedule takes the backup after one that began at last. Backups are in the order of their names.
func (r Retention) Expired(now time.Time, due func(last time.Time) time.Time, backups []Manifest, segments []SegmentRef) (old []Manifest, gone []SegmentRef) {
	if len(backups) == 0 {
		return nil, nil
	}
	keep := map[string]bool{}
	for i := range max(r.Last, 1) {
		if i < len(backups) {
			keep[backups[len(backups)-1-i].Name] = true
		}
	}
	for _, rule := range []struct {
		count int
		of    period
	}{{r.Hourly, hour}, {r.Daily, day}, {r.Weekly, week}} {
		seen := map[[2]int]bool{}
		for i := len(backups) - 1; i >= 0 && len(seen) < rule.count; i-- {
			if p := rule.of(time.UnixMilli(backups[i].Time).UTC()); !seen[p] {
				seen[p], keep[backups[i].Name] = true, true
			}
		}
	}
	base := r.base(now, due, backups)
	keep[base.Name] = true
	for _, m := range backups {
		if !keep[m.Name] {
			old = append(old, m)
		}
	}
	for _, s := range segments {
		if s.To <= base.Index {
			gone = append(gone, s)
		}
	}
	return old, gone
}

// base returns the backup from which the oldest restorable point in time is replayed: the newest one that is as old
// as Log by the time of the log, and by the intervals between the backups since. An interval counts for at most that
// of the schedule. So a node whose clock is far ahead, or one after it, finds no history older than it is.
func (r Retention) base(now time.Time, due func(time.Time) time.Time, backups []Manifest) Manifest {
	if r.Log == 0 {
		return backups[len(backups)-1]
	}
	oldest, next, age := now.Add(-r.Log).UnixMilli(), now, time.Duration(0)
	for i := len(backups) - 1; i >= 0; i-- {
		m := &backups[i]
		began := time.UnixMilli(m.StartedAt)
		age += max(0, min(next.Sub(began), due(began).Sub(began)))
		if age >= r.Log && m.Time <= oldest {
			return *m
		}
		next = began
	}
	return backups[0]
}

// LogBase returns the position of the oldest backup from which the shipped log goes on: retention keeps backups that
// are older than the first segment. If the first segment begins after all backups, it is the newest one, and the
// entries in between are missing. Backups are in the order of their names, and there is at least one.
func LogBase(backups []Manifest, segments []SegmentRef) int {
	newest := len(backups) - 1
	if len(segments) == 0 {
		return newest
	}
	first := slices.MinFunc(segments, func(a, b SegmentRef) int { return cmp.Compare(a.From, b.From) }).From
	if i := slices.IndexFunc(backups, func(m Manifest) bool { return m.Index+1 >= first }); i >= 0 {
		return i
	}
	return newest
}
