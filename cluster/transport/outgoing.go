package transport

import (
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/internal/seededbug"
)

// othersVote reports whether a majority of the voters needs another node. Raft's main
// thread calls it, which alone changes the configuration.
func (g *Guard) othersVote() bool {
	r := g.raft.Load()
	if r == nil {
		return false
	}
	voters := 0
	for _, s := range r.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	return voters > 1
}

// AppendEntriesPipeline implements raft.Transport. There are no pipelines: their answers
// would not go through AppendEntries. raftrpc.Transport says why none are needed.
func (g *Guard) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// AppendEntries implements raft.Transport. A follower's success is returned once this node
// has written the entries too; see raftlog.LeaderLogs.
func (g *Guard) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if err := g.Transport.AppendEntries(id, target, args, resp); err != nil {
		return err
	}
	if n := len(args.Entries); n > 0 && resp.Success && g.stores.Leader != nil && !seededbug.Is(seededbug.UnwrittenEntryCounts) {
		return g.stores.Leader.Wait(args.Entries[n-1].Index, g.stop)
	}
	return nil
}

// RequestVote implements raft.Transport.
func (g *Guard) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if err := g.mayStand(); err != nil {
		return err
	}
	if err := g.Transport.RequestVote(id, target, args, resp); err != nil {
		return err
	}
	return g.checkTerm(resp.Term) // Raft adopts the term of an answer too
}

// RequestPreVote implements raft.WithPreVote.
func (g *Guard) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if err := g.mayStand(); err != nil {
		return err
	}
	asker, ok := g.Transport.(raft.WithPreVote)
	if !ok {
		return fmt.Errorf("transport %T does not implement pre-vote", g.Transport)
	}
	if err := asker.RequestPreVote(id, target, args, resp); err != nil {
		return err
	}
	return g.checkTerm(resp.Term)
}

// Connect implements raft.WithPeers, if the wrapped transport does.
func (g *Guard) Connect(peer raft.ServerAddress, t raft.Transport) {
	if peers, ok := g.Transport.(raft.WithPeers); ok {
		peers.Connect(peer, t)
	}
}

// Disconnect implements raft.WithPeers, if the wrapped transport does.
func (g *Guard) Disconnect(peer raft.ServerAddress) {
	if peers, ok := g.Transport.(raft.WithPeers); ok {
		peers.Disconnect(peer)
	}
}

// DisconnectAll implements raft.WithPeers, if the wrapped transport does.
func (g *Guard) DisconnectAll() {
	if peers, ok := g.Transport.(raft.WithPeers); ok {
		peers.DisconnectAll()
	}
}
