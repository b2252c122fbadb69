package importer_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/importer"
	"dormouse/node/nodetest"
)

// sample returns the transcripts in the repository.
func sample(t *testing.T) []importer.Conversation {
	t.Helper()
	text, err := os.ReadFile("testdata/transcripts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return transcripts(t, string(text))
}

func toolCalls(list []importer.Conversation) (n int) {
	for _, c := range list {
		for _, m := range c.Messages {
			n += strings.Count(string(m.Payload), `"function":`)
		}
	}
	return n
}

// verified fails the test if the store does not hold the conversations.
func verified(t *testing.T, s agent.Service, list []importer.Conversation) {
	t.Helper()
	report, err := importer.VerifySessions(t.Context(), s, list, importer.Options{})
	if err != nil || report.Differences.Count > 0 || report.Conversations != len(list) || report.Entries != importer.Messages(list) {
		t.Errorf("verified %+v, %v", report, err)
	}
}

func TestWorkersRunEachTurnOnce(t *testing.T) {
	s, list := nodetest.Start(t), sample(t)
	if already, err := importer.StartSessions(t.Context(), s, list, importer.Options{}); err != nil || already != 0 {
		t.Fatalf("%d are there, %v", already, err)
	}
	var mu sync.Mutex
	var total importer.Worked
	var reported atomic.Int64
	workers, ctx := errgroup.WithContext(t.Context())
	for range 4 {
		workers.Go(func() error {
			did, err := importer.Work(ctx, s, list, importer.WorkOptions{Options: importer.Options{Progress: func(n int) { reported.Add(int64(n)) }}})
			mu.Lock()
			defer mu.Unlock()
			total.Add(did)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		t.Fatal(err)
	}
	if total.Turns != importer.Turns(list) || total.Messages != importer.Messages(list) || int(reported.Load()) != total.Messages || total.Calls != toolCalls(list) {
		t.Errorf("they did %+v and reported of %d, of %d turns, %d messages and %d calls", total, reported.Load(), importer.Turns(list), importer.Messages(list), toolCalls(list))
	}
	verified(t, s, list)
	if already, err := importer.StartSessions(t.Context(), s, list, importer.Options{}); err != nil || already != total.Messages {
		t.Errorf("%d of %d are there, %v", already, total.Messages, err)
	}
	if did, err := importer.Work(t.Context(), s, list, importer.WorkOptions{}); err != nil || did != (importer.Worked{}) {
		t.Errorf("a worker that comes late did %+v, %v", did, err)
	}
}

// dying is a service that is cut off after some commits, like that of a killed
// worker.
type dying struct {
	agent.Service
	left atomic.Int64
	die  context.CancelFunc
}

func (d *dying) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if d.left.Add(-1) < 0 {
		d.die()
		return agent.Result{}, agent.Errorf(agent.CodeUnavailable, "cut off")
	}
	return d.Service.Commit(ctx, c)
}

// Other workers finish the turns of a worker that dies at any point.
func TestTurnsOfAWorkerThatDiesAreRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // for timeouts in the background
		s, list := nodetest.Start(t), transcripts(t, lines)
		if _, err := importer.StartSessions(t.Context(), s, list, importer.Options{}); err != nil {
			t.Fatal(err)
		}
		var total importer.Worked
		for commits := range 6 {
			ctx, cancel := context.WithCancel(t.Context())
			d := &dying{Service: s, die: cancel}
			d.left.Store(int64(commits))
			did, _ := importer.Work(ctx, d, list, importer.WorkOptions{Owner: "dies"}) // it fails, unless no turn is left
			total.Add(did)
			cancel()
		}
		did, err := importer.Work(t.Context(), s, list, importer.WorkOptions{Owner: "heir"})
		if err != nil {
			t.Fatal(err)
		}
		total.Add(did)
		if total.Turns > importer.Turns(list) || total.Recovered == 0 {
			t.Errorf("they did %+v of %d turns", total, importer.Turns(list))
		}
		verified(t, s, list)
	})
}

// Waiting for the rate does not count as time without an answer.
func TestATurnMayTakeLongerThanGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // for timeouts in the background
		s, list := nodetest.Start(t), transcripts(t, lines)
		if _, err := importer.StartSessions(t.Context(), s, list, importer.Options{}); err != nil {
			t.Fatal(err)
		}
		did, err := importer.Work(t.Context(), s, list, importer.WorkOptions{Options: importer.Options{Rate: 2, GiveUp: time.Second}})
		if err != nil || did.Turns != importer.Turns(list) || did.Lost != 0 {
			t.Errorf("5 messages at 2 a second, giving up after one: %+v, %v", did, err)
		}
		verified(t, s, list)
	})
}

// slow is a service that delays the start of the first turn of c1.
type slow struct {
	agent.Service
	delay time.Duration
	kept  atomic.Bool
}

func (s *slow) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	get, is := r.Reads[0].(*agent.GetSession)
	if is && len(r.Reads) > 1 && get.Session == "c1" && !s.kept.Swap(true) {
		select {
		case <-time.After(s.delay):
		case <-ctx.Done():
			return agent.Answers{}, ctx.Err()
		}
	}
	return s.Service.Read(ctx, r)
}

func TestATurnThatTakesTooLongIsRunAgain(t *testing.T) {
	for name, delay := range map[string]time.Duration{"without an answer": time.Hour, "and the rate would take longer": 11 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { time.Sleep(time.Minute) }) // for timeouts in the background
				s, list := nodetest.Start(t), transcripts(t, lines)
				if _, err := importer.StartSessions(t.Context(), s, list, importer.Options{}); err != nil {
					t.Fatal(err)
				}
				o := importer.WorkOptions{Options: importer.Options{Rate: 2, GiveUp: 10 * time.Second}}
				did, err := importer.Work(t.Context(), &slow{Service: s, delay: delay}, list, o)
				if err != nil || did.Lost != 1 || did.Turns != importer.Turns(list) {
					t.Errorf("it did %+v, %v", did, err)
				}
				verified(t, s, list)
			})
		})
	}
}

func TestDifferencesOfSessionsAreReported(t *testing.T) {
	s, list := nodetest.Start(t), transcripts(t, lines)
	missing, err := importer.VerifySessions(t.Context(), s, list, importer.Options{})
	if err != nil || missing.Differences.Count != 4 {
		t.Errorf("of an empty store: %+v, %v", missing, err)
	}
	if _, err := importer.StartSessions(t.Context(), s, list, importer.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := importer.Work(t.Context(), s, list[:1], importer.WorkOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), agent.AppendThread{Thread: "c1", Entries: []agent.Draft{{Payload: agent.JSON(`{"n":1}`)}}}); err != nil {
		t.Fatal(err)
	}
	found, err := importer.VerifySessions(t.Context(), s, list, importer.Options{})
	text := strings.Join(found.Differences.First, "\n")
	for _, want := range []string{"c1: the thread is at rev 6, the file at 5", "c2: the session is new", "c2: the session has 0 turns, the file 1", "c2: request turn-1 was finished 0 times", "c2: there is no such thread"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%q is not among the differences (%v):\n%s", want, err, text)
		}
	}
	// A write of another client to a session is a difference.
	if _, err := s.Append(t.Context(), agent.AppendThread{Thread: "c2", Entries: []agent.Draft{{Payload: agent.JSON(`{"n":1}`)}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := importer.Work(t.Context(), s, list, importer.WorkOptions{}); agent.CodeOf(err) != agent.CodeConflict {
		t.Errorf("a turn over what somebody else wrote: %v", err)
	}
}
