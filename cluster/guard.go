package cluster

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/internal/seededbug"
)

// errMayNotStand answers raft when it asks for votes that it must not get.
var errMayNotStand = errors.New("this node may not stand for election: its log is incomplete or its disk is full")

// guard is the transport that raft sees. It stands between the network and
// raft, and keeps from raft what raft does not survive:
//
//   - hashicorp/raft#695: raft handles heartbeats on the transport's goroutine,
//     where they may raise the term under the feet of a leader, which then
//     writes its next entry under a term that it never won. Here a heartbeat
//     takes that way only while this node is a follower in the heartbeat's own
//     term or a later one, and no new term can begin meanwhile (see ballot);
//     any other goes to raft's main thread.
//   - A follower commits up to its own last entry, although the paper says up to
//     the last one that the leader has vouched for: LeaderCommitIndex is lowered
//     to that.
//   - Votes, asked or given, while this node's log lacks what it acknowledged.
//   - Terms that no election can have reached, and senders that are no members.
//   - Entries whose checksum is wrong, or that no log may hold.
//   - Entries that arrive faster than the state machine applies them.
//   - Anything, once the stores have failed.
type guard struct {
	raft.Transport
	stores *raftlog.Stores
	logger hclog.Logger

	raft  atomic.Pointer[raft.Raft]
	calls chan raft.RPC // to raft's main thread; never closed
	stop  chan struct{} // closed by Close
	once  sync.Once
	work  sync.WaitGroup

	held         atomic.Int64 // see hold
	unappliedMax int64        // unappliedBytesMax, save in tests

	offThread, onThread atomic.Int64  // heartbeats
	installs            atomic.Uint64 // snapshots that raft installed from a leader

	// committed is how far the log is committed, by what leaders have said since
	// this process began. Raft keeps only as much of it as this node has.
	committed atomic.Uint64
}

// newGuard wraps t, which Close closes too. It starts goroutines that end in
// Close.
func newGuard(t raft.Transport, s *raftlog.Stores, logger hclog.Logger) *guard {
	if logger == nil {
		logger = hclog.NewNullLogger()
	}
	g := &guard{
		Transport: t, stores: s, logger: logger, calls: make(chan raft.RPC), stop: make(chan struct{}),
		unappliedMax: unappliedBytesMax,
	}
	if s.Authors != nil {
		s.Authors.Offered = raftlog.NewOffers()
	}
	g.work.Go(g.pump)
	return g
}

// attach tells the guard whose transport it is. Until then every heartbeat goes
// to the main thread.
func (g *guard) attach(r *raft.Raft) { g.raft.Store(r) }

// Consumer implements raft.Transport.
func (g *guard) Consumer() <-chan raft.RPC { return g.calls }

// pump takes calls off the transport in the order in which they arrive.
func (g *guard) pump() {
	for {
		select {
		case rpc := <-g.Transport.Consumer():
			g.take(rpc)
		case <-g.stop:
			return
		}
	}
}

// take decides what becomes of a call from the network.
func (g *guard) take(rpc raft.RPC) {
	if err := g.refuse(rpc); err != nil {
		rpc.Respond(nil, err)
		return
	}
	if _, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok {
		g.forwardInstall(rpc)
		return
	}
	request, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok {
		g.forward(rpc)
		return
	}
	g.committed.Store(max(g.committed.Load(), request.LeaderCommitIndex)) // pump alone writes it
	vouched := request.PrevLogEntry + uint64(len(request.Entries))
	request.LeaderCommitIndex = min(request.LeaderCommitIndex, vouched)
	switch {
	case len(request.Entries) == 0:
		g.forward(rpc)
	case g.pressed():
		g.hold(rpc)
	default:
		g.offer(rpc)
	}
}

// refuse is why raft is not to see this call at all, or nil.
func (g *guard) refuse(rpc raft.RPC) error {
	if err := g.stores.Latch.Failed(); err != nil {
		return fmt.Errorf("this node has stopped: %w", err)
	}
	if err := g.checkCall(rpc.Command); err != nil {
		return err
	}
	switch request := rpc.Command.(type) {
	case *raft.RequestVoteRequest, *raft.RequestPreVoteRequest:
		if err := g.stores.Barred(); err != nil {
			return err
		}
		if g.stores.Ballot.Astray.Load() {
			return raftlog.ErrAstray
		}
	case *raft.TimeoutNowRequest: // skips the pre-vote
		if err := g.mayStand(); err != nil {
			return err
		}
	case *raft.AppendEntriesRequest:
		for _, entry := range request.Entries {
			if err := g.checkEntry(entry); err != nil {
				g.logger.Error("refused entries from the leader", "index", entry.Index, "leader", string(request.Addr), "error", err)
				return err
			}
		}
	}
	return nil
}

func (g *guard) checkEntry(entry *raft.Log) error {
	if entry.Type > raft.LogConfiguration {
		return fmt.Errorf("log entry %d is of no known type (%d)", entry.Index, entry.Type)
	}
	if g.stores.Check == nil || entry.Type != raft.LogCommand {
		return nil
	}
	if err := g.stores.Check(entry.Data); err != nil {
		return fmt.Errorf("log entry %d was damaged on its way here: %w", entry.Index, err)
	}
	return nil
}

