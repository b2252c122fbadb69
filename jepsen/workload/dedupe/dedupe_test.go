package dedupe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

// tried is an attempt of request seq of client a, applied at place.
func tried(p, from, to int, seq uint64, token int64, place uint64) history.Op {
	return workloadtest.OK(p, from, to, workload.CallCommit, "d1", dedupeIn{Token: token, Client: "a", Seq: seq, Low: 1},
		dedupeOut{Rev: place + 1, Seq: place, Revision: place + 1, Entry: fmt.Sprint("entry_", place)})
}

// own is a commit that the client numbers itself.
func own(p, from, to int, token int64, place uint64) history.Op {
	return workloadtest.OK(p, from, to, workload.CallCommit, "d1", dedupeIn{Token: token}, dedupeOut{Rev: place + 1, Seq: place, Revision: place + 1})
}

// triedAt expects a rev and was refused by a thread at another.
func triedAt(p, from, to int, seq uint64, token int64, expected, rev uint64) history.Op {
	return workloadtest.OK(p, from, to, workload.CallCommit, "d1", dedupeIn{Token: token, Client: "a", Seq: seq, Low: 1, Rev: &expected}, dedupeOut{Refused: true, Rev: rev})
}

func mismatched(p, from, to int, seq uint64, token int64) history.Op {
	return workloadtest.Refused(workloadtest.OK(p, from, to, callMismatch, "d1", dedupeIn{Token: token, Client: "a", Seq: seq, Low: 1}, dedupeOut{}), "idempotency_mismatch")
}

// counted is the state of a thread with the tokens and of its counter.
func counted(p, from, to int, tokens ...int64) history.Op {
	state := dedupeState{Rev: uint64(len(tokens)), Revision: uint64(len(tokens))}
	for _, token := range tokens {
		state.Counter = strconv.FormatInt(token, 10)
		state.Tokens = append(state.Tokens, state.Counter)
	}
	return workloadtest.OK(p, from, to, workload.CallRead, "d1", struct{}{}, state)
}

