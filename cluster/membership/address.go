package membership

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"dormouse/cluster/transport"
)

// If a data directory is copied and both copies are started, two nodes have one
// name and one incarnation, each with that node's vote. Two rules keep them apart:
//
//   - A node whose own log knows it by another address has an address conflict. It
//     gives no votes and requests none until it has learned that no duplicate
//     answers at the other address, or a leader has recorded the new address. A
//     duplicate that answers makes the node stop.
//   - A leader dials the address that Raft knows before it records a new one
//     (relocate). A voter loses its vote first, by a majority of the others, and
//     gets it back once it has caught up. So a process that runs unseen at the old
//     address, cut off or about to start, can neither elect nor be elected: every
//     majority that it would need includes a node that knows of the change.
//
// Two cases are not covered. The only voter has no other node to ask, so a
// duplicate of it that cannot be reached stays unnoticed. And a voter without which
// there is no majority moves with its vote if its old address is vacant: if the
// old process starts again before it can reach a node that knows of the move, it
// votes a second time.

// occupant is what answers at an address.
type occupant int

const (
	unknown   occupant = iota // no answer: the node may be cut off
	vacant                    // nothing, or another node
	itself                    // the very process that is looked for, at another address
	duplicate                 // another process with the same data
)

// occupantOf dials addr and looks for the node with that incarnation; process is
// the process that the answer is compared with.
func occupantOf(ctx context.Context, s *transport.Stream, addr, incarnation, process string) occupant {
	ctx, cancel := context.WithTimeout(ctx, transport.RequestTimeout)
	defer cancel()
	c, err := s.DialPeer(ctx, addr)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, transport.ErrOtherCluster):
		return vacant
	case err != nil:
		return unknown
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	switch there, ok := transport.IdentityOf(c); {
	case !ok:
		return unknown
	case there.Incarnation != incarnation:
		return vacant
	case there.Process != process:
		return duplicate
	}
	return itself
}

// resolveAddress looks for a duplicate while this node has an address conflict. It
// returns an error if one answers.
func (j *Joiner) resolveAddress(ctx context.Context) error {
	conflict := &j.Stores.Votes.AddressConflict
	if !conflict.Load() {
		return nil
	}
	old, now := j.AddrOf(j.Self.Node), j.Stream.Addr()
	if old == "" || old == now { // the log has the new address
		conflict.Store(false)
		return nil
	}
	switch occupantOf(ctx, j.Stream, old, j.Self.Incarnation, j.Self.Process) {
	case duplicate:
		return fmt.Errorf("%w: %s", ErrRefused, runsTwice(j.Self.Node, old))
	case unknown:
		if len(j.OtherVoters(j.Self.Node)) >= 2 {
			j.Logger.Warn("this node was at another address, which does not answer: it takes no part in elections until the leader has recorded the new one", "was", old, "is", now)
			return nil
		}
		// With two voters, every majority needs the other one's vote. A lone voter
		// has no other node to ask.
	case vacant, itself:
	}
	conflict.Store(false)
	return nil
}

// relocate makes sure that only one process has the node's vote before a new
// address is recorded. refused says why the address must not be recorded.
func (l *Leader) relocate(ctx context.Context, r JoinRequest) (refused string, err error) {
	server, known := l.servers()[r.Node]
	if !known || r.Process == l.Self.Process {
		return "", nil
	}
	at := string(server.Address)
	who := occupantOf(ctx, l.Stream, at, r.Incarnation, r.Process)
	switch {
	case who == duplicate:
		return runsTwice(r.Node, at), nil
	case at == r.RaftAddr, who == itself, !l.isVoter(r.Node):
		return "", nil
	}
	if why := l.quorumWithout(ctx, r.Node); why != "" {
		return "", errors.New(why)
	}
	if err := l.change(ctx, demote(r.Node)); err != nil {
		return "", fmt.Errorf("take the vote of a node that has moved: %w", err)
	}
	l.Followers.note(r.Incarnation, false, PeerStatus{}, false) // its progress was seen at the old address
	l.Logger.Info("a voter has moved: it votes again once it has caught up", "node", r.Node, "from", at, "to", r.RaftAddr, "vacant", who == vacant)
	return "", nil
}

func runsTwice(node, addr string) string {
	return fmt.Sprintf("node %s runs already at %s, with a copy of the same data directory: end one of the two; to add a node, start it with an empty directory and a name of its own", node, addr)
}
