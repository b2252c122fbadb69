package check_test

import (
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

func TestACorruptAnswerIsAFindingOfItsWorkload(t *testing.T) {
	h := &history.History{Ops: []history.Op{
		{ID: 1, Call: "read", Key: "a", Outcome: history.OK},
		{ID: 2, Call: "read", Key: "a", Outcome: history.Refused, Code: "not_found"},
	}}
	sound := check.Result{Check: "set", Verdict: check.OK}
	if r := check.Corrupt(h, sound); r.Verdict != check.OK || len(r.Findings) > 0 {
		t.Errorf("without such an answer: %+v", r)
	}
	for id := range int64(5) {
		h.Ops = append(h.Ops, history.Op{ID: 3 + id, Call: "read", Key: "b", Outcome: history.Refused, Code: "corrupt", Detail: "a row is missing"})
	}
	r := check.Corrupt(h, sound)
	if r.Verdict != check.Violation || len(r.Findings) != 3 || r.Findings[0].Rule != "corrupt answer" || r.Findings[0].Key != "b" || r.Counts["broken: corrupt answer"] != 5 {
		t.Errorf("with five of them: %+v", r)
	}
	h.Header.Nemeses = []string{"kill", "corrupt/a-table"}
	if r := check.Corrupt(h, sound); r.Verdict != check.OK {
		t.Errorf("although disks were damaged: %+v", r)
	}
}
