package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dormouse/bench/load"
	"dormouse/bench/system"
)

// TestEachPeerDoesEveryWorkload runs every workload for a moment on each installed
// peer, with empty data and then on existing data. Each peer must refuse an append at
// a wrong rev. etcd needs make bench-build.
func TestEachPeerDoesEveryWorkload(t *testing.T) {
	for _, name := range []string{system.Etcd, system.Postgres, system.Redis} {
		t.Run(name, func(t *testing.T) {
			s, _ := startPeer(t, name)
			d, err := open(t.Context(), name, accessTo(s), 0, 4)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close() //nolint:errcheck // read only
			for _, w := range load.Workloads {
				o := load.Options{Workload: w, Callers: 4, Agents: 8, Duration: 50 * time.Millisecond, Prefix: w.Name}
				for range 2 {
					if _, err := load.Run(t.Context(), d, o); err != nil {
						t.Error(err)
					}
					o.Stored = true
				}
			}
			lost := &load.Thread{ID: "lost", Rev: 7, Token: 7}
			if err := d.Append(t.Context(), lost, []byte(`{}`)); err == nil || lost.Rev != 7 {
				t.Errorf("an append at the wrong rev: %v, and the thread is at %d", err, lost.Rev)
			}
			if err := d.Look(t.Context(), lost); err != nil {
				t.Error(err)
			}
			if _, err := d.Get(t.Context(), "lost"); err == nil {
				t.Error("what is missing was read")
			}
		})
	}
}

// startPeer starts a peer until the end of the test, and skips the test if the peer is
// not installed.
func startPeer(t *testing.T, name string) (s *system.System, dir string) {
	t.Helper()
	dir = freshDir(t)
	s, err := system.Start(t.Context(), name, system.Options{Dir: dir, Bin: filepath.Join("..", "..", "bin")})
	var absent *system.AbsentError
	if errors.As(err, &absent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

// freshDir returns a directory that PostgreSQL's user can access; t.TempDir is not
// accessible.
func freshDir(t *testing.T) string {
	t.Helper()
	dir, err := (&homeFlags{dir: os.TempDir()}).fresh()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
