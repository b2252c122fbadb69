package fsm_test

import (
	"slices"
	"testing"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// TestAnImportForgetsTheAnswersOfOwnClients sends requests again after the deletion and the import of their
// scope. Those of the cluster's own clients follow from what is stored, so an imported scope makes the
// same ones: they apply again, once. Requests of other clients, and of other scopes, are answered.
func TestAnImportForgetsTheAnswersOfOwnClients(t *testing.T) {
	own := []string{agent.TimerClient + "a", agent.MutationClient + "b", agent.ImportClient + "c"}
	for _, shared := range []bool{false, true} { // the earlier scope ends in the entry of its last requests
		r := newSubject(t)
		r.raise(txn.ImportAnswersLevel)
		var requests []agent.Commit
		for _, client := range append([]string{"user"}, own...) {
			for _, scope := range []string{agent.DefaultScope, "other"} {
				requests = append(requests, agent.Commit{
					Scope: scope, Request: agent.Request{Client: client, Seq: 1}, Ops: []agent.Op{&agent.PutValue{Key: client}},
				})
			}
		}
		e := exportedScope{header: agent.ScopeHeader{Scope: agent.Scope{Name: agent.DefaultScope}}}
		remove, begin := agent.Commit{Ops: []agent.Op{&agent.DeleteScope{}}}, agent.Commit{Ops: []agent.Op{e.begin("i")}}
		if shared {
			r.batch(append(slices.Clone(requests), remove, begin)...)
		} else {
			r.batch(requests...)
			r.batch(remove)
			r.batch(begin)
		}
		importInto(r, agent.DefaultScope, e, 1)

		sendAgain := func(want []string) {
			t.Helper()
			for i, d := range r.batch(requests...) {
				if d.Err != nil {
					t.Fatalf("shared = %v: request %d sent again: %v", shared, i, d.Err)
				}
			}
			var applied []string
			for _, item := range read[*agent.ValueList](r, &agent.ListValues{}).Items {
				applied = append(applied, item.Key)
			}
			if slices.Sort(applied); !slices.Equal(applied, want) {
				t.Errorf("shared = %v: requests %q applied again, not %q", shared, applied, want)
			}
		}
		slices.Sort(own)
		sendAgain(own)
		for _, client := range own {
			do[*agent.DeleteResult](r, &agent.DeleteValue{Key: client})
		}
		sendAgain(nil)

		for range 5 {
			r.after(agent.RequestTTLMax)
			do[*agent.ValueResult](r, &agent.PutValue{Key: "tick"})
		}
		if clients, answers := r.rows(kv.KindClient), r.rows(kv.KindAnswers); clients != 0 || answers != 0 {
			t.Errorf("shared = %v: %d clients and %d rows of answers stay", shared, clients, answers)
		}
	}
}

// Below the level all nodes keep the answers.
func TestAnImportBelowTheLevelForgetsNoAnswers(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.ImportAnswersLevel - 1)
	e := exportedScope{header: agent.ScopeHeader{Scope: agent.Scope{Name: agent.DefaultScope}}}
	request := agent.Commit{Request: agent.Request{Client: agent.TimerClient, Seq: 1}, Ops: []agent.Op{&agent.PutValue{Key: "v"}}}
	r.batch(request, agent.Commit{Ops: []agent.Op{&agent.DeleteScope{}}}, agent.Commit{Ops: []agent.Op{e.begin("i")}})
	importInto(r, agent.DefaultScope, e, 1)
	r.batch(request)
	r.missing(agent.CodeNotFound, &agent.GetValue{Key: "v"})
}
