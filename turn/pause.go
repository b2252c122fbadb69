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
	PauseAfterPrompt      Policy = "after_prompt"
	PauseBeforeEachEffect Policy = "before_each_effect"
	PauseAfterEachPhase   Policy = "after_each_phase"
)

// Reach reports that the turn has reached a boundary. name is unique within the
// turn. The function must return the error, which is ErrPaused if the runner's
// policy pauses there.
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
