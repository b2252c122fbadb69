package host

import (
	"context"

	"dormouse/agent"
)

// service is the store of the host's instances: the cluster, through the client
// library.
type service struct {
	agent.Submitter
	table *table
}

// Read implements agent.Service. A linearizable read returns once the table
// includes the read's index, so a caller that checks ownership afterwards sees
// all changes before the read.
func (s service) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, err := s.Submitter.Read(ctx, r)
	if err != nil || r.Stale {
		return answers, err
	}
	return answers, s.table.WaitApplied(ctx, answers.Index)
}
