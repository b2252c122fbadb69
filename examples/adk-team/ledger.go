package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// ledgerThread is the thread of the effects of the team: an entry for each step that was done.
const ledgerThread = "dinner-ledger"

// ledger does the steps. Its effects are entries under ids of their own, so a step that is done again,
// because its answer was lost, has no second effect.
type ledger struct{ client.Scope }

// line is an entry of the ledger.
type line struct {
	Step int    `json:"step"`
	Who  string `json:"who"`
	What string `json:"what"`
	By   int    `json:"by"` // the pid of the process
}

// do does a step of the plan, unless it has been done.
func (l ledger) do(ctx context.Context, step int) error {
	if step < 1 || step > len(plan) {
		return fmt.Errorf("there is no step %d: the plan has %d", step, len(plan))
	}
	now := line{step, plan[step-1].who, plan[step-1].what, os.Getpid()}
	payload, err := json.Marshal(now)
	if err != nil {
		return err
	}
	r, err := l.Append(ctx, agent.AppendThread{
		Thread: ledgerThread, SkipExisting: true,
		Entries: []agent.Draft{{ID: fmt.Sprint("step-", step), Kind: "step", Payload: payload}},
	})
	if err != nil {
		return fmt.Errorf("do step %d: %w", step, err)
	}
	if r.Entries[0].Skipped {
		say("   step %2d: is in the ledger already, and is not done again", step)
		return nil
	}
	say("   step %2d: the %s %s", step, now.Who, now.What)
	pause(ctx, 100*time.Millisecond) // a tool takes time
	return nil
}
