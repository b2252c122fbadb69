package workload

import (
	"context"

	"dormouse/agent"
)

// FindAll reads things at one index: each in its place, nil where it is not
// there.
func FindAll(ctx context.Context, p *Process, reads ...agent.Read) (index uint64, found []agent.Found, err error) {
	answers, err := p.Client.Read(ctx, agent.Reads{Scope: p.Scope, Reads: reads})
	if err != nil {
		return 0, nil, err
	}
	found, err = foundIn(answers, len(reads))
	return answers.Index, found, err
}

// foundIn is what the answers to so many reads say.
func foundIn(answers agent.Answers, reads int) ([]agent.Found, error) {
	if len(answers.Answers) != reads {
		return nil, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", reads, len(answers.Answers))
	}
	found := make([]agent.Found, reads)
	for i, answer := range answers.Answers {
		switch {
		case answer.Err == nil && answer.Found == nil:
			return nil, agent.Errorf(agent.CodeInternal, "answer %d says nothing", i)
		case answer.Err == nil:
			found[i] = answer.Found
		case answer.Err.Code != agent.CodeNotFound:
			return nil, answer.Err
		}
	}
	return found, nil
}

// TailOf is how many entries a thread at a rev has among its last tail ones,
// where 0 asks for all.
func TailOf(rev, tail uint64) uint64 {
	if tail == 0 {
		return rev
	}
	return min(rev, tail)
}
