package transport

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/cluster/raftrpc"
	"dormouse/internal/seededbug"
)

// errMayNotStand refuses Raft's requests for votes while this node must not be
// elected.
var errMayNotStand = errors.New("this node may not stand for election: its log is incomplete or its disk is full")

// Guard is the raft.Transport that Raft uses. It wraps another transport and
// changes or refuses the messages that Raft does not handle safely:
//
//   - hashicorp/raft#695: Raft handles heartbeats on the transport's goroutine.
//     There a heartbeat can raise the term of a leader, which then writes its
//     next entry in a term that it did not win. The guard handles a heartbeat
//     off Raft's main thread only while this node is a follower in the
//     heartbeat's term or a later one and no new term can begin (see
//     raftlog.VoteStore). Raft's main thread handles all others.
//   - A follower commits up to its own last entry. By the Raft paper it may
//     commit only up to the last entry that the leader has confirmed in the call,
//     so the guard lowers LeaderCommitIndex to that.
//   - Votes, requested or given, while this node's log lacks entries that it has
//     acknowledged.
//   - Candidates that this node does not know as voters yet: see admitNewVoter.
//   - Terms that no election can have reached, and senders that are no members.
//   - Entries with a wrong checksum or of an unknown type.
//   - Entries that arrive faster than the state machine applies them.
//   - All messages, once the stores have failed.
type Guard struct {
	raft.Transport
	stores *raftlog.Stores
	logger hclog.Logger

	connected func(node string) bool // see checkName; nil in tests of the guard alone

	raft  atomic.Pointer[raft.Raft]
	calls chan raft.RPC // to Raft's main thread; never closed
	stop  chan struct{} // closed by Close
	once  sync.Once
	work  sync.WaitGroup

	throttled    atomic.Int64 // see throttle
	unappliedMax int64        // unappliedBytesMax, except in tests

	offThread, onThread atomic.Int64  // heartbeats
	installs            atomic.Uint64 // snapshots that Raft installed from a leader

	// committed is the highest commit index that leaders have sent since this
	// process began. Raft itself keeps only the part that this node has.
	committed atomic.Uint64
	fresh     freshness
}

const (
	// Timeout bounds one Raft call. AppendEntries calls of 64 MiB fit at 7 MB/s.
	Timeout = 10 * time.Second
	// AppendBytesMax bounds the entries of one AppendEntries call.
	AppendBytesMax = raftrpc.AppendBytesMax
	// idleMax bounds the connections to one node that wait for a Raft call: Raft
	// sends it heartbeats, entries, and now and then a request for a vote.
	idleMax = 3
)

// ServeRaft returns the transport for Raft over the connections of stream. Close
// closes the stream too.
func ServeRaft(stream *Stream, s *raftlog.Stores, raftLogger, logger hclog.Logger) *Guard {
	network := raftrpc.New(raftrpc.Options{Layer: raftLayer{stream.raft}, Idle: idleMax, Timeout: Timeout, Logger: raftLogger})
	g := newGuard(network, s, logger)
	g.connected = stream.connected
	if seededbug.Is(seededbug.AckedBeforeCommit) {
		g.Transport = earlyAck{network}
	}
	return g
}

// newGuard wraps t. It starts goroutines, which end in Close.
func newGuard(t raft.Transport, s *raftlog.Stores, logger hclog.Logger) *Guard {
	if logger == nil {
		logger = hclog.NewNullLogger()
	}
	g := &Guard{
		Transport: t, stores: s, logger: logger, calls: make(chan raft.RPC), stop: make(chan struct{}),
		unappliedMax: unappliedBytesMax,
	}
	if s.OwnEntries != nil {
		s.OwnEntries.Inbound, s.OwnEntries.OthersVote = raftlog.NewInboundAppends(), g.othersVote
	}
	g.work.Go(g.pump)
	return g
}

// Attach sets the Raft node that uses the guard. Until then Raft's main thread
// handles every heartbeat, and entries are written before they are sent.
func (g *Guard) Attach(r *raft.Raft) { g.raft.Store(r) }

// Committed returns the highest commit index that leaders have sent since this
// process began; 0 before the first.
func (g *Guard) Committed() uint64 { return g.committed.Load() }

// Installs returns how many snapshots Raft has installed from a leader.
func (g *Guard) Installs() uint64 { return g.installs.Load() }

// Consumer implements raft.Transport.
func (g *Guard) Consumer() <-chan raft.RPC { return g.calls }

// pump handles the transport's calls in order of arrival.
func (g *Guard) pump() {
	for {
		select {
		case rpc := <-g.Transport.Consumer():
			g.take(rpc)
		case <-g.stop:
			return
		}
	}
}

// take refuses, delays or forwards a call from the network.
func (g *Guard) take(rpc raft.RPC) {
	if err := g.refuse(rpc); err != nil {
		rpc.Respond(nil, err)
		return
	}
	if _, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok {
		g.forwardInstall(rpc)
		return
	}
	rpc.Command = g.admitNewVoter(rpc.Command)
	request, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok {
		g.forward(rpc)
		return
	}
	g.noteCommitted(request)
	confirmed := request.PrevLogEntry + uint64(len(request.Entries))
	request.LeaderCommitIndex = min(request.LeaderCommitIndex, confirmed)
	switch {
	case len(request.Entries) == 0:
		g.forward(rpc)
	case g.behind():
		g.throttle(rpc)
	default:
		g.offer(rpc)
	}
}

