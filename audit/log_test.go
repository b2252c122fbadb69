package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dormouse/audit"
)

func TestTheChainContinuesAcrossRestartsAndFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	for round := range 5 {
		s := open(t, options(dir))
		s.fill(7)
		s.end()
		report := good(t, dir)
		if report.Notes != nil || report.Unfinished != 0 {
			t.Fatalf("round %d: %+v", round, report)
		}
	}
	starts := 0
	for i, rec := range records(t, dir) {
		if rec.Seq != uint64(i+1) || rec.Node != "n1" || rec.Time == "" {
			t.Fatalf("line %d: %+v", i+1, rec)
		}
		if rec.Kind == audit.KindStart {
			starts++
		}
	}
	if starts != 5 || len(files(t, dir)) < 2 {
		t.Error(starts, files(t, dir))
	}
	for _, path := range append(files(t, dir), filepath.Join(dir, "head")) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(path, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
}

// A directory that other users may read is closed to them.
func TestADirectoryIsClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, options(dir)).end()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
}

// Two processes do not write one log.
func TestALogHasOneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	s := open(t, options(dir))
	if _, err := audit.Open(options(dir)); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	s.end()
	open(t, options(dir)).end()
}

// Only so many files are kept, and the removal of the oldest is not taken for a missing file.
func TestTheOldestFilesAreRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	o.Files = 2
	s := open(t, o)
	s.fill(100)
	s.end()
	report := good(t, dir)
	if report.Files != 2 || report.First == 1 || report.Last < 100 {
		t.Fatalf("%+v", report)
	}
	if err := os.Remove(files(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	if fault := verify(t, dir).Fault; fault == nil || !strings.Contains(fault.Reason, "files before this one are missing") {
		t.Error(fault)
	}
}

// A process that is killed while it writes leaves a part of a line, which the next start removes.
func TestAnInterruptedWriteIsRemovedAtTheNextStart(t *testing.T) {
	for _, torn := range []string{`{"seq":99,"ti`, `{"seq":99}` + "\n" + `{"x`, "\x00\x00\x00\n"} {
		dir := newLog(t)
		all := files(t, dir)
		last := all[len(all)-1]
		write(t, last, read(t, last)+torn)
		before := verify(t, dir)
		if strings.Contains(torn, "\n") != (before.Fault != nil) || before.Fault == nil && before.Unfinished != len(torn) {
			t.Errorf("%q before the start: %+v", torn, before)
		}
		s := open(t, options(dir))
		if broken := s.Broken(); broken != "" {
			t.Errorf("%q: %s", torn, broken)
		}
		s.fill(1)
		s.end()
		good(t, dir)
		recs := records(t, dir)
		removed := 0
		for _, rec := range recs {
			removed += rec.Torn
		}
		if removed != len(torn) {
			t.Errorf("%q: %d bytes were removed", torn, removed)
		}
	}
}

// A process that is killed while it begins a file leaves an empty one.
func TestAFileWithoutALineIsBegunAgain(t *testing.T) {
	dir := newLog(t)
	recs := records(t, dir)
	next := filepath.Join(dir, fmt.Sprintf("audit-%020d.jsonl", len(recs)+1))
	for _, torn := range []string{"", `{"seq":1`} {
		write(t, next, torn)
		s := open(t, options(dir))
		if broken := s.Broken(); broken != "" {
			t.Error(broken)
		}
		s.fill(1)
		s.end()
		good(t, dir)
		next = filepath.Join(dir, fmt.Sprintf("audit-%020d.jsonl", len(records(t, dir))+1))
	}
}

// A node that finds its log changed starts, says so in the log, and the evidence stays.
func TestABrokenLogIsContinuedAndStaysBroken(t *testing.T) {
	for name, damage := range map[string]func(dir string){
		"are missing at the end": func(dir string) {
			all := files(t, dir)
			last := all[len(all)-1]
			kept := lines(t, last)
			write(t, last, strings.Join(kept[:len(kept)-1], ""))
		},
		"hash is wrong": func(dir string) {
			all := files(t, dir)
			last := all[len(all)-1]
			write(t, last, strings.Replace(read(t, last), "delete_value", "delete_velue", 1))
		},
		"head is missing": func(dir string) {
			if err := os.Remove(filepath.Join(dir, "head")); err != nil {
				t.Fatal(err)
			}
		},
		"mac of the file head is wrong": func(dir string) {
			path := filepath.Join(dir, "head")
			text := []byte(read(t, path))
			text[20] = '9' // a number far beyond the end
			write(t, path, string(text))
		},
		"all files": func(dir string) {
			for _, path := range files(t, dir) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		dir := newLog(t)
		damage(dir)
		s := open(t, options(dir))
		if broken := s.Broken(); !strings.Contains(broken, name) {
			t.Errorf("%s: the log says %q", name, broken)
		}
		s.fill(2)
		s.end()
		report := verify(t, dir)
		recs := records(t, dir)
		told := false
		for _, rec := range recs {
			told = told || strings.Contains(rec.Broken, name)
		}
		if !told {
			t.Errorf("%s: no line says what was wrong", name)
		}
		if strings.Contains(name, "missing at") && report.Fault == nil || name == "hash is wrong" && report.Fault == nil {
			t.Errorf("%s: the log looks whole", name)
		}
		if report.Fault == nil && len(report.Notes) != 1 {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// While the disk fails, callers learn that their records are not written. Afterwards the log is whole,
// and says how many are missing.
func TestADiskThatFailsLeavesAGapThatTheLogNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	var full atomic.Bool
	o.SetFault(func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	})
	var mu sync.Mutex
	var told []bool
	o.Failed = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err != nil)
	}
	s := open(t, o)
	s.fill(3)
	full.Store(true)
	for range 4 {
		if seq, err := s.put(audit.Record{Kind: audit.KindAdmin}); err == nil {
			t.Fatal("a record is acknowledged", seq)
		}
	}
	if stats := s.Stats(); !stats.Failing || stats.Lost != 4 {
		t.Errorf("%+v", stats)
	}
	full.Store(false)
	s.fill(2)
	s.end()
	if report := good(t, dir); len(report.Notes) != 1 || report.Notes[0].Text != "4 records were not written" {
		t.Errorf("%+v", report)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 2 || !told[0] || told[1] {
		t.Error(told)
	}
}

// A log that does not write takes a bounded number of records, and Put never blocks.
func TestTheQueueIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := audit.Open(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	for range audit.QueueMax {
		if !l.Reserve(1) {
			t.Fatal("there is no room before the limit")
		}
		l.Put(audit.Record{Kind: audit.KindDenial}, nil)
	}
	if l.Reserve(1) {
		t.Error("there is room beyond the limit")
	}
	done := make(chan error, 1)
	go func() { done <- l.Run() }()
	if err := l.Close(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if report := good(t, dir); report.Lines < audit.QueueMax {
		t.Errorf("%+v", report)
	}
}

// Many callers at once each get a record of their own.
func TestCallersShareAWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	o.FileBytes = 1 << 20
	s := open(t, o)
	var seqs sync.Map
	var g sync.WaitGroup
	for range 200 {
		g.Go(func() {
			seq, err := s.put(audit.Record{Kind: audit.KindAdmin, Action: "leave_node"})
			if _, twice := seqs.LoadOrStore(seq, true); twice || err != nil {
				t.Error(seq, twice, err)
			}
		})
	}
	g.Wait()
	s.end()
	good(t, dir)
}

// Long and hostile texts neither break the format nor exceed a line.
func TestHostileTextsFit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	o.FileBytes = 1 << 20
	s := open(t, o)
	for _, text := range []string{strings.Repeat("\x00", 5000), strings.Repeat("\xff\xfe", 900), `","hash":"`, "\n\n", strings.Repeat("<\u2028>", 700)} {
		object := make([]string, 20)
		for i := range object {
			object[i] = text
		}
		rec := audit.Record{Kind: audit.KindDenial, Principal: text, Token: text, Source: text, Address: text, Method: text, Action: text, Verb: text, Scope: text, Detail: text, Object: object}
		if _, err := s.put(rec); err != nil {
			t.Fatal(err)
		}
	}
	s.end()
	good(t, dir)
}

// What a failed write has left in the file goes before the next line, also if that is shorter.
func TestAShortLineAfterAFailedLongOneEndsTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	o.FileBytes = 1 << 20
	var full atomic.Bool
	o.SetFault(func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	})
	s := open(t, o)
	s.fill(1)
	full.Store(true)
	long := audit.Record{Kind: audit.KindDelete}
	for range 8 {
		long.Object = append(long.Object, strings.Repeat("x", 500))
	}
	if _, err := s.put(long); err == nil {
		t.Fatal("a full disk takes a line")
	}
	full.Store(false)
	s.fill(1)
	s.end()
	if report := good(t, dir); report.Unfinished != 0 || len(report.Notes) != 1 {
		t.Errorf("%+v", report)
	}
}
