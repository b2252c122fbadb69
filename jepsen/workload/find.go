package workload

import (
	"context"

	"dormouse/agent"
)

// FindAll makes several reads at one index. It returns each result at the index of its
// read, nil if the object does not exist.
func FindAll(ctx context.Context, p *Process, reads ...agent.Read) (index uint64, found []agent.Found, err error) {
	answers, err := p.Client.Read(ctx, agent.Reads{Scope: p.Scope, Reads: reads})
	if err != nil {
		return 0, nil, err
	}
	found, err = foundIn(answers, len(reads))
	return answers.Index, found, err
}

// foundIn returns the results in the answers to the given number of reads.
func foundIn(answers agent.Answers, reads int) ([]agent.Found, error) {
	if len(answers.Answers) != reads {
		return nil, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", reads, len(answers.Answers))
	}
	found := make([]agent.Found, reads)
	for i, answer := range answers.Answers {
		switch {
		case answer.Err == nil && answer.Found == nil:
			return nil, agent.Errorf(agent.CodeInternal, "answer %d is empty", i)
		case answer.Err == nil:
			found[i] = answer.Found
		case answer.Err.Code != agent.CodeNotFound:
			return nil, answer.Err
		}
	}
	return found, nil
}

// TailOf returns how many entries a thread at a rev has among its last tail entries. A
// tail of 0 means all.
func TailOf(rev, tail uint64) uint64 {
	if tail == 0 {
		return rev
	}
	return min(rev, tail)
}
