package transport

import "github.com/hashicorp/raft"

// noPipeline is Raft's network transport without pipelines. In a pipeline, Raft
// sends no more than MaxAppendEntries entries for each new entry, or every 50 to
// 100 ms: a follower that is 10,000 entries behind would take minutes to catch
// up. Without a pipeline Raft sends call after call until the follower has all
// entries. That costs nothing, since the proposer has one entry in flight.
type noPipeline struct{ *raft.NetworkTransport }

// AppendEntriesPipeline implements raft.Transport.
func (noPipeline) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}