// refuse returns why Raft must not receive this call, or nil.
func (g *Guard) refuse(rpc raft.RPC) error {
	if err := g.stores.FailStop.Failed(); err != nil {
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
		if g.stores.Votes.AddressConflict.Load() {
			return raftlog.ErrAddressConflict
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
	case *raft.InstallSnapshotRequest:
		if err := checkConfiguration(request.Configuration); err != nil {
			err = fmt.Errorf("snapshot of entry %d: %w", request.LastLogIndex, err)
			g.logger.Error("refused a snapshot from the leader", "leader", string(request.Addr), "error", err)
			return err
		}
	}
	return nil
}

func (g *Guard) checkEntry(entry *raft.Log) error {
	if entry.Type > raft.LogConfiguration {
		return fmt.Errorf("log entry %d is of no known type (%d)", entry.Index, entry.Type)
	}
	if entry.Type == raft.LogConfiguration {
		if err := checkConfiguration(entry.Data); err != nil {
			return fmt.Errorf("log entry %d was damaged on its way here: %w", entry.Index, err)
		}
	}
	if g.stores.Check == nil || entry.Type != raft.LogCommand {
		return nil
	}
	if err := g.stores.Check(entry.Data); err != nil {
		return fmt.Errorf("log entry %d was damaged on its way here: %w", entry.Index, err)
	}
	return nil
}

// offer forwards entries to Raft, and registers them as entries of a leader until
// Raft has answered.
func (g *Guard) offer(rpc raft.RPC) {
	request, ok := rpc.Command.(*raft.AppendEntriesRequest)
	if !ok || g.stores.OwnEntries == nil {
		g.forward(rpc)
		return
	}
	offered := g.stores.OwnEntries.Inbound
	offered.Add(request)
	g.forwardThen(rpc, func(raft.RPCResponse) { offered.Remove(request) })
}

// forwardInstall hands an InstallSnapshot call to raft and counts it in
// installs if raft installed the snapshot.
func (g *Guard) forwardInstall(rpc raft.RPC) {
	g.forwardThen(rpc, func(response raft.RPCResponse) {
		if answer, ok := response.Response.(*raft.InstallSnapshotResponse); ok && response.Error == nil && answer.Success {
			g.installs.Add(1)
		}
	})
}

// forwardThen forwards rpc to Raft's main thread and calls done with raft's
// response before the caller receives it. If the guard closes first, done and
// the caller receive raft.ErrTransportShutdown.
func (g *Guard) forwardThen(rpc raft.RPC, done func(raft.RPCResponse)) {
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

// forward waits for Raft's main thread.
func (g *Guard) forward(rpc raft.RPC) {
	select {
	case g.calls <- rpc:
	case <-g.stop:
		rpc.Respond(nil, raft.ErrTransportShutdown)
	}
}

// SetHeartbeatHandler implements raft.Transport.
func (g *Guard) SetHeartbeatHandler(handle func(raft.RPC)) {
	if handle == nil || seededbug.Is(seededbug.UnguardedHeartbeat) {
		g.Transport.SetHeartbeatHandler(handle)
		return
	}
	g.Transport.SetHeartbeatHandler(func(rpc raft.RPC) {
		if err := g.refuse(rpc); err != nil {
			rpc.Respond(nil, err)
			return
		}
		if !g.handleHeartbeat(rpc, handle) {
			g.onThread.Add(1)
			g.forward(rpc)
		}
	})
}

// handleHeartbeat handles a heartbeat on this goroutine if it can change neither
// term nor state, and reports whether it did.
func (g *Guard) handleHeartbeat(rpc raft.RPC, handle func(raft.RPC)) bool {
	request, ok := rpc.Command.(*raft.AppendEntriesRequest)
	r := g.raft.Load()
	if !ok || r == nil {
		return false
	}
	g.stores.Votes.Heartbeat.Lock()
	defer g.stores.Votes.Heartbeat.Unlock()
	if r.State() != raft.Follower || request.Term > r.CurrentTerm() {
		return false
	}
	g.offThread.Add(1)
	handle(rpc)
	return true
}

// mayStand returns an error if this node must not request votes.
func (g *Guard) mayStand() error {
	if g.stores.Votes.AddressConflict.Load() {
		return raftlog.ErrAddressConflict
	}
	if !g.stores.MayStand() {
		return errMayNotStand
	}
	return nil
}

// Stand makes Raft stand for election at once, as a TimeoutNow call of the leader does. It
// waits for Raft's main thread. The error says why this node may not stand.
func (g *Guard) Stand(node string) error {
	if err := errors.Join(g.stores.FailStop.Failed(), g.mayStand()); err != nil {
		return err
	}
	answered := make(chan raft.RPCResponse, 1)
	g.forward(raft.RPC{Command: &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(node),
	}}, RespChan: answered})
	select {
	case response := <-answered:
		return response.Error
	case <-g.stop:
		return raft.ErrTransportShutdown
	}
}

// Close implements raft.WithClose.
func (g *Guard) Close() error {
	g.once.Do(func() { close(g.stop) })
	var err error
	if closer, ok := g.Transport.(raft.WithClose); ok {
		err = closer.Close()
	}
	g.work.Wait()
	return err
}
