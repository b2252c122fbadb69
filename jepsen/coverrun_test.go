package jepsen_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

var someNemeses = []string{"kill", "pause", "transfer"}

// paper returns made-up results instead of running a cluster. It cancels the cover in
// run number stop.
type paper struct {
	made   []string
	sound  bool // every run starts
	stop   int
	cancel context.CancelFunc
}

func (p *paper) run(_ context.Context, o jepsen.Options) (*report.Run, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	if want := filepath.Join(filepath.Dir(o.Dir), "bin"); o.Bin != want {
		return nil, fmt.Errorf("programs are built in %q, want %q", o.Bin, want)
	}
	p.made = append(p.made, filepath.Base(o.Dir))
	if len(p.made) == p.stop {
		p.cancel()
	}
	if len(p.made)%5 == 0 && !p.sound {
		return nil, errors.New("no cluster stands")
	}
	results := []check.Result{{Check: o.Workloads[0], Ops: 10}, {Check: "liveness", Ops: 500}} // the calls of liveness are the pulse's, which no workload judges
	return &report.Run{Header: history.Header{Workloads: o.Workloads}, Verdict: check.OK, Results: results}, nil
}

// cover runs a cover in dir and interrupts it in run number stop.
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
	// A line that a crash cut short does not count as a completed run.
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
	// A run that could not start is not complete.
	for failed := failures(t, done); failed > 0; failed = failures(t, done) {
		var again []string
		if again, done, err = cover(t, dir, -1); err != nil || len(again) != failed || len(done) != all {
			t.Fatalf("%d runs failed, and %d of %d were made again: %v", failed, len(again), len(done), err)
		}
	}
	again, done, err := cover(t, dir, -1)
	if err != nil || len(again) != 0 || len(done) != all {
		t.Errorf("a cover that has ended made %d more runs of %d: %v", len(again), len(done), err)
	}
	for _, d := range done {
		if d.Ops != 10 {
			t.Errorf("%s judged %d calls", d.Key, d.Ops)
		}
	}
}

// Further runs are those that Needs asks for, of the covers of the following seeds, and they are the
// same after an interruption.
func TestACoverMakesFurtherRunsAsLongAsTheyAreNeeded(t *testing.T) {
	sizes := []int{1, 3, 5}
	all := jepsen.Cover(5, someWorkloads(t), someNemeses, sizes)
	var want []string
	for _, r := range all {
		want = append(want, r.Key())
	}
	for _, seed := range []uint64{6, 7} {
		for _, r := range jepsen.Cover(seed, someWorkloads(t), someNemeses, sizes) {
			if r.Nemesis == "pause" && len(want) < len(all)+7 {
				want = append(want, r.Key())
			}
		}
	}
	dir := t.TempDir()
	play := func(stop int) (keys []string, made int, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &paper{stop: stop, cancel: cancel, sound: true}
		o := jepsen.CoverOptions{Seed: 5, Workloads: someWorkloads(t), Nemeses: someNemeses, Dir: dir}
		o.Needs = func(ended []jepsen.CoverDone, r jepsen.CoverRun) bool {
			return len(ended) < len(all)+7 && r.Nemesis == "pause"
		}
		done, err := jepsen.RunCoverWith(ctx, o, p.run)
		for _, d := range done {
			keys = append(keys, d.Key)
		}
		return keys, len(p.made), err
	}
	if keys, _, err := play(len(all) + 4); !errors.Is(err, context.Canceled) || len(keys) != len(all)+3 {
		t.Fatalf("interrupted in the fourth further run: %d ended, %v", len(keys), err)
	}
	if keys, made, err := play(-1); err != nil || made != 4 || !slices.Equal(keys, want) {
		t.Errorf("%d runs were made after the interruption: %v, got\n%v\nwant\n%v", made, err, keys, want)
	}
	if keys, made, err := play(-1); err != nil || made != 0 || !slices.Equal(keys, want) {
		t.Errorf("%d more runs were made: %v, got\n%v\nwant\n%v", made, err, keys, want)
	}
}

func TestNoFurtherRunFollowsARunThatCouldNotStart(t *testing.T) {
	all := len(jepsen.Cover(5, someWorkloads(t), someNemeses, []int{1, 3, 5}))
	p := &paper{stop: -1}
	o := jepsen.CoverOptions{Seed: 5, Workloads: someWorkloads(t), Nemeses: someNemeses, Dir: t.TempDir()}
	o.Needs = func([]jepsen.CoverDone, jepsen.CoverRun) bool { return true }
	if done, err := jepsen.RunCoverWith(t.Context(), o, p.run); err != nil || len(done) != all || failures(t, done) == 0 {
		t.Errorf("%d runs of %d: %v", len(done), all, err)
	}
}

func TestACoverGoesOnInAnotherDirectory(t *testing.T) {
	before := t.TempDir()
	if _, done, err := cover(t, before, 3); !errors.Is(err, context.Canceled) || len(done) != 2 {
		t.Fatalf("interrupted in the third run: %d ended, %v", len(done), err)
	}
	dir := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(before, dir); err != nil {
		t.Fatal(err)
	}
	_, done, err := cover(t, dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range done {
		if filepath.Dir(d.Dir) != dir {
			t.Errorf("the files of %s are in %s, want a directory in %s", d.Key, d.Dir, dir)
		}
	}
}

// failures counts the runs that could not start; none of them may be ok.
func failures(t *testing.T, done []jepsen.CoverDone) (failed int) {
	t.Helper()
	for _, d := range done {
		if d.Failed == "" {
			continue
		}
		failed++
		if d.Verdict != check.Unknown || d.Ops != 0 {
			t.Errorf("a run that could not be made is %s with %d calls", d.Verdict, d.Ops)
		}
	}
	return failed
}

// State files of earlier builds list runs that could not start as completed.
func TestAFailedRunInAnOldStateFileIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	first := jepsen.Cover(5, someWorkloads(t), someNemeses, []int{1, 3, 5})[0]
	line := fmt.Sprintf(`{"key":%q,"dir":"d","verdict":"unknown","failed":"no room"}`+"\n", first.Key())
	if err := os.WriteFile(filepath.Join(dir, "cover.jsonl"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	if made, _, err := cover(t, dir, 2); !errors.Is(err, context.Canceled) || !strings.HasPrefix(made[0], first.Nemesis) || len(made) != 2 {
		t.Errorf("made %v, %v", made, err)
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

// A cover is read while it goes on: a line that is not whole yet is left out, and stays.
func TestACoverIsReadWithoutAChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cover.jsonl")
	text := `{"key":"b","dir":"old/b","verdict":"ok","ended":"2026-11-26T20:00:00Z"}` + "\n" +
		`{"key":"a","dir":"old/a","verdict":"ok","ended":"2026-11-26T19:00:00Z"}` + "\n" + `{"key":"c","dir"`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	runs, err := jepsen.ReadCover(dir)
	if err != nil || len(runs) != 2 || runs[0].Dir != filepath.Join(dir, "a") || runs[1].Dir != filepath.Join(dir, "b") {
		t.Errorf("got %+v, %v", runs, err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != text {
		t.Errorf("the file is %q: %v", after, err)
	}
}
