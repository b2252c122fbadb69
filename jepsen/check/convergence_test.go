package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

func TestNodesThatStandAtOneStateHaveConverged(t *testing.T) {
	s := newStory(t).look(1, check.Sample{Applied: 5}).look(2, check.Sample{Applied: 900, Term: 3, Chain: 7, State: "abc"})
	judged(t, check.Convergence(&s.h), "") // the last comparison counts
}

func TestANodeThatStandsElsewhereIsFound(t *testing.T) {
	for rule, odd := range map[string]check.Sample{
		"different applied index": {Applied: 899, Term: 3, Chain: 7, State: "abc"},
		"different term":          {Applied: 900, Term: 2, Chain: 7, State: "abc"},
		"different chain":         {Applied: 900, Term: 3, Chain: 8, State: "abc"},
		"different state":         {Applied: 900, Term: 3, Chain: 7, State: "abd"},
	} {
		t.Run(rule, func(t *testing.T) { judged(t, check.Convergence(&newStory(t).look(1, odd).h), rule) })
	}
}

func TestANodeThatDoesNotAnswerHasNotConverged(t *testing.T) {
	s := newStory(t).look(1, check.Sample{Applied: 900, Term: 3, Chain: 7, State: "abc"})
	s.event(history.Event{At: secs(45), Kind: history.EventSample, Name: check.FinalLook, Step: 1, Node: "n4", Detail: "connection refused"})
	judged(t, check.Convergence(&s.h), "no answer")
}

func TestRowsThatDifferAreFound(t *testing.T) {
	with := func(rows *check.Rows) check.Sample {
		return check.Sample{Applied: 900, Term: 3, Chain: 7, State: "abc", Rows: rows}
	}
	looked := func(odd *check.Rows, all bool) check.Result {
		s := newStory(t).look(1, with(odd))
		s.h.Header.Rows = all
		for i := range s.h.Events {
			if e := &s.h.Events[i]; e.Name == check.FinalLook && e.Node != "n3" {
				e.Data, _ = json.Marshal(with(&check.Rows{Index: 9, Hash: "h", Kinds: map[string]string{"timer": "1"}}))
			}
		}
		return check.Convergence(&s.h)
	}
	judged(t, looked(nil, false), "") // a node of an older version has no such call
	judged(t, looked(&check.Rows{Index: 9, Hash: "h", Kinds: map[string]string{"timer": "1"}}, true), "")
	lacks := looked(&check.Rows{Index: 9, Hash: "g", Kinds: map[string]string{"timer": "1", "review": "2"}}, true)
	judged(t, lacks, "different rows")
	if detail := lacks.Findings[0].Detail; !strings.HasSuffix(detail, ": review") {
		t.Errorf("the finding is %q", detail)
	}
	if r := looked(nil, true); r.Verdict != check.Unknown || r.Why != "node n3 did not tell the hash of its rows" {
		t.Errorf("rows that a node of the same build does not tell are %s %q", r.Verdict, r.Why)
	}
	if r := looked(&check.Rows{Index: 8, Hash: "g"}, true); r.Verdict != check.Unknown || r.Why == "" {
		t.Errorf("rows of two indexes are %s %q", r.Verdict, r.Why)
	}
}

func TestConvergenceThatNobodyLookedAtIsUnknown(t *testing.T) {
	s := newStory(t)
	if r := check.Convergence(&s.h); r.Verdict != check.Unknown || r.Why == "" {
		t.Errorf("it is %s %q", r.Verdict, r.Why)
	}
	unread := newStory(t)
	for _, node := range []string{"n1", "n2"} {
		unread.sample(45, node, check.Sample{Applied: 9, Term: 3, Chain: 7})
		unread.h.Events[len(unread.h.Events)-2].Name = check.FinalLook
	}
	if r := check.Convergence(&unread.h); r.Verdict == check.OK {
		t.Errorf("it is %s although no state was compared", r.Verdict)
	}
}
