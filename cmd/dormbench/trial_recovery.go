package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
)

const (
	failoverCallers = 64
	failoverAfter   = 4 * time.Second // time of load before the kill
	failoverCallMax = time.Second     // of each call, so that callers leave a silent node
	retryPause      = 5 * time.Millisecond
	fillBytes       = 16 << 10 // size of a checkpoint that fills the disk
	fillAgents      = 4096     // agents written between two checks of the disk
)

// leads returns the number of the leading node.
func leads(ctx context.Context, s *system.System, d load.Driver) (int, error) {
	if e, ok := d.(*etcd); ok {
		return e.leader(ctx, s.Endpoints)
	}
	return s.Leader(ctx)
}

// failover kills the leader of each replicated system.
func (st *stage) failover(ctx context.Context) ([]report.Trial, error) {
	return st.lose(ctx, report.TrialFailover, "from the kill on", (*system.Process).Kill)
}

// failoverSilent freezes the leader of each replicated system.
func (st *stage) failoverSilent(ctx context.Context) ([]report.Trial, error) {
	return st.lose(ctx, report.TrialSilent, "from the SIGSTOP on", (*system.Process).Freeze)
}

// lose measures how long nothing is acknowledged after how has been done to the leader.
func (st *stage) lose(ctx context.Context, trial, since string, how func(*system.Process) error) ([]report.Trial, error) {
	var found []report.Trial
	for _, name := range []string{system.Dormouse, system.Etcd} {
		if !slices.Contains(st.systems, name) {
			continue
		}
		var gap silence
		err := st.with(ctx, name, 0, func(s *system.System, d load.Driver) error {
			return st.loseUnderLoad(ctx, s, d, how, &gap)
		})
		var absent *system.AbsentError
		if errors.As(err, &absent) {
			st.a.tell("skipped: %v", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, report.Trial{
			Name: trial, System: name, Value: gap.longest.Seconds(), Unit: "s",
			Note: fmt.Sprintf("the longest time without an acknowledged write %s, %d callers", since, failoverCallers),
		})
	}
	return found, nil
}

func (st *stage) loseUnderLoad(ctx context.Context, s *system.System, d load.Driver, how func(*system.Process) error, gap *silence) error {
	leader, err := leads(ctx, s, d)
	if err != nil {
		return err
	}
	w, _ := load.ByName("put-1k")
	var losing sync.WaitGroup
	var failed error
	_, err = load.Run(ctx, d, load.Options{
		Workload: w, Callers: failoverCallers, Warmup: failoverAfter, Duration: st.size.failoverFor, Prefix: "failover", CallMax: failoverCallMax,
		Answered: gap.answered,
		Failed: func(error) bool { // callers continue after a pause, so that they leave CPU time to the election
			time.Sleep(retryPause)
			return true
		},
		Window: func(opens bool) {
			if !opens {
				gap.ends(time.Now())
				return
			}
			losing.Go(func() {
				gap.begins(time.Now())
				failed = how(s.Nodes[leader])
			})
		},
	})
	losing.Wait()
	return errors.Join(err, failed)
}

// silence measures the longest time without an answer from begins to ends.
type silence struct {
	mu      sync.Mutex
	last    time.Time // the latest answer, or the time of begins; zero before that; guarded by mu
	longest time.Duration
	over    bool // guarded by mu
}

func (s *silence) begins(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = at
}

func (s *silence) answered(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() || s.over || at.Before(s.last) {
		return
	}
	s.longest = max(s.longest, at.Sub(s.last))
	s.last = at
}

func (s *silence) ends(at time.Time) {
	s.answered(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// coldStart measures how long a single node takes from its start until it has answered
// a read, with much data and a cold page cache. The node was killed before, so it
// replays the log entries that its state lacks.
func (st *stage) coldStart(ctx context.Context) (found []report.Trial, err error) {
	if err := st.roomFor(3 * st.size.coldMiB); err != nil {
		return nil, err
	}
	err = st.with(ctx, system.Dormouse, 1, func(s *system.System, d load.Driver) error {
		size, err := st.fillDisk(ctx, s, d)
		if err != nil {
			return err
		}
		if err := s.Nodes[0].Kill(); err != nil {
			return err
		}
		if err := forget(s.Nodes[0].Dir); err != nil {
			return err
		}
		began := time.Now()
		if err := restart(s.Nodes, 0); err != nil {
			return err
		}
		if err := s.Await(ctx, func(ctx context.Context) error { return system.Ready(ctx, s.HTTP[0]) }); err != nil {
			return err
		}
		ready := time.Since(began)
		if _, err := d.Get(ctx, "fill-00000000"); err != nil {
			return err
		}
		found = []report.Trial{{
			Name: report.TrialCold, System: s.Name, Value: time.Since(began).Seconds(), Unit: "s",
			Note: fmt.Sprintf("from its start to its first answer, %.1f GiB of data on disk; ready after %.2f s", float64(size)/(1<<30), ready.Seconds()),
		}}
		return nil
	})
	return found, err
}

// fillDisk writes agents until the node's directory has grown enough. The space that
// the log preallocates does not count.
func (st *stage) fillDisk(ctx context.Context, s *system.System, d load.Driver) (grown int64, err error) {
	bar := st.a.newCount("filling the disk", st.size.coldMiB, "MiB")
	defer bar.end()
	empty, err := sizeOf(s.Nodes[0].Dir)
	for first := 0; err == nil && grown < int64(st.size.coldMiB)<<20; first += fillAgents {
		f := load.Fill{Prefix: "fill", First: first, Agents: fillAgents, Checkpoint: fillBytes}
		if err := f.Write(ctx, d); err != nil {
			return 0, err
		}
		before, size := grown, int64(0)
		size, err = sizeOf(s.Nodes[0].Dir)
		grown = size - empty
		bar.add(int((grown - before) >> 20))
	}
	return grown, err
}

// sizeOf returns the disk space of the files under dir. A file with several names
// counts once.
func sizeOf(dir string) (int64, error) {
	var sum int64
	seen := map[uint64]bool{} // :: inode
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var s unix.Stat_t
		if err == nil && e.Type().IsRegular() {
			err = unix.Lstat(path, &s)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the file was deleted
		}
		if err == nil && !seen[s.Ino] {
			seen[s.Ino] = true
			sum += s.Blocks * 512
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the size of %s: %w", dir, err)
	}
	return sum, nil
}

// forget drops the files under dir from the kernel's page cache.
func forget(dir string) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // read only
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
	if err != nil {
		return fmt.Errorf("drop %s from memory: %w", dir, err)
	}
	return nil
}

// restart restarts a node. After an error the ended process stays in its place, for
// Close.
func restart(nodes []*system.Process, i int) error {
	again, err := nodes[i].Restart()
	if err != nil {
		return err
	}
	nodes[i] = again
	return nil
}