// offer hands entries to raft, and remembers that they came from outside for
// as long as raft works on them.
func (g *guard) offer(rpc raft.RPC) {
	request, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok || g.stores.Authors == nil {
		g.forward(rpc)
		return
	}
	offered := g.stores.Authors.Offered
	offered.Add(request)
	g.forwardThen(rpc, func(raft.RPCResponse) { offered.Remove(request) })
}

// forwardInstall hands an InstallSnapshot call to raft and counts it in
// installs if raft installed the snapshot.
func (g *guard) forwardInstall(rpc raft.RPC) {
	g.forwardThen(rpc, func(response raft.RPCResponse) {
		if answer, ok := response.Response.(*raft.InstallSnapshotResponse); ok && response.Error == nil && answer.Success {
			g.installs.Add(1)
		}
	})
}

// forwardThen forwards rpc to raft's main thread and calls done with raft's
// response before the caller receives it. If the guard closes first, done and
// the caller receive raft.ErrTransportShutdown.
func (g *guard) forwardThen(rpc raft.RPC, done func(raft.RPCResponse)) {
	caller, answered := rpc.RespChan, make(chan raft.RPCResponse, 1)
	rpc.RespChan = answered
	g.forward(rpc)
	g.work.Go(func() {
		response := raft.RPCResponse{Error: raft.ErrTransportShutdown}
		select {
		case response = <-answered:
		case <-g.stop:
		}
		done(response)
		caller <- response
	})
}

// forward waits for raft's main thread.
func (g *guard) forward(rpc raft.RPC) {
	select {
	case g.calls <- rpc:
	case <-g.stop:
		rpc.Respond(nil, raft.ErrTransportShutdown)
	}
}

// SetHeartbeatHandler implements raft.Transport.
func (g *guard) SetHeartbeatHandler(handle func(raft.RPC)) {
	if handle == nil || seededbug.Is(seededbug.UnguardedHeartbeat) {
		g.Transport.SetHeartbeatHandler(handle)
		return
	}
	g.Transport.SetHeartbeatHandler(func(rpc raft.RPC) {
		if err := g.refuse(rpc); err != nil {
			rpc.Respond(nil, err)
			return
		}
		if !g.beat(rpc, handle) {
			g.onThread.Add(1)
			g.forward(rpc)
		}
	})
}

// beat handles a heartbeat here and now if that can move neither term nor
// state, and tells whether it did.
func (g *guard) beat(rpc raft.RPC, handle func(raft.RPC)) bool {
	request, ok := rpc.Command.(*raft.AppendEntriesRequest)
	r := g.raft.Load()
	if !ok || r == nil {
		return false
	}
	g.stores.Ballot.Beat.Lock()
	defer g.stores.Ballot.Beat.Unlock()
	if r.State() != raft.Follower || request.Term > r.CurrentTerm() {
		return false
	}
	g.offThread.Add(1)
	handle(rpc)
	return true
}

// MayStand is nil where this node may ask for votes.
func (g *guard) mayStand() error {
	if g.stores.Ballot.Astray.Load() {
		return raftlog.ErrAstray
	}
	if !g.stores.MayStand() {
		return errMayNotStand
	}
	return nil
}

// RequestVote implements raft.Transport.
func (g *guard) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if err := g.mayStand(); err != nil {
		return err
	}
	if err := g.Transport.RequestVote(id, target, args, resp); err != nil {
		return err
	}
	return g.checkTerm(resp.Term) // raft adopts the term of an answer too
}

// RequestPreVote implements raft.WithPreVote.
func (g *guard) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if err := g.mayStand(); err != nil {
		return err
	}
	asker, ok := g.Transport.(raft.WithPreVote)
	if !ok {
		return fmt.Errorf("transport %T knows no pre-vote", g.Transport)
	}
	if err := asker.RequestPreVote(id, target, args, resp); err != nil {
		return err
	}
	return g.checkTerm(resp.Term)
}

// Connect implements raft.WithPeers, where the transport does.
func (g *guard) Connect(peer raft.ServerAddress, t raft.Transport) {
	if peers, ok := g.Transport.(raft.WithPeers); ok {
		peers.Connect(peer, t)
	}
}

// Disconnect implements raft.WithPeers, where the transport does.
func (g *guard) Disconnect(peer raft.ServerAddress) {
	if peers, ok := g.Transport.(raft.WithPeers); ok {
		peers.Disconnect(peer)
	}
}

// DisconnectAll implements raft.WithPeers, where the transport does.
func (g *guard) DisconnectAll() {
	if peers, ok := g.Transport.(raft.WithPeers); ok {
		peers.DisconnectAll()
	}
}

// Close implements raft.WithClose.
func (g *guard) Close() error {
	g.once.Do(func() { close(g.stop) })
	var err error
	if closer, ok := g.Transport.(raft.WithClose); ok {
		err = closer.Close()
	}
	g.work.Wait()
	return err
}
