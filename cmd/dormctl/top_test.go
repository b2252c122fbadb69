package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/node/nodetest"
)

// liveTop runs top on a terminal for a while, and returns what was written.
func liveTop(t *testing.T, n *nodetest.Node, width, height int, during func(), args ...string) string {
	t.Helper()
	return live(t, n, width, height, during, append([]string{"top"}, args...)...)
}

// live runs a command that goes on until it is interrupted.
func live(t *testing.T, n *nodetest.Node, width, height int, during func(), args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" },
		size: func() (int, int, error) { return width, height, nil },
		dial: func(target) (store, error) { return kept{n.Client}, nil },
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	done := make(chan int)
	go func() { done <- a.main(ctx, args) }()
	during()
	if code := <-done; code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	return out.String()
}

func TestTopIsDrawnAnewEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t)
		if _, err := n.PutManager(t.Context(), agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}); err != nil {
			t.Fatal(err)
		}
		signals := func() {
			time.Sleep(1500 * time.Millisecond) // between the second look and the third
			for range 7 {
				if _, err := n.Instances().Signal(t.Context(), agent.InstanceRef{Manager: "m", Key: "a"}, agent.Signal{Type: "patch"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		out := liveTop(t, n, 200, 50, signals)
		if got := strings.Count(out, "leader: n1"); got != 3 {
			t.Errorf("drawn %d times:\n%s", got, out)
		}
		if got := strings.Count(out, "\x1b[5A"); got != 2 {
			t.Errorf("drawn over the one before %d times:\n%q", got, out)
		}
		last := out[strings.LastIndex(out, "leader: n1"):]
		if !regexp.MustCompile(`instances: 1 awake, \d dormant   (6\.\d|7\.0) signals/s`).MatchString(last) {
			t.Errorf("the last one:\n%s", last)
		}
		small := liveTop(t, n, 20, 4, func() {})
		for line := range strings.Lines(small) {
			if line = strings.NewReplacer("\x1b[K", "", "\x1b[3A", "").Replace(line); len(line) > 21 {
				t.Errorf("a line of %d characters on a terminal of 20: %q", len(line), line)
			}
		}
		if got := strings.Count(small, "\n"); got != 9 {
			t.Errorf("%d lines, three times, on a terminal of 4", got)
		}
		if got := strings.Count(liveTop(t, n, 80, 25, func() {}, "-o", "json"), "{\"time\":"); got != 3 {
			t.Errorf("%d lines of JSON", got)
		}
	})
}

// mute is a store that answers the first look alone.
type mute struct {
	store
	looks atomic.Int64
}

func (m *mute) Status(ctx context.Context) (agent.ClusterStatus, error) {
	if m.looks.Add(1) > 1 {
		return agent.ClusterStatus{}, agent.Errorf(agent.CodeUnavailable, "nobody is there")
	}
	return m.store.Status(ctx)
}

func TestTopSaysThatTheClusterDoesNotAnswer(t *testing.T) {
	for output, shown := range map[string]int{"table": 3, "json": 1} {
		t.Run(output, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nodetest.Start(t)
				var out, errs bytes.Buffer
				a := &app{
					stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" },
					size: func() (int, int, error) { return 200, 50, nil },
					dial: func(target) (store, error) { return &mute{store: kept{n.Client}}, nil },
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
				defer cancel()
				if code := a.main(ctx, []string{"top", "-o", output}); code != exitOK {
					t.Fatalf("exit %d: %s", code, errs.String())
				}
				if got := strings.Count(out.String(), "leader: n1") + strings.Count(out.String(), "{\"time\":"); got != shown {
					t.Errorf("shown %d times:\n%s", got, out.String())
				}
				if got := strings.Count(out.String()+errs.String(), "nobody is there"); got != 2 {
					t.Errorf("it says %d times that nobody answers:\n%s%s", got, out.String(), errs.String())
				}
			})
		})
	}
}

// A counter that began anew has no rate, and neither has a node that was silent.
func TestRates(t *testing.T) {
	at := func(second int, n agent.NodeStats) *sample {
		n.Node = "n1"
		return &sample{at: time.Unix(int64(second), 0), stats: agent.ManagerStats{Nodes: []agent.NodeStats{n}}}
	}
	for _, c := range []struct {
		before, now *sample
		want        float64
	}{
		{at(1, agent.NodeStats{Signals: 10}), at(3, agent.NodeStats{Signals: 25}), 7.5},
		{at(1, agent.NodeStats{Signals: 10}), at(3, agent.NodeStats{Signals: 5}), 0},
		{at(1, agent.NodeStats{Error: "down"}), at(3, agent.NodeStats{Signals: 5}), 0},
		{nil, at(3, agent.NodeStats{Signals: 5}), 0},
		{at(3, agent.NodeStats{}), at(3, agent.NodeStats{Signals: 5}), 0},
	} {
		if got := rate(c.before, c.now, "n1", func(n agent.NodeStats) uint64 { return n.Signals }); got != c.want {
			t.Errorf("%v → %v: %v a second, want %v", c.before, c.now, got, c.want)
		}
	}
}

func TestMovesAreSummedUp(t *testing.T) {
	now := &sample{}
	now.placement.Nodes = []agent.PlacedNode{{Node: "n1", Owned: 3}, {Node: "n2"}}
	now.placement.Moving = []agent.Partition{
		{ID: 1, Owner: "n1", To: "n2", Why: "n2 joined"}, {ID: 2, Owner: "n1", To: "n2", Why: "n2 joined"}, {ID: 3, Owner: "n1", Why: "n1 leaves"},
	}
	text := topText(topOf(nil, now, nil))
	for _, want := range []string{"3 moving, 0 free", "0 awake, ? dormant", "n1     -    1            n1 leaves\n", "n1     n2   2            n2 joined\n", "unknown"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
