package sim

import (
	"context"
	"time"
)

// replacedOwner cuts one host off from the others, but not from the clients, until others own all its
// partitions and have answered some calls, or until the fault ends. Then the host stores the turns that
// it had begun: it did not learn whether they were stored, so it tries again, and the fence must refuse
// them.
func replacedOwner(ctx context.Context, a *act) (string, func(context.Context) error) {
	h := a.any()
	id, deadline := h.nodeID(), time.Now().Add(a.For)
	rejoin := a.links(func(from, to string) bool { return from == h.name || to == h.name }, cut)
	done := make(chan error)
	go func() {
		for ctx.Err() == nil && time.Now().Before(deadline) && !a.othersOwn(id) {
			sleep(ctx, 20*time.Millisecond)
		}
		if a.othersOwn(id) {
			a.count("owners replaced while cut off", 1)
			sleep(ctx, spread(a.draw, 200*time.Millisecond, 2*time.Second))
		}
		done <- rejoin(ctx)
	}()
	return names(h), func(context.Context) error { return <-done }
}

// othersOwn reports whether the leader is another node than id, and other nodes than id own all partitions.
func (a *act) othersOwn(id string) bool {
	leader := a.leader()
	if leader == nil || leader.nodeID() == id {
		return false
	}
	n := leader.node()
	if n == nil {
		return false
	}
	for _, p := range n.Machine().Partitions() {
		if p.Owner == "" || p.Owner == id {
			return false
		}
	}
	return true
}
