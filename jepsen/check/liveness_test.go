package check_test

import (
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

func TestASoundRunIsLive(t *testing.T) {
	s := newStory(t)
	judged(t, check.Liveness(&s.h), "")
}

func TestWhatIsNotLiveIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		rule string
		do   func(s *story)
	}{
		"no commit after the healing": {"no recovery", func(s *story) { s.silence(13, 60) }},
		"the first commit comes late": {"slow recovery", func(s *story) { s.silence(13, 31) }},
		"the first commit of a cluster over several regions comes late": {"slow recovery", func(s *story) {
			s.h.Header.Timing = "wan"
			s.silence(13, 60)
			s.pulse(50.5, 50.6)
		}},
		"a process ends by itself": {"unexplained exit", func(s *story) { s.exit(25, "n2", "exit code 2: panic") }},
		"a fault ends a process by a longer code": {"unexplained exit", func(s *story) {
			s.note(15, "n2", check.NoteMayExit, "exit code 1")
			s.exit(16, "n2", "exit code 10: more")
		}},
		"a fault ends a process otherwise":   {"unexplained exit", func(s *story) { s.exit(11, "n1", "exit code 1") }},
		"an internal error":                  {"unexplained internal", func(s *story) { s.call(5, "n1", "internal") }},
		"a corrupt answer":                   {"unexplained corrupt", func(s *story) { s.call(5, "", "corrupt") }},
		"terms while the cluster is at rest": {"unbounded terms", func(s *story) { s.sample(45, "n1", check.Sample{Term: 12}) }},
		"a storm of elections on a machine that stood still": {"unbounded terms", func(s *story) {
			s.note(44, "", check.NoteStalled, "700ms")
			s.sample(45, "n1", check.Sample{Term: 12})
		}},
		"terms on a machine that stood still before": {"unbounded terms", func(s *story) {
			s.note(25, "", check.NoteStalled, "700ms")
			s.sample(45, "n1", check.Sample{Term: 7})
		}},
		"many terms": {"unbounded terms", func(s *story) { s.sample(12, "n1", check.Sample{Term: 90}) }},
		"snapshots at rest": {"install loop", func(s *story) {
			s.sample(41, "n1", check.Sample{Installs: 5})
			s.sample(49, "n1", check.Sample{Installs: 5})
		}},
		"snapshots without end": {"install loop", func(s *story) {
			s.h.Events = nil
			for n := range 8 {
				s.sample(float64(n), "n1", check.Sample{Installs: 6 * (n + 1)})
			}
			s.phase(9, check.PhaseFinal)
		}},
		"goroutines stay":  {"growth", func(s *story) { s.sample(49, "n1", check.Sample{Goroutines: 5000}) }},
		"descriptors stay": {"growth", func(s *story) { s.sample(49, "n1", check.Sample{Descriptors: 400}) }},
		"memory stays":     {"growth", func(s *story) { s.sample(49, "n1", check.Sample{RSS: 2 << 30}) }},
		"a nemesis saw it": {"clone accepted", func(s *story) { s.note(30, "n2", check.NoteBroken, "clone accepted: both run") }},
		"a call is refused in a rolling restart": {"refused in a rolling restart", func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "unavailable")
		}},
		"a call that its caller would have cancelled early is refused in a rolling restart": {"refused in a rolling restart", func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "unavailable")
			s.h.Ops[len(s.h.Ops)-1].Patience = time.Minute
		}},
		"a call over HTTP stays unknown in a rolling restart": {"refused in a rolling restart", func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "unknown")
			open := &s.h.Ops[len(s.h.Ops)-1]
			open.Via, open.Outcome, open.Return = "http", history.Unknown, history.Never
		}},
		"a request that its caller did not settle has expired in a rolling restart": {"refused in a rolling restart", func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "request_expired")
			s.h.Ops[len(s.h.Ops)-1].Outcome = history.Unknown
		}},
		"a call stays unknown in a rolling restart, long before another fault": {"refused in a rolling restart", func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.fault(3, 23, 24, "pause", "majority")
			s.call(16, "", "unknown")
			open := &s.h.Ops[len(s.h.Ops)-1]
			open.Via, open.Outcome, open.Return = "http", history.Unknown, history.Never
		}},
		"a call is refused for the load in a rolling restart": {"refused in a rolling restart", func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "overloaded")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.do(s)
			judged(t, check.Liveness(&s.h), c.rule)
		})
	}
}

func (s *story) exit(at float64, node, detail string) {
	s.event(history.Event{At: secs(at), Kind: history.EventExit, Node: node, Detail: detail})
}

