package host

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/internal/version"
)

// keepLease keeps the lease until ctx ends or the lease is ended. The error
// says why the cluster refused the host.
func (h *Host) keepLease(ctx context.Context) error {
	policy := leaseRefusalPolicy{ttl: h.o.LeaseTTL, log: h.o.Logger}
	never := func() <-chan struct{} { return nil }
	return h.lease.Keep(ctx, policy.ttl, never, func(ctx context.Context) (bool, error) {
		if refused := h.renew(ctx, policy.ttl); refused != nil {
			return false, policy.refused(refused)
		}
		policy.granted()
		return true, nil
	})
}

// renew renews the lease once, and waits until the table includes the renewal,
// and so all earlier changes of partitions.
func (h *Host) renew(ctx context.Context, ttl time.Duration) *agent.Error {
	answer := h.own(ctx, assign.Request{Kind: assign.Renew, TTL: ttl, Handlers: h.handlers, Host: &layout.Member{
		RaftAddr: h.transport.Addr(), Version: version.String(), FeatureLevelMax: layout.RemoteTurnsLevel, Zone: h.o.Zone, Weight: h.o.Weight, Host: true,
	}})
	switch {
	case answer.Refused != "":
		return agent.Errorf(answer.Refused, "%s", answer.Detail)
	case h.transport.Removed(): // nodes refuse its connections
		return agent.Errorf(agent.CodeDeleted, "host %q was removed from the cluster: start the host again to rejoin", h.o.Name)
	case answer.Index == 0:
		return agent.Errorf(agent.CodeUnavailable, "no leader answered")
	case h.table.WaitApplied(ctx, answer.Index) != nil:
		return agent.Errorf(agent.CodeUnavailable, "no node has sent the partition table")
	}
	return nil
}

// endLease ends the lease and so gives up all partitions at once. If the
// request is lost the lease expires.
func (h *Host) endLease() {
	h.lease.End(context.Background(), func(ctx context.Context) { h.own(ctx, assign.Request{Kind: assign.End}) })
}
