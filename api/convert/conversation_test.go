package convert_test

import (
	"pgregory.net/rapid"

	"dormouse/agent"
)

func init() {
	ops = append(ops,
		func(t *rapid.T) agent.Op { return make1[agent.SaveConversation](t) },
		func(t *rapid.T) agent.Op { return make1[agent.SetInterrupted](t) },
		func(t *rapid.T) agent.Op { return make1[agent.PendMessage](t) },
		func(t *rapid.T) agent.Op { return make1[agent.SaveMessages](t) },
		func(t *rapid.T) agent.Op { return make1[agent.UpdateMessage](t) },
		func(t *rapid.T) agent.Op {
			o := make1[agent.DeleteConversation](t)
			o.Seal = millis(t)
			return o
		},
		func(t *rapid.T) agent.Op { return make1[agent.ReviseValue](t) },
	)
}
