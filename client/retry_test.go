package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

func code(c agent.Code) *agent.Error { return agent.Errorf(c, "scripted") }

func final(c agent.Code) *agent.Error {
	e := code(c)
	e.Final = true
	return e
}

// quota returns the refusal of a full scope.
func quota() *agent.Error {
	e := code(agent.CodeOverloaded)
	e.Limit = "keys_max=1"
	return e
}

// Each code on the first and on the second attempt, after attempts that were not
// applied and after unknown ones.
func TestRetryMatrix(t *testing.T) {
	var ok *agent.Error
	refusals := []agent.Code{
		agent.CodeInvalid, agent.CodeUnauthenticated, agent.CodeForbidden, agent.CodeNotFound,
		agent.CodeIdempotencyMismatch, agent.CodeConflict, agent.CodeRevRegression, agent.CodeDuplicateEntry,
		agent.CodeRevisionMismatch, agent.CodeFenced, agent.CodeAlreadyClaimed, agent.CodeMissingThread,
		agent.CodeThreadMismatch, agent.CodeAlreadyExists, agent.CodeDeleted, agent.CodeCompacted,
		agent.CodeTooLarge, agent.CodeReadOnly, agent.CodeCorrupt, agent.CodeInternal, agent.CodeQuotaExceeded,
	}
	type row struct {
		name     string
		script   []*agent.Error
		want     agent.Code
		attempts int // 0: as many as fit
	}
	rows := []row{
		{"ok", []*agent.Error{ok}, "", 1},
		{"unavailable, ok", []*agent.Error{code(agent.CodeUnavailable), ok}, "", 2},
		{"overloaded, ok", []*agent.Error{code(agent.CodeOverloaded), ok}, "", 2},
		{"unknown, ok", []*agent.Error{code(agent.CodeUnknown), ok}, "", 2},
		{"unavailable repeatedly", []*agent.Error{code(agent.CodeUnavailable)}, agent.CodeUnavailable, 0},
		{"overloaded repeatedly", []*agent.Error{code(agent.CodeOverloaded)}, agent.CodeOverloaded, 0},
		{"unknown repeatedly", []*agent.Error{code(agent.CodeUnknown)}, agent.CodeUnknown, 0},
		{"unknown, then unavailable repeatedly", []*agent.Error{code(agent.CodeUnknown), code(agent.CodeUnavailable)}, agent.CodeUnknown, 0},
		{"unknown, then overloaded repeatedly", []*agent.Error{code(agent.CodeUnknown), code(agent.CodeOverloaded)}, agent.CodeUnknown, 0},
		{"over the quota", []*agent.Error{quota()}, agent.CodeOverloaded, 1},
		{"a session's queue is full", []*agent.Error{{Code: agent.CodeOverloaded, Op: -1, Limit: "queue_max=2"}}, agent.CodeOverloaded, 1},
		{"unknown, then over the quota repeatedly", []*agent.Error{code(agent.CodeUnknown), quota()}, agent.CodeUnknown, 0},
		{"unknown, request expired in the log", []*agent.Error{code(agent.CodeUnknown), final(agent.CodeRequestExpired)}, agent.CodeRequestExpired, 2},
	}
	for _, limit := range []string{"request_window_max", "requests_per_second", "bytes_per_second", "watches_max"} { // they give room again
		rows = append(rows, row{"above " + limit, []*agent.Error{{Code: agent.CodeOverloaded, Op: -1, Limit: limit + "=1"}, ok}, "", 2})
	}
	for _, c := range refusals {
		rows = append(rows,
			row{string(c), []*agent.Error{code(c)}, c, 1},
			row{string(c) + " from the log", []*agent.Error{final(c)}, c, 1},
			row{"unavailable, " + string(c), []*agent.Error{code(agent.CodeUnavailable), code(c)}, c, 2},
			row{"overloaded, " + string(c), []*agent.Error{code(agent.CodeOverloaded), code(c)}, c, 2},
			// A refusal that is not from the log is about its own attempt only.
			row{"unknown, then " + string(c) + " repeatedly", []*agent.Error{code(agent.CodeUnknown), code(c)}, agent.CodeUnknown, 0},
			row{"unknown, " + string(c) + " from the log", []*agent.Error{code(agent.CodeUnknown), final(c)}, c, 2},
			row{"unknown, " + string(c) + ", ok", []*agent.Error{code(agent.CodeUnknown), code(c), ok}, "", 3},
		)
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, f := newWires(t), &fake{script: r.script}
				w.serve("a", f, f)
				c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				_, err := c.Commit(t.Context(), put("k"))
				if got := agent.CodeOf(err); got != r.want {
					t.Errorf("got %q (%v), want %q", got, err, r.want)
				}
				seen := f.seen()
				if r.attempts != 0 && len(seen) != r.attempts || len(seen) < 2 && r.attempts == 0 {
					t.Errorf("%d attempts, want %d", len(seen), r.attempts)
				}
				for _, s := range seen {
					if s.Request.Client == "" || s.Request.Client != seen[0].Request.Client || s.Request.Seq != 1 || s.Request.Low != 1 {
						t.Errorf("an attempt under another request id: %+v", s.Request)
					}
				}
			})
		})
	}
}

