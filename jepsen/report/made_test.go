package report_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

// made returns a run that was not executed: 60 s on three nodes, with a leader killed at
// 10 s and a partition from 30 s to 40 s.
func made(calls int) *report.Run {
	rnd := rand.New(rand.NewPCG(1, 2))
	h := &history.History{Header: history.Header{
		Format: history.Format, Workloads: []string{"register", "append"}, Nemeses: []string{"kill", "partition"}, Seed: 42, Nodes: 3,
		Time: time.Minute, Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Build: "v0.1",
		Command: "bin/dormjepsen run --workload register,append --nemesis kill,partition --time 60s --seed 42 --nodes 3",
		Plan:    json.RawMessage(`{"seed":42,"steps":[{"n":1,"fault":"kill"},{"n":2,"fault":"partition"}]}`),
	}}
	event := func(at time.Duration, e history.Event) {
		e.At = at
		h.Events = append(h.Events, e)
	}
	event(0, history.Event{Kind: history.EventPhase, Name: check.PhaseFaults})
	event(100*time.Millisecond, history.Event{Kind: history.EventLeader, Node: "n1", Term: 2})
	event(10*time.Second, history.Event{Kind: history.EventFault, Step: 1, Name: "kill", Detail: "kill -9 of n1", Data: json.RawMessage(`{"variant":"leader"}`)})
	event(10*time.Second, history.Event{Kind: history.EventExit, Node: "n1", Detail: "killed"})
	event(11900*time.Millisecond, history.Event{Kind: history.EventLeader, Node: "n2", Term: 3})
	event(15*time.Second, history.Event{Kind: history.EventHeal, Step: 1, Name: "kill"})
	event(30*time.Second, history.Event{Kind: history.EventFault, Step: 2, Name: "partition", Detail: "n2 | n1 n3", Data: json.RawMessage(`{"variant":"leader-only"}`)})
	event(32*time.Second, history.Event{Kind: history.EventLeader, Node: "n3", Term: 5})
	event(40*time.Second, history.Event{Kind: history.EventHeal, Step: 2, Name: "partition"})
	event(60*time.Second, history.Event{Kind: history.EventPhase, Name: check.PhaseEnd})
	event(60*time.Second+time.Millisecond, history.Event{Kind: history.EventExit, Node: "n3", Detail: "terminated"})
	for at := time.Second; at < time.Minute; at += time.Second {
		for n := 1; n <= 3; n++ {
			if n == 1 && at >= 10*time.Second && at < 15*time.Second {
				continue
			}
			term, installs := uint64(2), 0
			if at > 12*time.Second && (n != 2 || at < 30*time.Second || at > 40*time.Second) {
				term = 3
			}
			if at > 32*time.Second && (n != 2 || at > 40*time.Second) {
				term = 5
			}
			if n == 1 && at > 16*time.Second {
				installs = 1
			}
			raw, _ := json.Marshal(check.Sample{Term: term, Commit: uint64(at / time.Millisecond), Applied: uint64(at/time.Millisecond) - uint64(n), Installs: installs, RSS: int64(60+10*n)<<20 + rnd.Int64N(4<<20), Goroutines: 80 + rnd.IntN(20), Descriptors: 40 + n})
			event(at, history.Event{Kind: history.EventSample, Node: fmt.Sprintf("n%d", n), Data: raw})
		}
	}
	slices.SortStableFunc(h.Events, func(a, b history.Event) int { return int(a.At - b.At) })
	for i := range calls {
		h.Ops = append(h.Ops, madeCall(rnd, i, calls))
	}
	return &report.Run{
		Header: h.Header, History: h, Took: 65 * time.Second, Verdict: check.OK,
		Results: []check.Result{
			{Check: "register", Verdict: check.OK, Ops: calls / 3, Counts: map[string]int{"keys": 12, "ok puts": 1234}, Took: 300 * time.Millisecond},
			{Check: "append", Verdict: check.OK, Ops: calls / 3, Took: 20 * time.Millisecond},
		},
	}
}

// madeCall returns the i-th of all calls, which are spread over a minute. No call is
// answered for two seconds after the leader was lost.
func madeCall(rnd *rand.Rand, i, calls int) history.Op {
	invoke := time.Minute * time.Duration(i) / time.Duration(calls)
	op := history.Op{
		ID: int64(i + 1), Workload: []string{"register", "append", check.PulseWorkload}[i%3], Call: []string{"put", "append", "commit"}[i%3], Process: i % 20,
		Key: fmt.Sprintf("k%d", i%12), In: json.RawMessage(`{"value":"<b>7</b>"}`), Invoke: invoke,
		Outcome: history.OK, Out: json.RawMessage(`{"rev":7}`), Return: invoke + time.Duration((1+rnd.ExpFloat64()*2)*float64(time.Millisecond)),
	}
	lost := invoke >= 10*time.Second && invoke < 12*time.Second || invoke >= 30*time.Second && invoke < 32*time.Second
	switch {
	case lost && i%2 == 0:
		op.Outcome, op.Out, op.Code, op.Return = history.Unknown, nil, "unknown", history.Never
	case lost:
		op.Outcome, op.Out, op.Code = history.Refused, nil, "unavailable"
	}
	return op
}

// failed makes the append check of a run a violation, with a picture of that many bytes.
func failed(run *report.Run, picture int) *report.Run {
	var ops []history.Op
	for _, op := range run.History.Ops {
		if op.Workload == "append" && op.Key == "k1" && len(ops) < 300 && op.Invoke > 9*time.Second {
			ops = append(ops, op)
		}
	}
	run.Verdict = check.Violation
	run.Results[1].Verdict = check.Violation
	run.Results[1].Findings = []check.Finding{
		{Rule: "lost append", Key: "k1", Detail: "entry 17 was acknowledged and is not in the thread", Ops: ops, Picture: []byte("<p>" + strings.Repeat("picture ", picture/8))},
		{Rule: "lost append", Key: "k2", Detail: "entry 3 was acknowledged and is not in the thread", Ops: ops[:2]},
	}
	run.Missing = []string{"no /dev/net/tun: partitions are left out"}
	return run
}