func TestDedupeHistories(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"attempts get one answer", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), tried(2, 0, 2, 1, 7, 0), own(3, 3, 4, 8, 1), tried(1, 5, 6, 1, 7, 0), counted(2, 7, 8, 7, 8)}, ""},
		{"after an unknown one", workloadtest.Script{workloadtest.Unknown(tried(1, 0, 1, 1, 7, 0)), counted(2, 2, 3), tried(2, 4, 5, 1, 7, 0), counted(2, 7, 8, 7)}, ""},
		{"none of them was heard of", workloadtest.Script{workloadtest.Unknown(tried(1, 0, 1, 1, 7, 0)), workloadtest.Unknown(tried(2, 0, 1, 1, 7, 0)), counted(2, 7, 8, 7)}, ""},
		{"none of them came", workloadtest.Script{workloadtest.Unknown(tried(1, 0, 1, 1, 7, 0)), workloadtest.Refused(tried(2, 0, 1, 1, 7, 0), "unavailable"), counted(2, 7, 8)}, ""},
		{"one was refused at the door, another was not", workloadtest.Script{workloadtest.Refused(tried(2, 0, 1, 1, 7, 0), "unavailable"), tried(1, 2, 3, 1, 7, 0), counted(2, 7, 8, 7)}, ""},
		{"applied twice", workloadtest.Script{workloadtest.Unknown(tried(1, 0, 1, 1, 7, 0)), tried(2, 4, 5, 1, 7, 0), counted(2, 7, 8, 7, 7)}, "duplicate entry"},
		{"applied twice, by the client", workloadtest.Script{own(1, 0, 1, 7, 1), counted(2, 7, 8, 7, 7)}, "duplicate entry"},
		{"two answers", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), tried(2, 2, 3, 1, 7, 1)}, "two answers to one request"},
		{"applied, and then refused", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), triedAt(2, 2, 3, 1, 7, 0, 1)}, "two answers to one request"},
		{"a refusal stays one", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), triedAt(2, 2, 3, 2, 8, 0, 1), triedAt(1, 4, 5, 2, 8, 0, 1), counted(2, 7, 8, 7)}, ""},
		{"a refused one is there", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), triedAt(2, 2, 3, 2, 8, 2, 1), counted(2, 7, 8, 7, 8)}, "refused append applied"},
		{"refused at its own rev", workloadtest.Script{triedAt(2, 2, 3, 2, 8, 0, 0)}, "refused for no reason"},
		{"all attempts refused at the door", workloadtest.Script{workloadtest.Refused(tried(1, 0, 1, 1, 7, 0), "unavailable"), counted(2, 7, 8, 7)}, "refused append applied"},
		{"an acknowledged one is lost", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), counted(2, 2, 3)}, "lost append"},
		{"a stale read", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), counted(2, 2, 3), counted(2, 4, 5, 7)}, "stale read"},
		{"another in its place", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), own(2, 0, 1, 8, 0)}, "two appends at one seq"},
		{"from nowhere", workloadtest.Script{counted(2, 2, 3, 9)}, "entry from nowhere"},
		{"another body is refused", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), mismatched(2, 2, 3, 1, 8), workloadtest.Unknown(mismatched(2, 4, 5, 1, 9)), counted(2, 6, 7, 7)}, ""},
		{"another body is answered", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), workloadtest.OK(2, 2, 3, callMismatch, "d1", dedupeIn{Token: 8, Client: "a", Seq: 1}, dedupeOut{Rev: 1, Revision: 1})}, "request id taken twice"},
		{"another body applies", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), workloadtest.Unknown(mismatched(2, 2, 3, 1, 8)), counted(2, 6, 7, 7, 8)}, "refused append applied"},
		{"the counter was written once more", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), workloadtest.OK(1, 2, 3, workload.CallRead, "d1", struct{}{}, dedupeState{Rev: 1, Tokens: []string{"7"}, Revision: 2, Counter: "7"})}, "thread and counter differ"},
		{"the counter holds another", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), own(1, 2, 3, 8, 1), workloadtest.OK(1, 4, 5, workload.CallRead, "d1", struct{}{}, dedupeState{Rev: 2, Tokens: []string{"7", "8"}, Revision: 2, Counter: "7"})}, "thread and counter differ"},
		{"taken for another", workloadtest.Script{tried(1, 0, 1, 1, 7, 0), workloadtest.Refused(tried(2, 2, 3, 1, 7, 0), "idempotency_mismatch")}, "taken for another commit"},
		{"half a commit", workloadtest.Script{workloadtest.OK(1, 0, 1, workload.CallCommit, "d1", dedupeIn{Token: 7}, dedupeOut{Rev: 1, Seq: 0, Revision: 2})}, "applied wrong"},
		{"decided long before it was told", workloadtest.Script{workloadtest.Unknown(tried(1, 0, 1, 1, 7, 0)), counted(2, 2, 3, 7), own(2, 4, 5, 8, 1), tried(2, 6, 7, 1, 7, 0)}, ""},
		{"decided before it was asked", workloadtest.Script{counted(2, 0, 1, 7), tried(1, 2, 3, 1, 7, 0)}, "stale answer"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestDedupeCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{tried(1, 0, 1, 1, 7, 0)}.History())
}

// madeUpRequests returns the answers of one thread and its counter to requests with up
// to three overlapping attempts each.
func madeUpRequests(d workloadtest.Draw, n int, key string) workloadtest.Script {
	var s workloadtest.Script
	var all []int64
	type made struct {
		in  dedupeIn
		out *dedupeOut // once its outcome is decided
	}
	var requests []*made
	state := func() dedupeState {
		op := counted(0, 0, 0, all...)
		state, _ := history.Decode[dedupeState](op.Out)
		return state
	}
	for i, m := range workloadtest.Execution(d, n, 5) {
		if d(0, 4) == 0 {
			s = append(s, m.Op(workload.CallRead, key, struct{}{}, state()))
			continue
		}
		var r *made
		if len(requests) > 0 && d(0, 2) > 0 {
			r = requests[len(requests)-1-d(0, min(2, len(requests)-1))]
		} else {
			r = &made{in: dedupeIn{Token: int64(i), Client: "a", Seq: uint64(i + 1)}}
			if len(all) > 0 && d(0, 3) == 0 {
				r.in.Rev = workloadtest.Uint64(uint64(len(all) - d(0, 1)))
			}
			requests = append(requests, r)
		}
		if m.Lost {
			s = append(s, m.Op(workload.CallCommit, key, r.in, nil))
			continue
		}
		if r.out == nil {
			rev := uint64(len(all))
			if r.in.Rev != nil && *r.in.Rev != rev {
				r.out = &dedupeOut{Refused: true, Rev: rev}
			} else {
				all = append(all, r.in.Token)
				r.out = &dedupeOut{Rev: rev + 1, Seq: rev, Revision: rev + 1}
			}
		}
		s = append(s, m.Op(workload.CallCommit, key, r.in, *r.out))
	}
	return append(s, workloadtest.OK(99, s.End(), s.End()+1, workload.CallRead, key, struct{}{}, state()))
}

