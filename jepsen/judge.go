package jepsen

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
	"dormouse/jepsen/workload/catalog"
)

const (
	// judgeMax bounds the judging of one run. Checks that are not done by then are
	// unknown.
	judgeMax = 2 * time.Minute
	// interruptedMax bounds the judging of an interrupted run.
	interruptedMax = 30 * time.Second
)

// Judge judges a history, new or old: each workload by its own checker, then
// convergence and liveness. If ctx has already ended it still judges, within
// interruptedMax.
func Judge(ctx context.Context, h *history.History) *report.Run {
	began := time.Now()
	bound := judgeMax
	if ctx.Err() != nil {
		bound = interruptedMax
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	out := &report.Run{Header: h.Header, History: h, Interrupted: h.Cut || !reached(h, check.PhaseFinal)}
	out.Results = make([]check.Result, len(h.Header.Workloads))
	var wait sync.WaitGroup
	for i, name := range h.Header.Workloads {
		wait.Go(func() { out.Results[i] = judge(limited, h, name) })
	}
	wait.Wait()
	out.Results = append(out.Results, check.Convergence(h), check.Liveness(h), check.Coverage(h))
	out.Verdict = check.Worst(out.Results)
	out.Took = time.Since(began)
	return out
}

func judge(ctx context.Context, h *history.History, name string) check.Result {
	w, err := catalog.New(name)
	if err != nil {
		return check.Result{Check: name, Verdict: check.Unknown, Why: fmt.Sprintf("this build has no such checker: %v", err)}
	}
	of := h.Of(name)
	return check.Unread(of, check.Corrupt(of, w.Check(ctx, of)))
}

// reached reports whether the run entered a phase.
func reached(h *history.History, name string) bool {
	for _, e := range h.Events {
		if e.Kind == history.EventPhase && e.Name == name {
			return true
		}
	}
	return false
}
