package fsm_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/storage"
)

const (
	benchSessions = 1_000_000 // of which one in benchWaits has a pending review
	benchWaits    = 1000
	benchLarge    = "DORMOUSE_BENCH_LARGE" // enables all sizes: creating them takes minutes
	reviewBatch   = 1000
)

// waiting returns a machine with n sessions, of which one in benchWaits has a pending review.
func waiting(b *testing.B, n int) *subject {
	b.Helper()
	r := openSubject(b, fsm.Options{Dir: b.TempDir(), FS: storage.Disk})
	for made := 0; made < n; {
		commits := make([]agent.Commit, 0, reviewBatch)
		for range min(reviewBatch, n-made) {
			id := fmt.Sprintf("s%07d", made)
			ops := []agent.Op{&agent.PutSession{Session: id, Agent: "a", Mode: agent.SessionModeClassic}}
			if made%benchWaits == 0 {
				ops = append(ops, &agent.CheckpointSession{
					Session: id, Snapshot: agent.SessionSnapshot{ID: "snap", Cursor: agent.Cursor{Phase: agent.PhaseReview}},
					Reviews: []agent.ReviewDraft{{ID: "r" + id, InterruptID: id, Operation: "act", Assignee: fmt.Sprint("p", made%7), TTL: time.Hour}},
				})
			}
			commits = append(commits, agent.Commit{Ops: ops})
			made++
		}
		for _, d := range r.batch(commits...) {
			if d.Err != nil {
				b.Fatal(d.Err)
			}
		}
		r.log = nil
	}
	return r
}

// The cost of a page of pending reviews does not depend on the number of sessions.
func BenchmarkPendingReviews(b *testing.B) {
	sizes := []int{benchSessions / 100, benchSessions / 10}
	if os.Getenv(benchLarge) != "" {
		sizes = append(sizes, benchSessions)
	}
	for _, n := range sizes {
		r := waiting(b, n)
		for name, q := range map[string]agent.Read{
			"reviews":  &agent.ListReviews{},
			"assignee": &agent.ListReviews{Assignee: "p3"},
			"sessions": &agent.ListSessions{Status: agent.SessionWaiting},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					view := r.machine.View()
					if a := view.Answer("", q); a.Err != nil {
						b.Fatal(a.Err)
					}
					view.Close()
				}
			})
		}
		r.close()
	}
}
