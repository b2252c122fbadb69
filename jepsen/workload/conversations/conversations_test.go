package conversations

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func says(p, from, to int, name string, count, file uint64) history.Op {
	return workloadtest.OK(p, from, to, callSay, "c1", call{Name: name, Messages: 1, File: file > 0}, seen{Count: count, File: file})
}

// speaks is a say whose answer is lost.
func speaks(p, from, to int, name string, messages int, file bool) history.Op {
	return workloadtest.Unknown(workloadtest.OK(p, from, to, callSay, "c1", call{Name: name, Messages: messages, File: file}, seen{}))
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
		{"a message without its file, and without an answer", workloadtest.Script{speaks(1, 0, 1, "a", 1, true), finds(3, 2, 3, seen{Count: 1, Messages: []string{"a.0"}})}, "half a commit"},
		{"a file without its message, and without an answer", workloadtest.Script{speaks(1, 0, 1, "a", 1, true), finds(3, 2, 3, seen{File: 1, Content: "a"})}, "half a commit"},
		{"a message without the next one, and without an answer", workloadtest.Script{speaks(1, 0, 1, "a", 2, false), finds(3, 2, 3, seen{Count: 1, Messages: []string{"a.0"}})}, "half a commit"},
		{"a message without its file, as another say shows", workloadtest.Script{
			speaks(1, 0, 1, "a", 1, true), says(2, 2, 3, "b", 2, 1), finds(3, 4, 5, seen{Count: 3, Messages: []string{"a.0", "b.0", "c.0"}, File: 2, Content: "c"}), says(2, 6, 7, "c", 3, 2),
		}, "half a commit"},
		{"a message with its file, without an answer", workloadtest.Script{speaks(1, 0, 1, "a", 2, true), finds(3, 2, 3, seen{}), finds(3, 4, 5, seen{Count: 2, Messages: []string{"a.0", "a.1"}, File: 1, Content: "a"})}, ""},
		{"a message with its file, which another one replaced", workloadtest.Script{
			speaks(1, 0, 1, "a", 1, true), says(2, 2, 3, "b", 2, 2), finds(3, 4, 5, seen{Count: 2, Messages: []string{"a.0", "b.0"}, File: 2, Content: "b"}),
		}, ""},
		{"a message with its file, after another one", workloadtest.Script{
			speaks(1, 0, 1, "a", 1, true), says(2, 2, 3, "b", 1, 1), finds(3, 4, 5, seen{Count: 1, Messages: []string{"b.0"}, File: 1, Content: "b"}),
			speaks(1, 6, 7, "c", 1, false), finds(3, 8, 9, seen{Count: 2, Messages: []string{"b.0", "a.0"}, File: 2, Content: "a"}),
		}, ""},
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

// store is a correct store of one conversation and its file.
type store struct {
	seen
	messages []string // all of them
	pended   uint64
}

func (s *store) do(name string, in any) any {
	c := in.(call)
	switch name {
	case callSay:
		s.messages = append(s.messages, c.names()...)
		out := seen{Count: uint64(len(s.messages))}
		if c.File {
			s.File, s.Content = s.File+1, c.Name
			out.File = s.File
		}
		return out
	case callPend:
		s.pended++
		s.Pending = append(s.Pending, pending{s.pended, c.Name})
		return seen{Number: s.pended}
	case callSave:
		if c.Revision != s.Revision {
			return nil
		}
		s.Revision, s.State, s.Interrupted, s.Consumed = s.Revision+1, c.Name, c.Interrupt, max(s.Consumed, c.Consumed)
		s.Pending = slices.DeleteFunc(slices.Clone(s.Pending), func(m pending) bool { return m.Number <= s.Consumed })
		return seen{Revision: s.Revision, Interrupted: s.Interrupted}
	}
	out := s.seen
	out.Pending, out.Count = slices.Clone(s.Pending), uint64(len(s.messages))
	out.Messages = slices.Clone(s.messages[len(s.messages)-min(len(s.messages), tail):])
	return out
}

func storeHistory(seed uint64) *history.History {
	s, r, n := &store{}, rand.New(rand.NewPCG(seed, 29)), 0
	run := workloadtest.SoundRun{R: r, Processes: 1 + int(seed%9), Calls: 100, Apply: s.do}
	run.Begin = func(int) (string, any) {
		n++
		switch in, draw := (call{Name: fmt.Sprint("n", n)}), r.IntN(10); {
		case draw < 3:
			in.Messages, in.File = 1+r.IntN(messagesMax), r.IntN(3) == 0
			return callSay, in
		case draw < 5:
			return callPend, in
		case draw < 8:
			in.Revision, in.Interrupt = s.Revision, r.IntN(3) == 0
			if len(s.Pending) > 0 {
				in.Consumed = s.Pending[r.IntN(len(s.Pending))].Number
			}
			return callSave, in
		default:
			return workload.CallRead, call{}
		}
	}
	return run.History("c1")
}

func TestConversationsPassesSoundRuns(t *testing.T) {
	for seed := range uint64(60) {
		workloadtest.Expect(t, workloadtest.Judged(t, New(), storeHistory(seed)), "")
	}
}
