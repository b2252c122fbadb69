package host

import (
	"context"

	"dormouse/agent"
)

// service is the contract as the host's instances see it: reads and writes of
// the cluster, by the client library.
type service struct {
	agent.Submitter
	table *table
}

// Read implements agent.Service. A linearizable read is answered once the table
// here is as of the read: whoever looks who owns a partition after it learns
// whether that had changed before.
func (s service) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, err := s.Submitter.Read(ctx, r)
	if err != nil || r.Stale {
		return answers, err
	}
	return answers, s.table.WaitApplied(ctx, answers.Index)
}
