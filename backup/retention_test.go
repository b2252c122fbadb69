package backup_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/backup"
)

// hourly is a schedule.
func hourly(last time.Time) time.Time { return last.Add(time.Hour) }

// The clock of a leader is ahead by a month for some backups, and the log's time stays ahead after it.
func TestAClockThatIsAheadDeletesNoHistory(t *testing.T) {
	rule := backup.Retention{Log: 24 * time.Hour}
	start := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	var all []backup.Manifest
	for i := range 100 {
		now := start.Add(time.Duration(i) * time.Hour)
		clock, at := now, now
		if i >= 50 {
			at = at.AddDate(0, 1, 0)
		}
		if i >= 50 && i < 60 {
			clock = at
		}
		all = append(all, backup.Manifest{
			Name: fmt.Sprintf("%020d", i), Index: uint64(i + 1), Time: at.UnixMilli(), StartedAt: clock.UnixMilli(),
		})
		old, gone := rule.Expired(clock, hourly, all, []backup.SegmentRef{{From: uint64(i) - 22, To: uint64(i) - 22}})
		base := slices.IndexFunc(all, func(m backup.Manifest) bool {
			return !slices.ContainsFunc(old, func(o backup.Manifest) bool { return o.Name == m.Name })
		})
		if base > max(0, i-24) || i > 24 && len(gone) > 0 {
			t.Errorf("hour %d: the log is kept from hour %d on, and the segments %v are old", i, base, gone)
		}
		if i == 49 && base != 25 {
			t.Errorf("with right clocks the log is kept from hour %d on, want 25", base)
		}
	}
}

func TestRetentionKeepsTheNewestOfEachPeriod(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 30, 0, 0, time.UTC) // a Wednesday
	var all []backup.Manifest
	for i := 40 * 24; i >= 0; i-- { // one an hour, for 40 days
		at := now.Add(-time.Duration(i) * time.Hour)
		all = append(all, backup.Manifest{Name: at.Format("2006-01-02T15"), Index: uint64(2000 - i), Time: at.UnixMilli(), StartedAt: at.UnixMilli()})
	}
	for want, rule := range map[string]backup.Retention{
		"[2026-11-25T12]":                                           {},
		"[2026-11-25T11 2026-11-25T12]":                             {Last: 2},
		"[2026-11-25T10 2026-11-25T11 2026-11-25T12]":               {Hourly: 3},
		"[2026-11-23T23 2026-11-24T23 2026-11-25T12]":               {Daily: 3},
		"[2026-11-15T23 2026-11-22T23 2026-11-25T12]":               {Weekly: 3},
		"[2026-11-22T23 2026-11-24T23 2026-11-25T11 2026-11-25T12]": {Last: 2, Daily: 2, Weekly: 2},
		"[2026-11-25T02 2026-11-25T12]":                             {Last: 1, Log: 10 * time.Hour},
	} {
		old, _ := rule.Expired(now, hourly, all, nil)
		var kept []string
		for _, m := range all {
			if !slices.ContainsFunc(old, func(o backup.Manifest) bool { return o.Name == m.Name }) {
				kept = append(kept, m.Name)
			}
		}
		if got := fmt.Sprint(kept); got != want {
			t.Errorf("%+v keeps %s, want %s", rule, got, want)
		}
	}
}

// Each point in time of the period that is kept, and each kept backup, can be restored after the
// retention was applied, if it could before.
func TestRetentionKeepsWhatAPointInTimeNeeds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(t, rt)
		end := time.UnixMilli(d.log[len(d.log)-1].time)
		rule := backup.Retention{
			Last: rapid.IntRange(1, 3).Draw(rt, "last"), Hourly: rapid.IntRange(0, 2).Draw(rt, "hourly"),
			Log: time.Duration(rapid.IntRange(1, 200).Draw(rt, "log")) * time.Millisecond,
		}
		now := end.Add(time.Duration(rapid.IntRange(0, 50).Draw(rt, "later")) * time.Millisecond)
		all, err := d.List(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		old, gone := rule.Expired(now, hourly, all.Backups, all.Segments)
		for _, m := range old {
			if err := d.Delete(t.Context(), m.Name); err != nil {
				rt.Fatal(err)
			}
		}
		for _, s := range gone {
			if err := d.DeleteSegment(t.Context(), s); err != nil {
				rt.Fatal(err)
			}
		}
		for at := now.Add(-rule.Log); at.Before(end); at = at.Add(5 * time.Millisecond) {
			target := backup.Target{Time: at.UnixMilli()}
			if target.Time < d.log[0].time {
				continue
			}
			m, err := d.restore(t, target)
			if err != nil {
				rt.Fatalf("%+v at %v: restore to %v: %v", rule, now, target, err)
			}
			if index, _ := d.last(target); m.index != index {
				rt.Fatalf("a restore to %v ends at entry %d, want %d", target, m.index, index)
			}
		}
		kept, err := d.List(t.Context())
		if err != nil || len(kept.Backups) == 0 {
			rt.Fatalf("%d backups, %v", len(kept.Backups), err)
		}
		for _, m := range kept.Backups {
			if got, err := d.restore(t, backup.Target{Index: m.Index}); err != nil || got.index != m.Index {
				rt.Fatalf("the kept backup %s: %+v, %v", m.Name, got, err)
			}
		}
	})
}
