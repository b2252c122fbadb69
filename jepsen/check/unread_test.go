package check_test

import (
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// A workload whose final reads failed is not ok. What was found stays found, and other workloads are not
// concerned.
func TestAWorkloadWhoseFinalReadsFailedIsUnknown(t *testing.T) {
	h := &history.History{Events: []history.Event{{Kind: history.EventNote, Name: check.NoteUnread, Detail: "set: final read of v1: unavailable: no leader"}}}
	for _, c := range []struct {
		of         check.Result
		want       check.Verdict
		whyItIsNot string
	}{
		{check.Result{Check: "set", Verdict: check.OK}, check.Unknown, "final reads failed: final read of v1: unavailable: no leader"},
		{check.Result{Check: "set", Verdict: check.Violation}, check.Violation, ""},
		{check.Result{Check: "register", Verdict: check.OK}, check.OK, ""},
	} {
		if got := check.Unread(h, c.of); got.Verdict != c.want || got.Why != c.whyItIsNot {
			t.Errorf("%s, %s: judged %s (%s)", c.of.Check, c.of.Verdict, got.Verdict, got.Why)
		}
	}
}