// TestDedupeExecutions checks that the answers of one thread and its counter are
// accepted, and that a duplicate entry or a changed answer is found.
func TestDedupeExecutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := workloadtest.Drawn(r)
		sound := madeUpRequests(d, d(1, 60), "d1")
		if got := workloadtest.Check(New(), sound); got.Verdict != check.OK {
			r.Fatalf("sound, judged %s: %v", got.Verdict, workloadtest.Details(got))
		}
		wrong := sound.Copied()
		commits := workloadtest.Answered(sound, func(op history.Op) bool { return op.Call == workload.CallCommit })
		last := len(wrong) - 1
		if len(commits) > 0 && d(0, 1) == 0 {
			last = rapid.SampledFrom(commits).Draw(r, "wrong")
			_, out, err := attemptOf(wrong[last])
			if err != nil {
				r.Fatal(err)
			}
			out.Rev, out.Seq, out.Revision = out.Rev+1000, out.Seq+1000, out.Revision+1000
			wrong[last].Out = workloadtest.Raw(out)
		} else {
			state, err := history.Decode[dedupeState](wrong[last].Out)
			if err != nil {
				r.Fatal(err)
			}
			again := "999"
			if n := len(state.Tokens); n > 0 {
				again = state.Tokens[d(0, n-1)]
			}
			state.Tokens = append(slices.Clone(state.Tokens), again)
			state.Rev, state.Revision, state.Counter = state.Rev+1, state.Revision+1, again
			wrong[last].Out = workloadtest.Raw(state)
		}
		if got := workloadtest.Check(New(), wrong); got.Verdict != check.Violation {
			r.Fatalf("call %d was answered %s instead of %s, judged %s", last, wrong[last].Out, sound[last].Out, got.Verdict)
		}
	})
}

// TestThePoolSharesRequests checks that all processes get each other's requests, that
// ids are unique, and that Low never passes an open request.
func TestThePoolSharesRequests(t *testing.T) {
	var pool requestPool
	var all sync.WaitGroup
	seen := make([]map[requestID]int64, 8)
	for id := range seen {
		all.Go(func() {
			p := &workload.Process{ID: id, Rand: rand.New(rand.NewPCG(uint64(id), 3)), Scope: "s"}
			seen[id] = map[requestID]int64{}
			for i := range 300 {
				pool.post(p, "d1", dedupeIn{Token: int64(id*1000 + i)})
				if r := pool.pick(p); r != nil {
					seen[id][requestID{client: r.in.Client, seq: r.in.Seq}] = r.in.Token
					if r.in.Low > r.in.Seq || r.in.Seq == 0 {
						t.Errorf("request %+v", r.in)
					}
				}
			}
		})
	}
	all.Wait()
	tokens, others := map[requestID]int64{}, 0
	for id, mine := range seen {
		for request, token := range mine {
			if known, twice := tokens[request]; twice && known != token {
				t.Errorf("request %v is of %d and of %d", request, known, token)
			}
			tokens[request] = token
			if request.client != fmt.Sprint("s/p", id) {
				others++
			}
		}
	}
	if others == 0 {
		t.Error("nobody saw another's request")
	}
	if len(pool.open) > openMax || len(pool.gone) > goneMax {
		t.Errorf("%d requests are up and %d gone", len(pool.open), len(pool.gone))
	}
}

// BenchmarkDedupeCheck judges threads of 300 attempts, as in a run.
func BenchmarkDedupeCheck(b *testing.B) {
	d := workloadtest.Thrown(rand.New(rand.NewPCG(1, 2)))
	var all workloadtest.Script
	for key := range 50 {
		all = append(all, madeUpRequests(d, calls, fmt.Sprint("d", key))...)
	}
	h := all.History()
	b.ReportAllocs()
	for b.Loop() {
		if r := New().Check(b.Context(), h); r.Verdict != check.OK {
			b.Fatalf("judged %s: %s %v", r.Verdict, r.Why, workloadtest.Details(r))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(h.Ops)), "ns/call")
}

func BenchmarkDedupeAMillionCalls(b *testing.B) {
	workloadtest.AMillionCalls(b, New(), calls, madeUpRequests)
}
