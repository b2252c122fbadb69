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

func TestTopWritesADocumentEachSecond(t *testing.T) {
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
		out := liveTop(t, n, 80, 25, signals, "-o", "json")
		if got := strings.Count(out, "{\"time\":"); got != 3 {
			t.Errorf("%d documents:\n%s", got, out)
		}
		last := out[strings.LastIndex(out, "{\"time\":"):]
		if !regexp.MustCompile(`"awake":1,"dormant":\d,"signals_per_second":(6\.\d|7)`).MatchString(last) {
			t.Errorf("the last one:\n%s", last)
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
		if code := run(ctx, a, []string{"top", "-o", "json"}); code != kit.ExitOK {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		if got := strings.Count(out.String(), "{\"time\":"); got != 1 {
			t.Errorf("%d documents:\n%s", got, out.String())
		}
		if got := strings.Count(errs.String(), "nobody is there"); got != 2 {
			t.Errorf("it says %d times that nobody answers:\n%s", got, errs.String())
		}
	})
}
