package raftlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// ending collects what ends a node.
type ending struct {
	mu   sync.Mutex
	errs []error // guarded by mu
}

func (e *ending) fatal(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.errs = append(e.errs, err)
}

// reasons is what ended the node so far.
func (e *ending) reasons() []error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.errs)
}

// once fails the test unless the node was ended once, for a reason with want.
func (e *ending) once(t *testing.T, want string) {
	t.Helper()
	if errs := e.reasons(); len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
		t.Errorf("the node was ended by %v, want one reason with %q", errs, want)
	}
}

// frame and checkFrame stand for the state machine's: the first byte is the sum
// of the others.
func frame(text string) []byte {
	var sum byte
	for _, b := range []byte(text) {
		sum += b
	}
	return append([]byte{sum}, text...)
}

func checkFrame(raw []byte) error {
	if len(raw) == 0 || !bytes.Equal(raw, frame(string(raw[1:]))) {
		return errors.New("bad frame")
	}
	return nil
}

// diskStores opens stores on real files in dir.
func diskStores(t *testing.T, dir, kind string, change func(*Options)) (*Stores, *ending, error) {
	t.Helper()
	e := &ending{}
	o := Options{Dir: dir, Kind: kind, Check: checkFrame, Snapshots: &snapshotAt{}, Fatal: e.fatal, Logger: quiet, probe: roomy}
	if change != nil {
		change(&o)
	}
	s, err := Open(o)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() }) // tests that care close it themselves
	}
	return s, e, err
}

func roomy(string) (int64, error) { return 1 << 40, nil }

func mustDiskStores(t *testing.T, dir, kind string) (*Stores, *ending) {
	t.Helper()
	s, e, err := diskStores(t, dir, kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, e
}

// uncached is the log below the cache.
func (s *Stores) uncached() raft.LogStore { return s.OwnEntries }

func commands(first, last uint64) []*raft.Log {
	var logs []*raft.Log
	for index := first; index <= last; index++ {
		logs = append(logs, &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: frame(fmt.Sprintf("payload of entry %06d", index))})
	}
	return logs
}

func TestEntriesComeBackAsTheyWere(t *testing.T) {
	for _, kind := range []string{logStoreWAL, logStoreBolt} {
		t.Run(kind, func(t *testing.T) {
			s, _ := mustDiskStores(t, t.TempDir(), kind)
			want := []raft.Log{
				{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("c")},
				{Index: 2, Term: 2, Type: raft.LogNoop},
				{Index: 3, Term: 2, Type: raft.LogCommand, Data: frame("x"), Extensions: []byte("ext")},
				{Index: 4, Term: 3, Type: raft.LogBarrier},
			}
			for _, log := range want {
				if err := s.uncached().StoreLog(&log); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range want {
				var got raft.Log
				if err := s.uncached().GetLog(w.Index, &got); err != nil {
					t.Fatal(err)
				}
				if got.Index != w.Index || got.Term != w.Term || got.Type != w.Type || !bytes.Equal(got.Data, w.Data) || !bytes.Equal(got.Extensions, w.Extensions) {
					t.Errorf("got %+v, want %+v", got, w)
				}
			}
			if err := s.Logs.GetLog(5, new(raft.Log)); !errors.Is(err, raft.ErrLogNotFound) {
				t.Errorf("an entry that is not there: %v", err)
			}
			if _, err := s.Stable.GetUint64([]byte("nothing")); err == nil || err.Error() != "not found" {
				t.Errorf("a value that is not there: %v; raft wants exactly \"not found\"", err)
			}
		})
	}
}

// flip changes one bit of the first occurrence of text in a file of dir.
func flip(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if at := bytes.Index(raw, []byte(text)); at >= 0 {
			raw[at] ^= 1
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				return err
			}
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// docs/hazards.md, S1: both engines return the wrong bytes with no error.
func TestAFlippedBitIsFoundWhenTheLogIsOpened(t *testing.T) {
	for _, kind := range []string{logStoreWAL, logStoreBolt} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := mustDiskStores(t, dir, kind)
			for _, log := range commands(1, 100) {
				if err := s.Logs.StoreLog(log); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			flip(t, dir, "payload of entry 000050")
			_, e, err := diskStores(t, dir, kind, nil)
			if err == nil || !strings.Contains(err.Error(), "entry 50") || !strings.Contains(err.Error(), Rebuild) {
				t.Errorf("got %v, want an error that names entry 50 and says what to do", err)
			}
			if errs := e.reasons(); len(errs) > 0 {
				t.Errorf("the error was returned, and fatal called as well: %v", errs)
			}
		})
	}
}

