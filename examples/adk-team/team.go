package main

import (
	"fmt"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
)

// The names of the agents.
const (
	chef    = "chef" // the coordinator
	shopper = "shopper"
	cook    = "cook"
)

// plan is what the team does, in order.
var plan = []struct{ who, what string }{
	{shopper, "buys ten trout"},
	{shopper, "buys potatoes and dill"},
	{shopper, "fetches the wine"},
	{cook, "peels the potatoes"},
	{cook, "cleans the trout"},
	{shopper, "runs back for lemons"},
	{cook, "bakes the trout"},
	{cook, "mashes the potatoes"},
	{shopper, "borrows three chairs"},
	{cook, "chops the dill"},
	{cook, "fills ten plates"},
	{cook, "rings the bell"},
}

// doTool is the tool that does a step of the plan, doneKey the session's count of steps done.
const (
	doTool  = "do_step"
	doneKey = "done"
)

// instruction tells an agent its part. ADK puts the count of the session's state in.
const instruction = "You are the %s of a team that prepares a dinner. Steps done: {done}."

type stepArgs struct {
	Step int `json:"step"`
}

type stepResult struct {
	Result string `json:"result"`
}

// newTeam returns the coordinator with its two agents. The answer of step slow takes a minute.
func newTeam(ledger ledger, slow int) (agent.Agent, error) {
	do, err := functiontool.New(functiontool.Config{Name: doTool, Description: "does a step of the plan"},
		func(ctx agent.Context, args stepArgs) (stepResult, error) {
			if err := ledger.do(ctx, args.Step); err != nil {
				return stepResult{}, err
			}
			if args.Step == slow {
				say("   … step %d is done, but its answer is slow", slow)
				pause(ctx, time.Minute)
			}
			return stepResult{"done"}, ctx.State().Set(doneKey, args.Step)
		})
	if err != nil {
		return nil, err
	}
	var workers []agent.Agent
	for _, name := range []string{shopper, cook} {
		worker, err := llmagent.New(llmagent.Config{
			Name: name, Description: "does the steps of the " + name, Model: scripted{name},
			Instruction: fmt.Sprintf(instruction, name), Tools: []tool.Tool{do},
		})
		if err != nil {
			return nil, err
		}
		workers = append(workers, worker)
	}
	return llmagent.New(llmagent.Config{
		Name: chef, Description: "leads the team", Model: scripted{chef},
		Instruction: fmt.Sprintf(instruction, chef), SubAgents: workers,
	})
}
