package cluster

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"dormouse/cluster/transport"
)

// A data directory that was copied and started twice makes two nodes of one
// name and one life, each with that node's vote. What keeps them apart:
//
//   - A node whose own log knows it by another address is astray. It neither
//     gives votes nor asks for them until it has learnt that no twin answers
//     there, or a leader has noted the new address. A twin that answers ends it.
//   - A leader asks at the address that raft knows before it takes a new one
//     (relocate). A voter loses its vote first, by the others' majority, and
//     has it again once it has caught up. So whoever may still run unseen at
//     the old address, cut off or about to start, can neither elect nor be
//     elected: of every majority that would do, one has heard of it.
//
// What this does not cover: the only voter's twin where neither can reach the
// other, since there is nobody to ask; and a voter that nobody can be elected
// without. That one moves with its vote where its old address is seen to be
// vacant. Should the process that was there start again, before anybody who
// has heard of the move can be reached, it votes a second time.

// presence is what a look at an address has found.
type presence int

const (
	unsure  presence = iota // no answer: it may be cut off
	vacant                  // nobody, or another node
	oneself                 // the very process that is looked for, under another name
	twin                    // another process with the same data
)

// whoIsAt looks for a node's life at addr; run is the process of it that asks.
func (g *Group) whoIsAt(ctx context.Context, addr, incarnation, run string) presence {
	ctx, cancel := context.WithTimeout(ctx, peerMax)
	defer cancel()
	c, err := g.stream.DialPeer(ctx, addr)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, transport.ErrOtherCluster):
		return vacant
	case err != nil:
		return unsure
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	switch there, ok := transport.IdentityOf(c); {
	case !ok:
		return unsure
	case there.Incarnation != incarnation:
		return vacant
	case there.Process != run:
		return twin
	}
	return oneself
}

// knownAt is where this node's raft configuration says that it is; "" where it
// says nothing.
func (g *Group) knownAt() string { return string(g.servers()[g.o.NodeID].Address) }

// findItself looks for a twin while this node is astray.
func (g *Group) findItself(ctx context.Context) error {
	if !g.stores.Ballot.Astray.Load() {
		return nil
	}
	old := g.knownAt()
	if old == "" || old == g.Addr() { // as the log says by now
		g.stores.Ballot.Astray.Store(false)
		return nil
	}
	switch g.whoIsAt(ctx, old, g.self.Incarnation, g.self.Process) {
	case twin:
		return fmt.Errorf("%w: %s", ErrRefused, twinned(g.o.NodeID, old))
	case unsure:
		if len(g.otherVoters(g.o.NodeID)) >= 2 {
			g.logger.Warn("this node was at another address, which does not answer: it has no part in elections until the leader has noted the new one", "was", old, "is", g.Addr())
			return nil
		}
		// Of two voters each is in every majority, so the other one's vote
		// settles it. One alone has nobody to ask.
	case vacant, oneself:
	}
	g.stores.Ballot.Astray.Store(false)
	return nil
}

// relocate keeps a node's life to one process before its address is noted: see
// above. Where it must not be noted, refused says why.
func (g *Group) relocate(ctx context.Context, r JoinRequest) (refused string, err error) {
	server, known := g.servers()[r.Node]
	if !known || r.Run == g.self.Process {
		return "", nil
	}
	at := string(server.Address)
	who := g.whoIsAt(ctx, at, r.Incarnation, r.Run)
	switch {
	case who == twin:
		return twinned(r.Node, at), nil
	case at == r.RaftAddr, who == oneself, !g.isVoter(r.Node):
		return "", nil
	}
	if why := g.quorumWithout(ctx, r.Node); why != "" {
		return "", errors.New(why)
	}
	if err := g.change(ctx, demote(r.Node)); err != nil {
		return "", fmt.Errorf("take the vote of a node that has moved: %w", err)
	}
	g.followed.note(r.Incarnation, false, 0, false) // what it had caught up with was seen at the old address
	g.logger.Info("a voter has moved: it votes again once it has caught up", "node", r.Node, "from", at, "to", r.RaftAddr, "vacant", who == vacant)
	return "", nil
}

func twinned(node, addr string) string {
	return fmt.Sprintf("node %s runs already at %s, with a copy of the same data directory: end one of the two; to add a node, start it with an empty directory and a name of its own", node, addr)
}
