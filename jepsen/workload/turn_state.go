package workload

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

// turnStateOf is what the answers to a read of a whole group say.
func turnStateOf(key string, answers agent.Answers) (turnState, error) {
	if len(answers.Answers) != len(turnObjects) {
		return turnState{}, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(turnObjects), len(answers.Answers))
	}
	state := turnState{Index: answers.Index, Threads: map[string]turnThread{}, Checkpoints: map[string]turnCheckpoint{}}
	for i, answer := range answers.Answers {
		if answer.Err != nil {
			if answer.Err.Code == agent.CodeNotFound {
				continue
			}
			return turnState{}, fmt.Errorf("read %s of group %s: %w", turnObjects[i], key, answer.Err)
		}
		switch found := answer.Found.(type) {
		case *agent.Entries:
			state.Threads[turnObjects[i]] = turnThreadOf(found)
		case *agent.Checkpoint:
			state.Checkpoints[turnObjects[i]] = turnCheckpointOf(key, found)
		default:
			return turnState{}, agent.Errorf(agent.CodeInternal, "the answer about %s is a %T", turnObjects[i], found)
		}
	}
	return state, nil
}

func turnThreadOf(found *agent.Entries) turnThread {
	t := turnThread{Rev: found.Thread.Rev, By: make([]string, len(found.Items))}
	for i, e := range found.Items {
		t.By[i] = NameIn(e.Payload)
		// The judge counts them back from Rev, so they must be where they seem.
		if want := t.Rev - uint64(len(found.Items)) + uint64(i); e.Seq != want {
			t.By[i] = fmt.Sprintf("%s at seq %d instead of %d", t.By[i], e.Seq, want)
		}
	}
	return t
}

func turnCheckpointOf(key string, found *agent.Checkpoint) turnCheckpoint {
	c := turnCheckpoint{Revision: found.Revision, By: NameIn(found.State)}
	if found.Thread != nil {
		c.Pointer = &turnPointer{Thread: strings.TrimPrefix(found.Thread.Thread, key+"/"), Rev: found.Thread.Rev}
	}
	return c
}