func TestReadsAreRetriedUntilAnswered(t *testing.T) {
	for name, first := range map[string]error{
		"unavailable": code(agent.CodeUnavailable), "overloaded": code(agent.CodeOverloaded), "unknown": code(agent.CodeUnknown),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, n := newWires(t), 0
				f := &fake{}
				f.read = func(context.Context, agent.Reads) (agent.Answers, error) {
					if n++; n < 3 {
						return agent.Answers{}, first
					}
					return agent.Answers{Index: 9, Answers: []agent.Answer{{Err: code(agent.CodeNotFound)}}}, nil
				}
				w.serve("a", f, f)
				c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				answers, err := c.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
				if err != nil || answers.Index != 9 || n != 3 {
					t.Errorf("after %d attempts: %+v, %v", n, answers, err)
				}
			})
		})
	}
}

func TestARetryAfterOverloadWaitsForRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := code(agent.CodeOverloaded)
		busy.RetryAfterMS = 1500
		w, f := newWires(t), &fake{script: []*agent.Error{busy, nil}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		began := time.Now()
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 1500*time.Millisecond || took > 2*time.Second {
			t.Errorf("came back after %v", took)
		}
	})
}

// A request id must not outlive the window that the first attempt set.
func TestTheRequestWindowShrinksWithEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := code(agent.CodeOverloaded)
		busy.RetryAfterMS = 1000
		w, f := newWires(t), &fake{script: []*agent.Error{busy, busy, nil}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		commit := put("k")
		commit.Request.TTL = time.Minute
		began := time.Now()
		if _, err := c.Commit(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		seen := f.seen()
		if len(seen) != 3 || seen[0].Request.TTL != time.Minute {
			t.Fatalf("attempts: %+v", seen)
		}
		if last := seen[2].Request.TTL; last > time.Minute-took+time.Millisecond || last <= time.Minute-took-time.Second {
			t.Errorf("after %v the window was %v", took, last)
		}
	})
}

func TestARequestIDOfTheCallersOwnIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{script: []*agent.Error{code(agent.CodeUnknown), nil}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		commit := put("k")
		commit.Request = agent.Request{Client: "mine", Seq: 42, Low: 40}
		if _, err := c.Commit(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
		for _, s := range f.seen() {
			if r := s.Request; r.Client != "mine" || r.Seq != 42 || r.Low != 40 {
				t.Errorf("sent as %+v", r)
			}
		}
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Fatal(err)
		}
		if seen := f.seen(); seen[len(seen)-1].Request.Seq != 1 {
			t.Errorf("it used up a number: %+v", seen[len(seen)-1].Request)
		}
	})
}

// A commit that fails gives its slot and its number back.
func TestAFailedCommitMakesRoomForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{script: []*agent.Error{final(agent.CodeConflict), code(agent.CodeInvalid), nil}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true, InFlightMax: 1})
		for i, want := range []agent.Code{agent.CodeConflict, agent.CodeInvalid, ""} {
			if _, err := c.Commit(t.Context(), put("k")); agent.CodeOf(err) != want {
				t.Errorf("commit %d: %v, want %q", i, err, want)
			}
		}
		if seen := f.seen(); len(seen) != 3 || seen[2].Request.Seq != 3 || seen[2].Request.Low != 3 {
			t.Errorf("sent %+v", seen)
		}
	})
}
