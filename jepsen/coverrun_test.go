package jepsen_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
)

var someNemeses = []string{"kill", "pause", "transfer"}

// paper makes runs on paper, and interrupts at the one whose number is stop.
type paper struct {
	made   []string
	stop   int
	cancel context.CancelFunc
}

func (p *paper) run(_ context.Context, o jepsen.Options) (*report.Run, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	p.made = append(p.made, filepath.Base(o.Dir))
	if len(p.made) == p.stop {
		p.cancel()
	}
	if len(p.made)%5 == 0 {
		return nil, errors.New("no cluster stands")
	}
	return &report.Run{Verdict: check.OK, Results: []check.Result{{Ops: 10}}}, nil
}

// cover makes a cover in dir until the run whose number is stop.
func cover(t *testing.T, dir string, stop int) (made []string, done []jepsen.CoverDone, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &paper{stop: stop, cancel: cancel}
	done, err = jepsen.RunCoverWith(ctx, jepsen.CoverOptions{Seed: 5, Workloads: someWorkloads(t), Nemeses: someNemeses, Dir: dir}, p.run)
	return p.made, done, err
}

func TestACoverGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	all := len(jepsen.Cover(5, someWorkloads(t), someNemeses, []int{1, 3, 5}))
	first, done, err := cover(t, dir, 3)
	if !errors.Is(err, context.Canceled) || len(done) != 2 {
		t.Fatalf("interrupted in the third run: %d ended, %v", len(done), err)
	}
	// A crash while the end of a run is written counts as none.
	state := filepath.Join(dir, "cover.jsonl")
	whole, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, append(whole, `{"key":"kill/3/`...), 0o644); err != nil {
		t.Fatal(err)
	}
	rest, done, err := cover(t, dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != all || len(rest) != all-2 {
		t.Errorf("%d of %d ended, %d of them after the restart", len(done), all, len(rest))
	}
	if want := first[2] + ".2"; rest[0] != want {
		t.Errorf("the run that was interrupted was made again as %s, want %s", rest[0], want)
	}
	again, done, err := cover(t, dir, -1)
	if err != nil || len(again) != 0 || len(done) != all {
		t.Errorf("a cover that has ended made %d more runs of %d: %v", len(again), len(done), err)
	}
	if !slices.ContainsFunc(done, func(d jepsen.CoverDone) bool { return d.Failed != "" && d.Verdict == check.Unknown }) {
		t.Error("a run that could not be made is not told")
	}
}

func TestAStateFileThatIsNoneIsNotWrittenOver(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cover.jsonl"), []byte("my diary\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if made, _, err := cover(t, dir, -1); err == nil || len(made) > 0 {
		t.Errorf("%d runs were made: %v", len(made), err)
	}
}
