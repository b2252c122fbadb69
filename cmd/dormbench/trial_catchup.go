package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/bench/usage"
	"dormouse/internal/pause"
)

// Sizes of the trial catch-up with an empty follower.
const (
	logWriters     = 4               // few, because the commits of many writers share a log entry
	logWriteFor    = 5 * time.Second // between two reads of the log's index
	entryDiskBytes = 4 << 10         // maximum disk space of an entry on a node, besides the fixed space of a log
	logMiB         = 2 << 10         // maximum space of the logs of all nodes
	catchUpTimes   = 3               // number of repetitions of each measurement, because the entries take the most time
	catchUpCallers = 64              // callers of the load while the follower catches up
	loadMax        = 24 * time.Hour  // the load ends with the measurement
)

// catchUp measures how long a follower takes to catch up after it was stopped and kept
// its data, and after it lost its data.
func (st *stage) catchUp(ctx context.Context) ([]report.Trial, error) {
	var found []report.Trial
	if st.size.catchUpMiB > 0 {
		away, err := st.catchUpAway(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, away...)
	}
	if st.size.catchUpEntries > 0 {
		empty, err := st.catchUpEmpty(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, empty...)
	}
	return found, nil
}

// catchUpAway measures how long a stopped follower takes to catch up: from its restart
// until it has applied everything that the leader had applied at that time. The writes
// in the meantime exceed the log, so the follower needs a snapshot.
func (st *stage) catchUpAway(ctx context.Context) (found []report.Trial, err error) {
	if err := st.roomFor(4 * st.size.catchUpMiB * system.NodesDefault); err != nil {
		return nil, err
	}
	err = st.with(ctx, system.Dormouse, 0, func(s *system.System, d load.Driver) error {
		leader, err := s.Leader(ctx)
		if err != nil {
			return err
		}
		away := (leader + 1) % len(s.Nodes)
		if err := s.Nodes[away].Stop(); err != nil {
			return err
		}
		f := load.Fill{Prefix: "fill", Agents: st.size.catchUpMiB << 20 / fillBytes, Checkpoint: fillBytes}
		if err := st.fill(ctx, d, f); err != nil {
			return err
		}
		_, took, err := st.timeCatchUp(ctx, s, away)
		if err != nil {
			return err
		}
		if n, err := system.Restores(ctx, s.HTTP[away]); err != nil {
			return err
		} else if n == 0 {
			return fmt.Errorf("the follower installed no snapshot, because the log still had the written %d MiB: increase --catch-up-mib", st.size.catchUpMiB)
		}
		found = []report.Trial{{
			Name: report.TrialCatchUp, System: s.Name, Value: took.Seconds(), Unit: "s",
			Note: fmt.Sprintf("from its start until it had all, %d MiB behind: %.0f MiB/s", st.size.catchUpMiB, float64(st.size.catchUpMiB)/took.Seconds()),
		}}
		return nil
	})
	return found, err
}

// catchUpEmpty measures how long a follower without data takes to catch up: until it
// has applied everything that the leader had applied when the follower started. It
// measures several times without writes, then several times under load.
func (st *stage) catchUpEmpty(ctx context.Context) (found []report.Trial, err error) {
	if err := st.roomFor(st.size.catchUpEntries*entryDiskBytes>>20*system.NodesDefault + logMiB); err != nil {
		return nil, err
	}
	err = st.with(ctx, system.Dormouse, 0, func(s *system.System, d load.Driver) error {
		if err := st.fillLog(ctx, s, d); err != nil {
			return err
		}
		var quiet, busy []caughtUp
		bar := st.a.newCount("replacing a follower", 2*catchUpTimes, "times")
		defer bar.end()
		for range catchUpTimes {
			c, err := st.replaceFollower(ctx, s)
			if err != nil {
				return err
			}
			quiet = append(quiet, c)
			bar.add(1)
		}
		for range catchUpTimes {
			c, err := st.replaceUnderLoad(ctx, s, d)
			if err != nil {
				return err
			}
			busy = append(busy, c)
			bar.add(1)
		}
		found = append(caughtUpTrials(report.TrialCatchUpEmpty, quiet), caughtUpTrials(report.TrialCatchUpLoad, busy)...)
		return nil
	})
	return found, err
}

// caughtUp is the result of one measurement of an empty follower.
type caughtUp struct {
	index       uint64        // of the last entry that the leader had applied when the follower started
	took, ready time.Duration // from the start until it had applied that entry, and until it was ready
	installs    int           // snapshots that it installed
	snapshot    int64         // bytes of the one that it installed
	log         int           // bytes of the entries in the leader's log
	peak        int64         // bytes of the follower's memory
	before      float64       // writes per second while all nodes ran; 0 without load
	meanwhile   float64       // writes per second from the follower's stop until it was ready
}

// caughtUpTrials returns the medians of several measurements.
func caughtUpTrials(name string, all []caughtUp) []report.Trial {
	add := func(list []report.Trial, what, unit, note string, value func(caughtUp) float64) []report.Trial {
		var values []float64
		for _, c := range all {
			values = append(values, value(c))
		}
		note += fmt.Sprintf("; %.4g to %.4g in %d times", slices.Min(values), slices.Max(values), len(values))
		return append(list, report.Trial{Name: name + what, System: system.Dormouse, Value: report.Median(values), Unit: unit, Note: note})
	}
	last := all[len(all)-1]
	note := fmt.Sprintf("from its start until it had applied entry %d; the leader's log had %d MiB", last.index, last.log>>20)
	list := add(nil, "", "s", note, func(c caughtUp) float64 { return c.took.Seconds() })
	list = add(list, ", ready", "s", "from its start until it was ready", func(c caughtUp) float64 { return c.ready.Seconds() })
	list = add(list, ", installs", "", "snapshots that it installed", func(c caughtUp) float64 { return float64(c.installs) })
	list = add(list, ", snapshot", "MiB", "size of the files of the snapshot", func(c caughtUp) float64 { return float64(c.snapshot) / (1 << 20) })
	list = add(list, ", memory", "MiB", "maximum resident memory", func(c caughtUp) float64 { return float64(c.peak) / (1 << 20) })
	if last.before > 0 {
		note := fmt.Sprintf("writes of %d callers from the follower's stop until it was ready, against before: %.0f a second, and %.0f", catchUpCallers, last.meanwhile, last.before)
		list = add(list, ", writes", "×", note, func(c caughtUp) float64 { return c.meanwhile / c.before })
	}
	return list
}

