package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/audit"
)

var (
	key  = []byte("0123456789abcdef0123456789abcdef")
	keys = audit.Keys{"k1": key}
)

// options returns the options of a small log in a directory.
func options(dir string) audit.Options {
	return audit.Options{Dir: dir, Node: "n1", FileBytes: 4 << 10, Files: 1000, Key: key, KeyID: "k1"}
}

// A session is a log that runs.
type session struct {
	*audit.Log
	t testing.TB
}

// open opens a log and runs it.
func open(tb testing.TB, o audit.Options) *session {
	tb.Helper()
	l, err := audit.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- l.Run() }()
	tb.Cleanup(func() {
		_ = l.Close(tb.Context(), true)
		if err := <-ran; err != nil && o.Key != nil {
			tb.Log(err)
		}
	})
	return &session{l, tb}
}

// put writes a record, and waits for it.
func (s *session) put(rec audit.Record) (uint64, error) {
	s.t.Helper()
	if !s.Reserve(1) {
		s.t.Fatal("there is no room")
	}
	type result struct {
		seq uint64
		err error
	}
	done := make(chan result, 1)
	s.Put(rec, func(seq uint64, err error) { done <- result{seq, err} })
	r := <-done
	return r.seq, r.err
}

// fill writes n records.
func (s *session) fill(n int) {
	s.t.Helper()
	for i := range n {
		if _, err := s.put(audit.Record{Kind: audit.KindDelete, Action: "delete_value", Scope: "s", Object: []string{fmt.Sprint("key ", i)}, Outcome: "ok"}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *session) end() {
	s.t.Helper()
	if err := s.Close(s.t.Context(), true); err != nil {
		s.t.Fatal(err)
	}
}

// verify returns the report on a log, checked with the key.
func verify(tb testing.TB, dir string) audit.Report {
	tb.Helper()
	report, err := audit.Verify(dir, keys)
	if err != nil {
		tb.Fatal(err)
	}
	return report
}

// good fails the test unless a log is whole.
func good(tb testing.TB, dir string) audit.Report {
	tb.Helper()
	report := verify(tb, dir)
	if report.Fault != nil {
		tb.Fatalf("the log is refused: %v", report.Fault)
	}
	return report
}

// files returns the paths of the files of a log, in order.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// lines returns the lines of a file, each with its newline.
func lines(tb testing.TB, path string) []string {
	tb.Helper()
	return strings.SplitAfter(strings.TrimSuffix(read(tb, path), "\n"), "\n")
}

// records returns the records of a log.
func records(tb testing.TB, dir string) (all []audit.Record) {
	tb.Helper()
	f := audit.NewFollower(dir, 1)
	defer f.Close() //nolint:errcheck // it was only read
	for {
		line, err := f.Next()
		if err != nil {
			return all
		}
		all = append(all, line.Record)
	}
}
