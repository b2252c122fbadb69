package cluster

import "github.com/hashicorp/raft"

// unpiped is raft's transport without pipelines. In one, raft sends no more
// than appendEntriesMax entries for each new one, or each 50 to 100 ms: a
// follower that is 10,000 entries behind would take minutes. Without them raft
// sends call after call until all is there. Nothing is lost: one entry is in
// flight at a time.
type unpiped struct{ *raft.NetworkTransport }

// AppendEntriesPipeline implements raft.Transport.
func (unpiped) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}
