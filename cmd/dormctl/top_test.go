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
	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
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
	a := &kit.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
		Size: func() (int, int, error) { return width, height, nil },
		Dial: func(kit.Target) (kit.Store, error) { return kept{n.Client}, nil },
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	done := make(chan int)
	go func() { done <- run(ctx, a, args) }()
	during()
	if code := <-done; code != kit.ExitOK {
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
	kit.Store
	looks atomic.Int64
}

func (m *mute) Status(ctx context.Context) (layout.ClusterStatus, error) {
	if m.looks.Add(1) > 1 {
		return layout.ClusterStatus{}, agent.Errorf(agent.CodeUnavailable, "nobody is there")
	}
	return m.Store.Status(ctx)
}

func TestTopSaysThatTheClusterDoesNotAnswer(t *testing.T) {
	for output, shown := range map[string]int{"table": 3, "json": 1} {
		t.Run(output, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nodetest.Start(t)
				var out, errs bytes.Buffer
				a := &kit.App{
					Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
					Size: func() (int, int, error) { return 200, 50, nil },
					Dial: func(kit.Target) (kit.Store, error) { return &mute{Store: kept{n.Client}}, nil },
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
				defer cancel()
				if code := run(ctx, a, []string{"top", "-o", output}); code != kit.ExitOK {
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
