package turn

import (
	"errors"
	"fmt"

	"dormouse/agent"
)

// ErrPaused makes the turn pause if its function returns it, wrapped or not.
// The collected changes are dropped; the function collects them again when the
// turn resumes.
var ErrPaused = errors.New("the turn pauses")

// Policy says at which boundaries turns pause automatically. A resumed turn
// continues past that boundary.
type Policy string

// The policies.
const (
	PauseNever            Policy = "none"
	PauseAfterPrompt      Policy = "after_prompt"       // at Reach of agent.PhaseAfterPrompt, as a Loop does
	PauseBeforeEachEffect Policy = "before_each_effect" // at Reach of agent.PhaseBeforeEffect, and before each Effect
	PauseAfterEachPhase   Policy = "after_each_phase"   // at each Reach, and before each Effect
)

// Reach tells the turn that its function has reached a boundary, where the runner's
// Policy may pause. name is unique within the turn. The function must return the
// error at once: it is ErrPaused if the turn pauses. When the function runs again
// after the pause, Reach of the same name returns nil.
func (t *Turn) Reach(phase agent.CursorPhase, name string) error {
	switch t.runner.Pause {
	case PauseAfterEachPhase:
	case PauseAfterPrompt:
		if phase != agent.PhaseAfterPrompt {
			return nil
		}
	case PauseBeforeEachEffect:
		if phase != agent.PhaseBeforeEffect {
			return nil
		}
	case PauseNever, "":
		return nil
	default:
		return agent.Invalid("pause", "there is no policy %q", t.runner.Pause)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.journal.passBoundary(string(phase) + "/" + name) {
		return nil
	}
	t.pausePhase = phase
	return fmt.Errorf("%w at %s of %s", ErrPaused, phase, name)
}
