package ops

import (
	"dormouse/agent"
)

// NoAnswer returns the error for an answer without a value.
func NoAnswer() error {
	return agent.Errorf(agent.CodeInternal, "the answer is missing or of an unknown kind")
}
