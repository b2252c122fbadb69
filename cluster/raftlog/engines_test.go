package raftlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADirectoryServesOneProcessAtATime(t *testing.T) {
	dir := t.TempDir()
	mustDiskStores(t, dir, "")
	_, _, err := diskStores(t, dir, "", nil)
	if err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
}

func TestTheKindOfLogDoesNotChangeUnderData(t *testing.T) {
	for _, c := range []struct {
		was, now string
		last     uint64
		refused  bool
	}{
		{logStoreWAL, logStoreWAL, 5, false},
		{logStoreBolt, logStoreBolt, 5, false},
		{logStoreWAL, logStoreBolt, 5, true},
		{logStoreBolt, logStoreWAL, 5, true},
		{logStoreWAL, logStoreBolt, 0, false},
		{logStoreBolt, logStoreWAL, 0, false},
		{logStoreWAL, "paper", 0, true},
	} {
		dir := t.TempDir()
		s, _ := mustDiskStores(t, dir, c.was)
		if err := s.Logs.StoreLogs(commands(1, c.last)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s, _, err := diskStores(t, dir, c.now, nil)
		if (err != nil) != c.refused {
			t.Errorf("%s with %d entries opened as %s: %v, want refused: %v", c.was, c.last, c.now, err, c.refused)
		}
		if err != nil && c.now != "paper" && !errors.Is(err, ErrSettings) {
			t.Errorf("%s opened as %s: %v is not told as a wrong setting", c.was, c.now, err)
		}
		if err == nil {
			if last, err := s.Logs.LastIndex(); err != nil || last != c.last {
				t.Errorf("%s opened as %s: ends at %d, %v", c.was, c.now, last, err)
			}
		}
	}
}

// Without its stable store a node would not know how it voted.
func TestALogWithoutItsStableStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, _ := mustDiskStores(t, dir, "")
	if err := s.Logs.StoreLogs(commands(1, 5)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "stable.db")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := diskStores(t, dir, "", nil); err == nil || !strings.Contains(err.Error(), "this node's votes") {
		t.Errorf("got %v", err)
	}
}

func TestStoresOpenAgainAfterAnOrderlyEnd(t *testing.T) {
	for _, kind := range []string{logStoreWAL, logStoreBolt} {
		dir := t.TempDir()
		for round := range uint64(3) {
			s, _ := mustDiskStores(t, dir, kind)
			if last, err := s.Logs.LastIndex(); err != nil || last != 10*round {
				t.Fatalf("%s: ends at %d, %v; want %d", kind, last, err, 10*round)
			}
			if err := s.Logs.StoreLogs(commands(10*round+1, 10*round+10)); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
