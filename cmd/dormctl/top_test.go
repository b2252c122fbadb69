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

// uncounted is a store whose lists of scopes take as long as their callers wait.
type uncounted struct{ kit.Store }

func (u uncounted) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if _, listed := r.Reads[0].(*agent.ListScopes); listed {
		<-ctx.Done()
		return agent.Answers{}, agent.Errorf(agent.CodeUnavailable, "the read took too long")
	}
	return u.Store.Read(ctx, r)
}

// piped runs top without a terminal for a while, and returns its outputs.
func piped(t *testing.T, s kit.Store, args ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
		Dial: func(kit.Target) (kit.Store, error) { return s, nil },
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
	defer cancel()
	if code := run(ctx, a, append([]string{"top"}, args...)); code != kit.ExitOK {
		t.Fatalf("top %q: exit %d: %s", args, code, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// The form of the output decides, and not where it goes.
func TestTopInAPipe(t *testing.T) {
	for args, want := range map[string]struct{ documents, tables int }{
		"-o json": {documents: 3}, "--once -o json": {documents: 1}, "": {tables: 1}, "--once": {tables: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := nodetest.Start(t)
			out, _ := piped(t, kept{n.Client}, strings.Fields(args)...)
			if got := strings.Count(out, `"cluster_id"`); got != want.documents {
				t.Errorf("top %s: %d documents, want %d:\n%s", args, got, want.documents, out)
			}
			if got := strings.Count(out, "leader: "); got != want.tables {
				t.Errorf("top %s: %d tables, want %d:\n%s", args, got, want.tables, out)
			}
		})
	}
}

// What is known is shown when the count of dormant instances takes too long.
func TestTopOnceShowsTheNodesWithoutACount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t)
		out, errs := piped(t, uncounted{kept{n.Client}}, "--once", "--timeout", "500ms")
		if !strings.Contains(out, "0 awake, ? dormant") || !strings.Contains(errs, "took longer than --timeout, 500ms") {
			t.Errorf("shown:\n%s\nsaid:\n%s", out, errs)
		}
		if out, _ = piped(t, uncounted{kept{n.Client}}, "--once", "--timeout", "500ms", "-o", "json"); !strings.Contains(out, `"dormant":null`) {
			t.Errorf("the document:\n%s", out)
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