// fillLog writes until the log has had the requested number of entries.
func (st *stage) fillLog(ctx context.Context, s *system.System, d load.Driver) error {
	bar := st.a.newCount("writing log entries", st.size.catchUpEntries, "entries")
	defer bar.end()
	w, _ := load.ByName("append-300-many")
	for had := 0; had < st.size.catchUpEntries; {
		if _, err := load.Run(ctx, d, load.Options{Workload: w, Callers: logWriters, Duration: logWriteFor, Prefix: "log", Stored: true}); err != nil {
			return err
		}
		leader, err := s.Leader(ctx)
		if err != nil {
			return err
		}
		status, err := system.Look(ctx, s.HTTP[leader])
		if err != nil {
			return err
		}
		bar.add(int(status.AppliedIndex) - had)
		had = int(status.AppliedIndex)
	}
	return nil
}

// replaceFollower stops a follower, removes its data, restarts it and measures how it
// catches up.
func (st *stage) replaceFollower(ctx context.Context, s *system.System) (c caughtUp, err error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return c, err
	}
	empty := (leader + 1) % len(s.Nodes)
	if err := s.Nodes[empty].Stop(); err != nil {
		return c, err
	}
	if err := os.RemoveAll(s.Nodes[empty].Dir); err != nil {
		return c, fmt.Errorf("remove the data of a node: %w", err)
	}
	if c.log, err = system.LogBytes(ctx, s.HTTP[leader]); err != nil {
		return c, err
	}
	began := time.Now()
	if c.index, c.took, err = st.timeCatchUp(ctx, s, empty); err != nil {
		return c, err
	}
	if err := s.Await(ctx, func(ctx context.Context) error { return system.Ready(ctx, s.HTTP[empty]) }); err != nil {
		return c, err
	}
	c.ready = time.Since(began)
	if c.installs, err = system.Installs(ctx, s.HTTP[empty]); err != nil {
		return c, err
	}
	if c.installs == 0 {
		return c, fmt.Errorf("the follower installed no snapshot, because the leader's log still had all entries up to %d: increase --catch-up-entries", c.index)
	}
	if c.snapshot, err = installedSize(s.Nodes[empty].Dir); err != nil {
		return c, err
	}
	c.peak, err = usage.Peak(s.Nodes[empty].PID())
	return c, err
}

// replaceUnderLoad is replaceFollower while callers write. It measures the rate of
// acknowledged writes before and during the replacement.
func (st *stage) replaceUnderLoad(ctx context.Context, s *system.System, d load.Driver) (c caughtUp, err error) {
	loadCtx, end := context.WithCancel(ctx)
	var answered atomic.Int64
	done := make(chan error, 1)
	go func() {
		w, _ := load.ByName("put-1k")
		_, err := load.Run(loadCtx, d, load.Options{
			Workload: w, Callers: catchUpCallers, Duration: loadMax, Prefix: "catch-up",
			Answered: func(time.Time) { answered.Add(1) },
			Failed:   func(error) bool { return pause.For(loadCtx, retryPause) },
		})
		done <- err
	}()
	defer func() {
		end()
		if ended := <-done; !errors.Is(ended, context.Canceled) {
			err = errors.Join(err, ended)
		}
	}()
	rate := func(do func()) float64 {
		from, began := answered.Load(), time.Now()
		do()
		return float64(answered.Load()-from) / time.Since(began).Seconds()
	}
	pause.For(ctx, st.warmup)
	before := rate(func() { pause.For(ctx, st.duration) })
	meanwhile := rate(func() { c, err = st.replaceFollower(ctx, s) })
	c.before, c.meanwhile = before, meanwhile
	return c, err
}

// timeCatchUp restarts a follower. It returns the index that the leader had applied
// before, and the time until the follower has applied it.
func (st *stage) timeCatchUp(ctx context.Context, s *system.System, follower int) (index uint64, took time.Duration, err error) {
	leader, err := s.Leader(ctx)
	if err != nil {
		return 0, 0, err
	}
	status, err := system.Look(ctx, s.HTTP[leader])
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := restart(s.Nodes, follower); err != nil {
		return 0, 0, err
	}
	err = s.Await(ctx, func(ctx context.Context) error {
		now, err := system.Look(ctx, s.HTTP[follower])
		if err == nil && now.AppliedIndex < status.AppliedIndex {
			err = fmt.Errorf("the follower has applied %d of %d", now.AppliedIndex, status.AppliedIndex)
		}
		return err
	})
	return status.AppliedIndex, time.Since(began), err
}

// installedSize returns the size in bytes of the snapshot that a node has installed:
// the largest that it keeps.
func installedSize(dir string) (size int64, err error) {
	snapshots := filepath.Join(dir, "state", "snapshots")
	entries, err := os.ReadDir(snapshots)
	if err != nil {
		return 0, fmt.Errorf("list the snapshots of a node: %w", err)
	}
	for _, e := range entries {
		one, err := sizeOf(filepath.Join(snapshots, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		size = max(size, one)
	}
	return size, nil
}
