package conversations

import (
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func says(p, from, to int, name string, count, file uint64) history.Op {
	return workloadtest.OK(p, from, to, callSay, "c1", call{Name: name, Messages: 1, File: file > 0}, seen{Count: count, File: file})
}

func saves(p, from, to int, name string, of, consumed uint64) history.Op {
	return workloadtest.OK(p, from, to, callSave, "c1", call{Name: name, Revision: of, Consumed: consumed}, seen{Revision: of + 1})
}

func pends(p, from, to int, name string, number uint64) history.Op {
	return workloadtest.OK(p, from, to, callPend, "c1", call{Name: name}, seen{Number: number})
}

func finds(p, from, to int, found seen) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, "c1", struct{}{}, found)
}

func TestConversationHistories(t *testing.T) {
	both := seen{Count: 1, Messages: []string{"a.0"}, File: 1, Content: "a"}
	interrupted := saves(1, 0, 1, "s", 0, 0)
	interrupted.In, interrupted.Out = workloadtest.Raw(call{Name: "s", Interrupt: true}), workloadtest.Raw(seen{Revision: 1, Interrupted: true})
	stale := saves(2, 2, 3, "u", 0, 0)
	stale.Out = workloadtest.Raw(seen{Revision: 2})
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"said, pending and saved", workloadtest.Script{
			says(1, 0, 1, "a", 1, 1), pends(2, 2, 3, "p", 1), pends(2, 4, 5, "q", 2), saves(1, 6, 7, "s", 0, 1),
			finds(3, 8, 9, seen{Revision: 1, State: "s", Count: 1, Messages: []string{"a.0"}, File: 1, Content: "a", Consumed: 1, Pending: []pending{{2, "q"}}}),
		}, ""},
		{"a message with its file", workloadtest.Script{says(1, 0, 9, "a", 1, 1), finds(3, 1, 2, seen{}), finds(3, 3, 4, both)}, ""},
		{"a message without its file", workloadtest.Script{says(1, 0, 9, "a", 1, 1), finds(3, 1, 2, seen{Count: 1, Messages: []string{"a.0"}})}, "no order explains it"},
		{"a lost message", workloadtest.Script{says(1, 0, 1, "a", 1, 0), finds(3, 2, 3, seen{})}, "lost or stale"},
		{"fewer messages than counted", workloadtest.Script{says(1, 0, 1, "a", 1, 0), finds(3, 2, 3, seen{Count: 1})}, "messages missing"},
		{"a stale save", workloadtest.Script{saves(1, 0, 1, "s", 0, 0), stale}, "stale save accepted"},
		{"two saves of one revision", workloadtest.Script{saves(1, 0, 1, "s", 0, 0), saves(2, 0, 1, "t", 0, 0)}, "two histories"},
		{"a pending message that is gone", workloadtest.Script{pends(2, 0, 1, "p", 1), finds(3, 2, 3, seen{})}, "lost or stale"},
		{"one that is gone from the middle", workloadtest.Script{
			pends(2, 0, 1, "p", 1), pends(2, 2, 3, "q", 2), finds(3, 4, 5, seen{Pending: []pending{{2, "q"}}}),
		}, "pending message missing"},
		{"one that comes back", workloadtest.Script{
			pends(2, 0, 1, "p", 1), saves(1, 2, 3, "s", 0, 1), finds(3, 4, 5, seen{Revision: 1, State: "s", Pending: []pending{{1, "p"}}}),
		}, "consumed message came back"},
		{"one that no save consumed", workloadtest.Script{
			pends(2, 0, 1, "p", 1), pends(2, 2, 3, "q", 2), saves(1, 4, 5, "s", 0, 0), finds(3, 6, 7, seen{Revision: 1, State: "s", Consumed: 2}),
		}, "consumed by no save"},
		{"one that is consumed before the first save", workloadtest.Script{pends(2, 0, 1, "p", 1), finds(3, 2, 3, seen{Consumed: 1})}, "consumed by no save"},
		{"one that a later save consumes", workloadtest.Script{
			pends(2, 0, 1, "p", 1), saves(1, 2, 3, "s", 0, 0), finds(3, 4, 5, seen{Revision: 1, State: "s", Consumed: 1}), saves(1, 6, 7, "t", 1, 1),
		}, "consumed by no save"},
		{"one that a refused save consumes", workloadtest.Script{
			pends(2, 0, 1, "p", 1), saves(1, 2, 3, "s", 0, 0), workloadtest.Refused(saves(2, 4, 5, "t", 0, 1), "conflict"), finds(3, 6, 7, seen{Revision: 1, State: "s", Consumed: 1}),
		}, "consumed by no save"},
		{"one that comes back after the next save", workloadtest.Script{
			pends(2, 0, 1, "p", 1), saves(1, 2, 3, "s", 0, 1), saves(1, 4, 5, "t", 1, 0), finds(3, 6, 7, seen{Revision: 2, State: "t", Pending: []pending{{1, "p"}}}),
		}, "consumed message came back"},
		{"consumed, and no more by the next save", workloadtest.Script{
			pends(2, 0, 1, "p", 1), pends(2, 2, 3, "q", 2), saves(1, 4, 5, "s", 0, 2), saves(1, 6, 7, "t", 1, 0), finds(3, 8, 9, seen{Revision: 2, State: "t", Consumed: 2}),
		}, ""},
		{"consumed by a save without an answer", workloadtest.Script{
			pends(2, 0, 1, "p", 1), workloadtest.Unknown(saves(1, 2, 3, "s", 0, 1)), finds(3, 4, 5, seen{Revision: 1, State: "s", Consumed: 1}),
		}, ""},
		{"consumed by a save that no answer shows", workloadtest.Script{
			pends(2, 0, 1, "p", 1), workloadtest.Unknown(saves(1, 2, 3, "s", 0, 1)), saves(2, 4, 5, "t", 1, 0), finds(3, 6, 7, seen{Revision: 2, State: "t", Consumed: 1}),
		}, ""},
		{"interrupted and not shown", workloadtest.Script{interrupted, finds(3, 4, 5, seen{Revision: 1, State: "s"})}, "wrong lifecycle"},
		{"refused and there", workloadtest.Script{workloadtest.Refused(says(1, 0, 1, "a", 0, 0), "overloaded"), finds(3, 2, 3, seen{Count: 1, Messages: []string{"a.0"}})}, "refused but applied"},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestConversationsCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{says(1, 0, 1, "a", 1, 0), finds(3, 2, 3, seen{Count: 1, Messages: []string{"a.0"}})}.History())
}
