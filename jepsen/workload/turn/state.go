package turn

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// stateOf returns the state of a group from the answers of a read.
func stateOf(key string, answers agent.Answers) (turnState, error) {
	if len(answers.Answers) != len(objects) {
		return turnState{}, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(objects), len(answers.Answers))
	}
	state := turnState{Index: answers.Index, Threads: map[string]turnThread{}, Checkpoints: map[string]turnCheckpoint{}}
	for i, answer := range answers.Answers {
		if answer.Err != nil {
			if answer.Err.Code == agent.CodeNotFound {
				continue
			}
			return turnState{}, fmt.Errorf("read %s of group %s: %w", objects[i], key, answer.Err)
		}
		switch found := answer.Found.(type) {
		case *agent.Entries:
			state.Threads[objects[i]] = threadOf(found)
		case *agent.Checkpoint:
			state.Checkpoints[objects[i]] = checkpointOf(key, found)
		default:
			return turnState{}, agent.Errorf(agent.CodeInternal, "the answer about %s is a %T", objects[i], found)
		}
	}
	return state, nil
}

func threadOf(found *agent.Entries) turnThread {
	t := turnThread{Rev: found.Thread.Rev, By: make([]string, len(found.Items))}
	for i, e := range found.Items {
		t.By[i] = workload.NameIn(e.Payload)
		// The checker counts the entries back from Rev, so their seqs must be
		// consecutive.
		if want := t.Rev - uint64(len(found.Items)) + uint64(i); e.Seq != want {
			t.By[i] = fmt.Sprintf("%s at seq %d instead of %d", t.By[i], e.Seq, want)
		}
	}
	return t
}

func checkpointOf(key string, found *agent.Checkpoint) turnCheckpoint {
	c := turnCheckpoint{Revision: found.Revision, By: workload.NameIn(found.State)}
	if found.Thread != nil {
		c.Pointer = &turnPointer{Thread: strings.TrimPrefix(found.Thread.Thread, key+"/"), Rev: found.Thread.Rev}
	}
	return c
}
