package check_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// story builds a history by hand, line by line.
type story struct {
	t *testing.T
	h history.History
}

// newStory returns a correct run: calls from 2 s on, a kill of the leader from 10 s to
// 14 s, healed at 20 s, final reads at 40 s, the end at 50 s.
func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{t: t}
	s.phase(0, check.PhaseStart)
	s.phase(2, check.PhaseFaults)
	s.phase(20, check.PhaseHeal)
	s.phase(40, check.PhaseFinal)
	s.phase(50, check.PhaseEnd)
	s.fault(1, 10, 14, "kill", "leader")
	s.note(10, "n1", check.NoteMayExit, "killed")
	s.event(history.Event{At: secs(10), Kind: history.EventExit, Node: "n1", Detail: check.ExitDetail(-1, true, "")})
	s.note(14, "n1", check.NoteMustRun, "")
	for at := range 50 {
		if at < 2 || at >= 10 && at < 13 {
			continue
		}
		s.pulse(float64(at), float64(at)+0.1)
		for _, node := range []string{"n1", "n2", "n3"} {
			s.sample(float64(at), node, check.Sample{Term: 2 + uint64(at/14), Goroutines: 200, Descriptors: 80, RSS: 300 << 20})
		}
	}
	return s
}

// look adds a final look at three nodes; the last node has the sample odd.
func (s *story) look(step int, odd check.Sample) *story {
	even := check.Sample{Applied: 900, Term: 3, Chain: 7, State: "abc"}
	for node, is := range map[string]check.Sample{"n1": even, "n2": even, "n3": odd} {
		raw, err := json.Marshal(is)
		if err != nil {
			s.t.Fatal(err)
		}
		s.event(history.Event{At: secs(45), Kind: history.EventSample, Name: check.FinalLook, Step: step, Node: node, Data: raw})
	}
	return s
}

func secs(at float64) time.Duration { return time.Duration(at * float64(time.Second)) }

// event inserts an event in order of time.
func (s *story) event(e history.Event) {
	i := len(s.h.Events)
	for i > 0 && s.h.Events[i-1].At > e.At {
		i--
	}
	s.h.Events = append(s.h.Events[:i], append([]history.Event{e}, s.h.Events[i:]...)...)
}

func (s *story) phase(at float64, name string) {
	s.event(history.Event{At: secs(at), Kind: history.EventPhase, Name: name})
}

func (s *story) note(at float64, node, name, detail string) {
	s.event(history.Event{At: secs(at), Kind: history.EventNote, Node: node, Name: name, Detail: detail})
}

func (s *story) fault(step int, from, to float64, name, variant string) {
	data, err := json.Marshal(map[string]string{"variant": variant})
	if err != nil {
		s.t.Fatal(err)
	}
	s.event(history.Event{At: secs(from), Kind: history.EventFault, Name: name, Step: step, Detail: variant, Data: data})
	s.event(history.Event{At: secs(to), Kind: history.EventHeal, Name: name, Step: step})
}

func (s *story) sample(at float64, node string, is check.Sample) {
	raw, err := json.Marshal(is)
	if err != nil {
		s.t.Fatal(err)
	}
	s.event(history.Event{At: secs(at), Kind: history.EventSample, Node: node, Data: raw})
}

func (s *story) pulse(from, to float64) {
	s.h.Ops = append(s.h.Ops, history.Op{
		ID: int64(len(s.h.Ops) + 1), Workload: check.PulseWorkload, Call: "pulse", Invoke: secs(from), Return: secs(to), Outcome: history.OK,
	})
}

func (s *story) call(at float64, node, code string) {
	s.h.Ops = append(s.h.Ops, history.Op{
		ID: int64(len(s.h.Ops) + 1), Workload: "register", Call: "get", Node: node, Invoke: secs(at), Return: secs(at + 0.1),
		Outcome: history.Refused, Code: code, Detail: "made by hand",
	})
}

// silence removes the pulses between the two times.
func (s *story) silence(from, to float64) {
	var kept []history.Op
	for _, op := range s.h.Ops {
		if op.Invoke < secs(from) || op.Invoke >= secs(to) {
			kept = append(kept, op)
		}
	}
	s.h.Ops = kept
}

// judged fails the test unless the result breaks exactly that rule, or is ok if rule
// is empty.
func judged(t *testing.T, r check.Result, rule string) {
	t.Helper()
	if rule == "" {
		if r.Verdict != check.OK {
			t.Errorf("%s is %s %s: %v", r.Check, r.Verdict, r.Why, r.Findings)
		}
		return
	}
	if r.Verdict != check.Violation {
		t.Errorf("%s is %s %s, where %q should be found", r.Check, r.Verdict, r.Why, rule)
	}
	for _, f := range r.Findings {
		if !strings.HasPrefix(f.Rule, rule) {
			t.Errorf("%s also found %s: %s", r.Check, f.Rule, f.Detail)
		}
	}
}
