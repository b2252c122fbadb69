package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
)

// A host waits for its name while the cluster has a leader: the lease of an
// earlier process does not expire without one.
func TestAHostWaitsForItsNameWhileTheClusterHasALeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := leaseRefusalPolicy{ttl: time.Second, log: hclog.NewNullLogger()}
		refused := func(code agent.Code, long time.Duration) error {
			for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if err := p.refused(agent.Errorf(code, "no")); err != nil {
					return err
				}
			}
			return nil
		}
		for range 5 { // leaders that stop before the lease has expired
			for _, code := range []agent.Code{agent.CodeAlreadyClaimed, agent.CodeUnavailable} {
				if err := refused(code, 900*time.Millisecond); err != nil {
					t.Fatalf("after %s: %v", code, err)
				}
			}
		}
		if err := refused(agent.CodeAlreadyClaimed, (takenLeasesMax+1)*p.ttl); err == nil {
			t.Error("the host waits without end for a name with a valid lease")
		}
	})
}
