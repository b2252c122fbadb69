package agenttest

import (
	"fmt"
	"strconv"
	"sync"

	"dormouse/agent"
)

// callers is the number of concurrent commits in the cases below.
const callers = 16

// atOnce sends one commit for each caller, all concurrently.
func (k *kit) atOnce(commit func(caller int) agent.Commit) (results []agent.Result, errs []error) {
	k.Helper()
	results, errs = make([]agent.Result, callers), make([]error, callers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for caller := range callers {
		c := commit(caller)
		all.Go(func() {
			<-start
			results[caller], errs[caller] = k.send(c)
		})
	}
	close(start)
	all.Wait()
	return results, errs
}

// oneWins checks that one caller's commit was applied and all others were refused with
// code; it returns the winner.
func (k *kit) oneWins(code agent.Code, results []agent.Result, errs []error) int {
	k.Helper()
	winner := -1
	for caller, err := range errs {
		switch {
		case err != nil:
			k.refused(code, 0, err)
		case winner >= 0:
			k.Fatalf("callers %d and %d both won", winner, caller)
		default:
			winner = caller
			k.applied(results[caller], nil)
		}
	}
	if winner < 0 {
		k.Fatal("no caller won")
	}
	return winner
}

var concurrentClaims = []claim{
	{"S-20_appends_at_one_rev_have_one_winner", func(k *kit) {
		for round := range 5 {
			results, errs := k.atOnce(func(caller int) agent.Commit {
				return agent.Commit{Ops: []agent.Op{&agent.AppendThread{
					Thread: "t", ExpectedRev: ptr(uint64(round)), Entries: []agent.Draft{message(fmt.Sprintf("r%d-c%d", round, caller), "me")},
				}}}
			})
			winner := k.oneWins(agent.CodeConflict, results, errs)
			entries := k.entries("t")
			k.equal("entries", len(entries), round+1)
			k.equal("the last entry", entries[round].ID, fmt.Sprintf("r%d-c%d", round, winner))
		}
	}},

	{"S-20_unconditional_appends_all_apply", func(k *kit) {
		results, errs := k.atOnce(func(caller int) agent.Commit {
			return agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: messages(fmt.Sprint("c", caller, "-"), 0, 3)}}}
		})
		entries := k.entries("t")
		k.equal("number of entries", len(entries), callers*3)
		for caller, err := range errs {
			stamps := resultOf[*agent.ThreadResult](k, k.applied(results[caller], err), 0).Entries
			for i, stamp := range stamps {
				k.equal("entries of one commit stay together", stamp.Seq, stamps[0].Seq+uint64(i))
				k.equal("entry at its seq", entries[stamp.Seq].ID, fmt.Sprint("c", caller, "-", i))
			}
		}
		for i, e := range entries {
			k.equal("seq", e.Seq, uint64(i))
		}
		k.equal("head", k.thread("t").Head, chain(entries...))
	}},

	{"S-20_writes_at_one_revision_have_one_winner", func(k *kit) {
		for revision := range uint64(3) {
			results, errs := k.atOnce(func(caller int) agent.Commit {
				return agent.Commit{Ops: []agent.Op{&agent.PutCheckpoint{
					Key: "a", IfRevision: &revision, State: agent.JSON(`{"by":` + strconv.Itoa(caller) + `}`),
				}}}
			})
			winner := k.oneWins(agent.CodeRevisionMismatch, results, errs)
			got := find[*agent.Checkpoint](k, &agent.GetCheckpoint{Key: "a"})
			k.equal("revision, state", []any{got.Revision, string(got.State)}, []any{revision + 1, fmt.Sprintf(`{"by":%d}`, winner)})
		}
	}},

	{"S-20_compare_and_swap_loses_no_update", func(k *kit) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { k.increment("n", 5) })
		}
		all.Wait()
		k.equal("counted", string(find[*agent.Value](k, &agent.GetValue{Key: "n"}).Bytes), "20")
	}},

	{"P-9_hibernations_of_one_history_all_succeed", func(k *kit) {
		_, errs := k.atOnce(func(int) agent.Commit {
			return agent.Commit{Ops: hibernate("t", `{"n":1}`, 0, messages("m", 0, 4)...)}
		})
		for _, err := range errs {
			if err != nil {
				k.Fatalf("the same history was refused: %v", err)
			}
		}
		k.equal("entries", ids(k.entries("t")), "m0 m1 m2 m3")
	}},

	{"P-9_of_hibernations_of_different_histories_one_wins", func(k *kit) {
		results, errs := k.atOnce(func(caller int) agent.Commit {
			return agent.Commit{Ops: hibernate("t", fmt.Sprintf(`{"by":%d}`, caller), 0, messages(fmt.Sprint("c", caller, "-"), 0, 2)...)}
		})
		winner := k.oneWins(agent.CodeConflict, results, errs)
		thawed := find[*agent.Thawed](k, &agent.Thaw{Key: "a"})
		k.equal("state", string(thawed.Checkpoint.State), fmt.Sprintf(`{"by":%d}`, winner))
		k.equal("entries", ids(thawed.Entries), fmt.Sprintf("c%d-0 c%d-1", winner, winner))
	}},

	{"one_request_sent_many_times_at_once_applies_once", func(k *kit) {
		request := agent.Request{Client: newName("client"), Seq: 1}
		results, errs := k.atOnce(func(int) agent.Commit {
			return agent.Commit{Request: request, Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}}}}}
		})
		for caller, err := range errs {
			k.equal("answer", k.applied(results[caller], err), results[0])
		}
		k.equal("rev", k.thread("t").Rev, uint64(1))
	}},
}

// increment adds 1 to a number, times times, each by compare-and-swap. It runs
// concurrently with others, so it reports errors without ending the test.
func (k *kit) increment(key string, times int) {
	for done := 0; done < times; {
		answers, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{&agent.GetValue{Key: key}}})
		if err != nil {
			k.Errorf("read: %v", err)
			return
		}
		put, number := &agent.PutValue{Key: key, IfBytes: ptr([]byte(nil))}, 0
		if value, ok := answers.Answers[0].Found.(*agent.Value); ok {
			put.IfBytes = &value.Bytes
			number, _ = strconv.Atoi(string(value.Bytes))
		}
		put.Bytes = []byte(strconv.Itoa(number + 1))
		switch _, err := k.send(agent.Commit{Ops: []agent.Op{put}}); agent.CodeOf(err) {
		case "":
			done++
		case agent.CodeRevisionMismatch: // another caller was faster
		default:
			k.Errorf("put: %v", err)
			return
		}
	}
}