func TestWhatAFaultExplainsIsNoFinding(t *testing.T) {
	for name, do := range map[string]func(s *story){
		"a disk fails, and the node ends itself": func(s *story) {
			s.note(15, "n2", check.NoteMayExit, "exit code 8")
			s.exit(16, "n2", check.ExitDetail(8, false, "the disk failed"))
		},
		"a second election of a cluster over several regions": func(s *story) {
			s.h.Header.Timing = "wan"
			s.silence(13, 34)
		},
		"the cluster is taken down":           func(s *story) { s.exit(51, "n2", "killed") },
		"a corrupt answer off a damaged disk": func(s *story) { s.fault(2, 15, 18, "corrupt", "bit flip"); s.call(16, "", "corrupt") },
		"a bound process in a rolling restart": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "n2", "unavailable")
		},
		"a queue that its own callers filled, in a rolling restart": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "overloaded")
			s.h.Ops[len(s.h.Ops)-1].Detail = "the queue of session \"s\" is full: queue_max = 16"
		},
		"a write over the protocol of Redis that got no reply in a rolling restart": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "unknown")
			open := &s.h.Ops[len(s.h.Ops)-1]
			open.Via, open.Outcome, open.Return = "redis", history.Unknown, history.Never
		},
		"a quota refuses what an attempt without an answer may still do, in a rolling restart": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "unknown")
			full := &s.h.Ops[len(s.h.Ops)-1]
			full.Outcome, full.Return = history.Unknown, history.Never
			full.Detail = `unknown: quota_exceeded: scope "s" has 8 threads, and this commit would make it 11`
		},
		"a request that was sent again after it was settled, in a rolling restart": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "request_expired")
			late := &s.h.Ops[len(s.h.Ops)-1]
			late.Workload, late.Outcome = "dedupe", history.Unknown
		},
		"one who hangs up early in a rolling restart": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.call(16, "", "timeout")
			hung := &s.h.Ops[len(s.h.Ops)-1]
			hung.Patience, hung.Outcome, hung.Return = time.Millisecond, history.Unknown, history.Never
		},
		"a call that the fault after a rolling restart meets": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.fault(3, 18.5, 22, "pause", "majority")
			s.call(17, "", "unknown")
			open := &s.h.Ops[len(s.h.Ops)-1]
			open.Via, open.Outcome, open.Return = "http", history.Unknown, history.Never
		},
		"a rolling restart that is not alone": func(s *story) {
			s.fault(2, 15, 18, "transfer", check.VariantRolling)
			s.fault(3, 16, 17, "kill", "majority")
			s.call(16, "", "unavailable")
		},
		"an election on a machine that stands still": func(s *story) {
			s.note(44, "", check.NoteStalled, "700ms")
			s.sample(45, "n1", check.Sample{Term: 7})
		},
		"a snapshot taken over after a restart": func(s *story) { s.sample(15, "n1", check.Sample{Installs: 2}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			do(s)
			judged(t, check.Liveness(&s.h), "")
		})
	}
}

func TestARunWithoutItsRestIsNotCalledLive(t *testing.T) {
	s := newStory(t)
	var kept []history.Event
	for _, e := range s.h.Events {
		if e.Kind != history.EventPhase || e.At < secs(20) {
			kept = append(kept, e)
		}
	}
	s.h.Events = kept
	if r := check.Liveness(&s.h); r.Verdict != check.Unknown || r.Why == "" {
		t.Errorf("it is %s %q", r.Verdict, r.Why)
	}
	s = newStory(t)
	s.h.Ops = nil
	if r := check.Liveness(&s.h); r.Verdict != check.Unknown {
		t.Errorf("without a single commit it is %s", r.Verdict)
	}
}

func TestCallsInRollingRestartsAreCounted(t *testing.T) {
	s := newStory(t)
	s.fault(2, 15, 18, "transfer", check.VariantRolling)
	s.call(14, "", "unavailable")
	s.call(16, "", "")
	s.call(16, "", "unavailable")
	s.call(16, "n2", "unavailable")
	counts := check.Liveness(&s.h).Counts
	if calls, refused := counts[check.CountRollingCalls], counts[check.CountRollingRefused]; calls != 2 || refused != 1 {
		t.Errorf("%d of %d calls were refused, want 1 of 2", refused, calls)
	}
}

func TestRecoveryIsMeasuredFromFaultAndFromHealing(t *testing.T) {
	s := newStory(t)
	r := check.Recoveries(&s.h)
	if len(r) != 1 {
		t.Fatalf("%d recoveries of one fault", len(r))
	}
	if r[0].AfterFault != secs(3.1) || r[0].AfterHeal != 100*time.Millisecond || r[0].Variant != "leader" {
		t.Errorf("after the fault %v, after the healing %v of %q", r[0].AfterFault, r[0].AfterHeal, r[0].Variant)
	}
}
