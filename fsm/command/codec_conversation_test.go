package command_test

import (
	"pgregory.net/rapid"

	"dormouse/agent"
)

func init() {
	genOps = append(genOps,
		rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.SaveConversation](t) }),
		rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.SetInterrupted](t) }),
		rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.PendMessage](t) }),
		rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.SaveMessages](t) }),
		rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.UpdateMessage](t) }),
		rapid.Custom(func(t *rapid.T) agent.Op {
			op := any1[agent.DeleteConversation](t)
			op.Seal = genTTL.Draw(t, "seal")
			return op
		}),
		rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.ReviseValue](t) }),
	)
}
