package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/adk/v2/session"

	dormouse "dormouse/adapters/go/adk"
	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// verify checks that the ledger has each step of the plan once and in order, and that the transcript
// has one call of each step and one answer to each call, and ends with the last word of the chef.
func verify(ctx context.Context, c *client.Client) error {
	processes, err := verifyLedger(ctx, c)
	if err != nil {
		return err
	}
	got, err := dormouse.NewSessions(c, "").Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		return err
	}
	calls, err := verifyTranscript(got.Session.Events())
	if err != nil {
		return err
	}
	done, err := got.Session.State().Get(doneKey)
	if err != nil {
		return err
	}
	if done != float64(len(plan)) {
		return fmt.Errorf("the state of the session says that %v of %d steps are done", done, len(plan))
	}
	fmt.Printf("The ledger has each of the %d steps once, done by %d processes.\n", len(plan), processes)
	fmt.Printf("The transcript has %d events, and each of its %d calls has one answer.\n", got.Session.Events().Len(), calls)
	return nil
}

// verifyLedger returns how many processes did the steps.
func verifyLedger(ctx context.Context, c *client.Client) (int, error) {
	step, processes := 0, map[int]bool{}
	for entry, err := range c.Entries(ctx, agent.LoadEntries{Thread: ledgerThread}) {
		if err != nil {
			return 0, err
		}
		var l line
		if err := json.Unmarshal(entry.Payload, &l); err != nil {
			return 0, err
		}
		step++
		if l.Step != step {
			return 0, fmt.Errorf("line %d of the ledger is step %d", step, l.Step)
		}
		processes[l.By] = true
	}
	if step != len(plan) {
		return 0, fmt.Errorf("the ledger has %d steps, and the plan %d", step, len(plan))
	}
	return len(processes), nil
}

// verifyTranscript returns how many calls of tools the transcript has.
func verifyTranscript(events session.Events) (int, error) {
	calls, answers, steps := map[string]int{}, map[string]int{}, map[float64]int{}
	for event := range events.All() {
		if event.Content == nil {
			continue
		}
		for _, part := range event.Content.Parts {
			if call := part.FunctionCall; call != nil {
				calls[call.ID]++
				if step, ok := call.Args["step"].(float64); ok {
					steps[step]++
				}
			}
			if part.FunctionResponse != nil {
				answers[part.FunctionResponse.ID]++
			}
		}
	}
	for id, n := range calls {
		if n != 1 || answers[id] != 1 {
			return 0, fmt.Errorf("call %s is in the transcript %d times, with %d answers", id, n, answers[id])
		}
	}
	for i := range plan {
		if n := steps[float64(i+1)]; n != 1 {
			return 0, fmt.Errorf("step %d was called %d times", i+1, n)
		}
	}
	if len(answers) != len(calls) || !said(events) {
		return 0, errors.New("the transcript has answers without a call, or does not end with a text")
	}
	return len(calls), nil
}
