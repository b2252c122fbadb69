package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"dormouse/internal/modpath"
)

// profiled writes a profile of the given length with these stacks, each of 10 ms. The
// first function of a stack is the innermost.
func profiled(t *testing.T, took time.Duration, stacks ...[]string) string {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, DurationNanos: took.Nanoseconds(),
	}
	for _, stack := range stacks {
		s := &profile.Sample{Value: []int64{1, 10_000_000}}
		for _, name := range stack {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location, s.Location = append(p.Function, f), append(p.Location, l), append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	file := filepath.Join(t.TempDir(), "n1.pprof")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestASampleBelongsToItsInnermostPart(t *testing.T) {
	const apply, raftLoop = modpath.Path + "/fsm.(*Machine).Apply", "github.com/hashicorp/raft.(*Raft).runFSM"
	file := profiled(t, 2*time.Second,
		[]string{"cmpbody", "github.com/cockroachdb/pebble/v2.(*memTable).apply", apply, raftLoop},
		[]string{"runtime.mallocgc", apply, raftLoop},
		[]string{modpath.Path + "/proto/log.(*Commit).Decode", apply, raftLoop},
		[]string{"runtime.selectgo", raftLoop},
		[]string{"main.main"},
	)
	s, err := readSpent(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Profile != "n1" || s.Seconds != 2 {
		t.Errorf("profile %s of %v s", s.Profile, s.Seconds)
	}
	for _, part := range []string{"memtables", "state machine", "coding", "raft", partOther} {
		if s.Parts[part] != 0.01 {
			t.Errorf("%s took %v s, want 0.01", part, s.Parts[part])
		}
	}
	text := partsTable([]spent{s, s}, 1000) // 10 ms in 2 s with 1,000 operations per second
	for _, want := range []string{"µs/op", "│ memtables               │ 5.0  │ 5.0  │ 10.0 │", "│ sum                     │ 25.0 │ 25.0 │ 50.0 │"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

func TestWhatIsNoProfileIsSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "n1.pprof")
	if _, err := readSpent(file); err == nil {
		t.Error("a file that is not there was read")
	}
	if err := os.WriteFile(file, []byte("no profile"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSpent(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("the error is %v", err)
	}
	if _, err := readSpent(profiled(t, 0)); err == nil {
		t.Error("a profile of no time was read")
	}
}
