package host

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/cluster"
)

// takenLeasesMax is how many leases long a host waits for its name, which an earlier
// life of it may still have, while somebody leads.
const takenLeasesMax = 3

// leaseRefusalPolicy tells the refusals of a lease that pass by themselves from those that
// do not, and logs each once.
type leaseRefusalPolicy struct {
	ttl        time.Duration
	log        hclog.Logger
	takenSince time.Time   // since when the name is another's; zero while it is not
	lastLogged agent.Error // the refusal that was logged last; zero since the lease stands
}

// granted notes that the lease stands.
func (p *leaseRefusalPolicy) granted() {
	if p.lastLogged.Code != "" {
		p.log.Info("the cluster takes this host now")
	}
	p.takenSince, p.lastLogged = time.Time{}, agent.Error{}
}

// refused is nil where asking again may help, and else why it will not.
func (p *leaseRefusalPolicy) refused(e *agent.Error) error {
	if !p.isTransient(e) {
		return fmt.Errorf("%w: %s", cluster.ErrRefused, e.Detail)
	}
	if e.Code != p.lastLogged.Code || e.Detail != p.lastLogged.Detail {
		p.log.Warn("the cluster does not take this host yet: it owns nothing, and asks again", "code", e.Code, "why", e.Detail)
		p.lastLogged = *e
	}
	return nil
}

func (p *leaseRefusalPolicy) isTransient(e *agent.Error) bool {
	switch e.Code {
	case agent.CodeUnavailable:
		// There will be a leader. Leases lapse by leaders' clocks: while nobody
		// leads, that of an earlier life stands still.
		p.takenSince = time.Time{}
		return true
	case agent.CodeConflict:
		// Handlers that do not go with another process's do so from
		// agent.RemoteTurnsLevel on, which a cluster that was just founded, or that
		// is being brought to a new version, has yet to reach.
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
