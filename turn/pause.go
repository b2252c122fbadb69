package turn

import (
	"errors"
	"fmt"

	"dormouse/agent"
)

// ErrPaused is what the function of a turn returns, wrapped or not, to let the
// turn rest. Nothing that it collected is committed: when the turn is resumed,
// the function collects it again.
var ErrPaused = errors.New("the turn pauses")

// Policy says at which boundaries turns pause by themselves. A turn that is
// resumed goes on past the boundary that it paused at.
type Policy string

// The policies (SEMANTICS §7.1).
const (
	PauseNever            Policy = "none"
	PauseAfterPrompt      Policy = "after_prompt"
	PauseBeforeEachEffect Policy = "before_each_effect"
	PauseAfterEachPhase   Policy = "after_each_phase"
)

// Reach says that the turn has come to a boundary, by a name that is its own
// within the turn. It gives ErrPaused where the runner's policy is to pause
// there: return it.
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
