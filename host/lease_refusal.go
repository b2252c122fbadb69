package host

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/cluster/membership"
)

// takenLeasesMax is how many lease periods a host waits for its name, which an
// earlier process may still hold, while the cluster has a leader.
const takenLeasesMax = 3

// leaseRefusalPolicy decides which refusals of a lease are worth a retry, and
// logs each refusal once.
type leaseRefusalPolicy struct {
	ttl        time.Duration
	log        hclog.Logger
	takenSince time.Time   // start of the current wait for the name; zero if another process does not hold it
	lastLogged agent.Error // the last refusal that was logged; zero while the lease is valid
}

// granted records that the lease was granted.
func (p *leaseRefusalPolicy) granted() {
	if p.lastLogged.Code != "" {
		p.log.Info("the cluster has accepted this host")
	}
	p.takenSince, p.lastLogged = time.Time{}, agent.Error{}
}

// refused returns nil if a retry may succeed, and otherwise the reason why not.
func (p *leaseRefusalPolicy) refused(e *agent.Error) error {
	if !p.isTransient(e) {
		return fmt.Errorf("%w: %s", membership.ErrRefused, e.Detail)
	}
	if e.Code != p.lastLogged.Code || e.Detail != p.lastLogged.Detail {
		p.log.Warn("the cluster does not accept this host yet: it owns nothing and retries", "code", e.Code, "why", e.Detail)
		p.lastLogged = *e
	}
	return nil
}

func (p *leaseRefusalPolicy) isTransient(e *agent.Error) bool {
	switch e.Code {
	case agent.CodeUnavailable:
		// Leases expire by leaders' clocks. Without a leader the lease of an
		// earlier process does not expire.
		p.takenSince = time.Time{}
		return true
	case agent.CodeConflict:
		// Different handlers are compatible from layout.RemoteTurnsLevel on. A
		// new cluster, or one that is being upgraded, has yet to reach it.
		p.takenSince = time.Time{}
		return true
	case agent.CodeAlreadyClaimed:
		if p.takenSince.IsZero() {
			p.takenSince = time.Now()
		}
		return time.Since(p.takenSince) < takenLeasesMax*p.ttl
	default:
		return false
	}
}
