package node_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/fsm"
	"dormouse/importer"
)

// largeScope returns a cluster of three with a scope "large", whose export has several parts.
func largeScope(t *testing.T) *simCluster {
	t.Helper()
	w := newSimCluster(t, 3)
	w.await("the feature level", func() bool { return w.leader().Machine().FeatureLevel() == fsm.FeatureLevelMax })
	for i := range 8 {
		ops := []agent.Op{
			&agent.PutValue{Key: fmt.Sprint(i), Bytes: bytes.Repeat([]byte{byte(i)}, 1<<20)},
			&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: fmt.Sprint(i)}}},
			&agent.WriteMemory{Agent: "a", ID: fmt.Sprint(i), Content: "tea"},
		}
		if _, err := w.leader().Store().Commit(t.Context(), agent.Commit{Scope: "large", Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// exportLarge exports the scope "large" or a copy of it. midway is called once, after two parts of
// rows.
func exportLarge(t *testing.T, c *client.Client, scope string, midway func()) ([]byte, importer.ScopeSummary, error) {
	t.Helper()
	var file bytes.Buffer
	parts := 0
	summary, err := importer.ExportScope(t.Context(), c, &file, importer.ScopeOptions{Scope: scope, Progress: func(int) {
		if parts++; parts == 2 && midway != nil {
			midway()
		}
	}})
	return file.Bytes(), summary, err
}

func opened(file []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
}

// stopAndReplace are the ways in which the leader stops: another node leads when they return.
var stopAndReplace = map[string]func(w *simCluster, leader string){
	"stops in order": func(w *simCluster, leader string) { w.sleep(leader); w.leader() },
	"crashes":        func(w *simCluster, leader string) { w.crash(leader); w.leader() },
}

func TestAnExportThroughAFollowerGoesOnWithoutTheLeaderSim(t *testing.T) {
	for how, stop := range stopAndReplace {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := largeScope(t)
				leader := w.leader().name
				c := w.dial(t, true, w.follower().name)
				_, want, err := exportLarge(t, c, "large", nil)
				if err != nil {
					t.Fatal(err)
				}
				file, got, err := exportLarge(t, c, "large", func() {
					stop(w, leader)
					if err := put(t.Context(), w.leader().Store(), "k", 1); err != nil {
						t.Error(err)
					}
				})
				if err != nil || got.Footer != want.Footer {
					t.Fatalf("the export has %+v, want %+v, %v", got.Footer, want.Footer, err)
				}
				if _, err := importer.CheckScopeFile(opened(file)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The node that reads the rows stops: the export fails, the written part is recognized as
// incomplete, and the same call exports all from another node.
func TestAnExportFromTheLeaderThatGoesAwayFailsAndIsMadeAgainSim(t *testing.T) {
	for how, stop := range stopAndReplace {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := largeScope(t)
				leader := w.leader().name
				_, want, err := exportLarge(t, w.dial(t, true, w.follower().name), "large", nil)
				if err != nil {
					t.Fatal(err)
				}
				c := w.dial(t, false, leader)
				if _, err := c.Status(t.Context()); err != nil { // it learns the other nodes
					t.Fatal(err)
				}
				file, _, err := exportLarge(t, c, "large", func() { stop(w, leader) })
				if agent.CodeOf(err) != agent.CodeUnavailable {
					t.Fatalf("the export ends with %v", err)
				}
				if _, err := importer.CheckScopeFile(opened(file)); err == nil || !strings.Contains(err.Error(), "cut short") {
					t.Errorf("what was written is taken for a scope file: %v", err)
				}
				_, got, err := exportLarge(t, c, "large", nil)
				if err != nil || got.Footer != want.Footer {
					t.Errorf("the second export has %+v, want %+v, %v", got.Footer, want.Footer, err)
				}
			})
		})
	}
}

// steps calls before ahead of each commit, with its number from 1.
type steps struct {
	*client.Client
	n      int
	before func(n int) error
}

func (s *steps) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	s.n++
	if err := s.before(s.n); err != nil {
		return agent.Result{}, err
	}
	return s.Client.Commit(ctx, c)
}

// The leader stops during an import: the same run continues. Then the program stops too: the next
// run continues where it ended.
func TestAnImportOutlivesItsLeaderAndItsProgramSim(t *testing.T) {
	for how, stop := range stopAndReplace {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := largeScope(t)
				c := w.dial(t, false, w.follower().name)
				file, exported, err := exportLarge(t, c, "large", nil)
				if err != nil {
					t.Fatal(err)
				}
				lost := func() {
					leader := w.leader().name
					stop(w, leader)
					w.start(leader)
				}
				dies := agent.Errorf(agent.CodeForbidden, "the program dies here")
				o := importer.ScopeOptions{Scope: "copy"}
				_, err = importer.ImportScope(t.Context(), &steps{Client: c, before: func(n int) error {
					switch n {
					case 3:
						lost()
					case 6:
						return dies
					}
					return nil
				}}, opened(file), o)
				if agent.CodeOf(err) != agent.CodeForbidden {
					t.Fatalf("the first run ends with %v", err)
				}
				second, err := importer.ImportScope(t.Context(), &steps{Client: c, before: func(n int) error {
					if n == 2 {
						lost()
					}
					return nil
				}}, opened(file), o)
				if err != nil || second.Resumed != 4 || second.Differences.Count > 0 {
					t.Fatalf("the second run: %+v, %v", second, err)
				}
				if second.Footer != exported.Footer {
					t.Errorf("the import has %+v, want %+v", second.Footer, exported.Footer)
				}
				w.settle(3)
				for i := range 3 {
					_, copied, err := exportLarge(t, w.dial(t, true, name(i)), "copy", nil)
					if err != nil || copied.Footer != exported.Footer {
						t.Errorf("%s exports %+v, want %+v, %v", name(i), copied.Footer, exported.Footer, err)
					}
				}
				w.agree()
			})
		})
	}
}

// A timer fires after the export of its scope. The scope is deleted and imported: the timer is pending again,
// and fires again, although the cluster still knows the answers to its first attempts.
func TestATimerFiresAgainAfterItsScopeIsImportedAgainSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.await("the feature level", func() bool { return w.leader().Machine().FeatureLevel() == fsm.FeatureLevelMax })
		c := w.dial(t, false, w.follower().name)
		_, err := c.Commit(t.Context(), agent.Commit{Scope: "moved", Ops: []agent.Op{
			&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}},
			&agent.PutTimer{Timer: agent.Timer{
				Manager: "m", Key: "k", ID: "t", Next: time.Now().Add(time.Minute).UnixMilli(), Type: "append",
				Data: agent.JSON(`{"entries":[{"payload":{"fired":true}}]}`),
			}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		file, _, err := exportLarge(t, c, "moved", nil)
		if err != nil {
			t.Fatal(err)
		}
		fired := func() bool {
			thread, err := client.In(c, "moved").GetThread(t.Context(), agent.InstanceRef{Manager: "m", Key: "k"}.Checkpoint())
			return err == nil && thread.Rev == 1
		}
		for range 2 {
			time.Sleep(time.Minute)
			w.await("the timer's turn", fired)
			if _, err := c.Commit(t.Context(), agent.Commit{Scope: "moved", Ops: []agent.Op{&agent.DeleteScope{}}}); err != nil {
				t.Fatal(err)
			}
			if _, err := importer.ImportScope(t.Context(), c, opened(file), importer.ScopeOptions{Scope: "moved"}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