// tampered is an engine that damages what it returns.
type tampered struct {
	raft.LogStore
	damage func(*raft.Log)
}

func (s *tampered) GetLog(index uint64, log *raft.Log) error {
	err := s.LogStore.GetLog(index, log)
	if err == nil && s.damage != nil {
		log.Data = append([]byte(nil), log.Data...)
		log.Extensions = append([]byte(nil), log.Extensions...)
		s.damage(log)
	}
	return err
}

func TestDamagedEntriesAreNeverReturned(t *testing.T) {
	for name, damage := range map[string]func(*raft.Log){
		"data":      func(l *raft.Log) { l.Data[0] ^= 0x80 },
		"term":      func(l *raft.Log) { l.Term++ },
		"index":     func(l *raft.Log) { l.Index++ },
		"type":      func(l *raft.Log) { l.Type = raft.LogNoop },
		"seal":      func(l *raft.Log) { l.Extensions[len(l.Extensions)-1] ^= 1 },
		"no seal":   func(l *raft.Log) { l.Extensions = nil },
		"extension": func(l *raft.Log) { l.Extensions[0] ^= 1 },
		"panic":     func(*raft.Log) { panic("slice bounds out of range") },
	} {
		t.Run(name, func(t *testing.T) {
			end := &ending{}
			engine := &tampered{LogStore: raft.NewInmemStore()}
			s, err := StackStores(Options{Fatal: end.fatal, Logger: quiet}, &Engines{Logs: engine, Stable: raft.NewInmemStore()})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Logs.StoreLogs([]*raft.Log{{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("abc"), Extensions: []byte("e")}}); err != nil {
				t.Fatal(err)
			}
			engine.damage = damage
			var got raft.Log
			err = s.uncached().GetLog(1, &got)
			if err == nil || !strings.Contains(err.Error(), "entry 1") || !strings.Contains(err.Error(), Rebuild) {
				t.Errorf("got %+v, %v; want an error that names the entry and says what to do", got, err)
			}
			end.once(t, "entry 1")
			engine.damage = nil
			if err := s.uncached().GetLog(1, &got); err == nil {
				t.Error("the log can be read again after it was found corrupt")
			}
		})
	}
}

func TestACommandThatWentBadInMemoryIsNotStored(t *testing.T) {
	s, e := mustDiskStores(t, "", "")
	bad := commands(1, 1)
	bad[0].Data[3] ^= 1
	if err := s.Logs.StoreLogs(bad); err == nil {
		t.Error("it was stored")
	}
	e.once(t, "memory")
}

// A flipped bit in a vote would let a node vote twice.
func TestAFlippedBitInTheStableStoreIsFound(t *testing.T) {
	dir := t.TempDir()
	s, e := mustDiskStores(t, dir, "")
	if err := s.Stable.Set([]byte("LastVoteCand"), []byte("candidate-number-one")); err != nil {
		t.Fatal(err)
	}
	flip(t, dir, "candidate-number-one") // under its feet: the file is mapped
	if got, err := s.Stable.Get([]byte("LastVoteCand")); err == nil {
		t.Errorf("got %q and no error", got)
	}
	e.once(t, "LastVoteCand is damaged")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := diskStores(t, dir, "", nil); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "LastVoteCand") {
		t.Errorf("opened again: %v", err)
	}
}

var quiet = hclog.NewNullLogger()
