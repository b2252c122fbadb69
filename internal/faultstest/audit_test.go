package faultstest

import (
	"path/filepath"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/audit"
	"dormouse/cluster/keys"
)

// After each kill -9, the audit log is whole, and has both records of each administrative call that
// was acknowledged.
func TestAKilledNodeKeepsItsAuditLog(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "n1", "--bootstrap")
	n := p.start(t).ready()
	acked := map[uint64]bool{} // indexes
	for round := range 3 {
		c := dial(t, p)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for i := uint64(1); ; i++ {
				result, err := c.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutScope{Policy: agent.Policy{ChangesMax: 1000 + i}}}})
				if err != nil {
					return
				}
				acked[result.Index] = true
			}
		}()
		time.Sleep(300 * time.Millisecond)
		n.kill()
		_ = c.Close()
		<-ended
		n = p.start(t).ready()
		ring, err := keys.ReadRing(clusterKey)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(p.dir, "audit")
		report, err := audit.Verify(dir, audit.Keys{ring.Current().ID(): ring.Current().Audit()})
		if err != nil || report.Fault != nil || len(report.Notes) > 0 {
			t.Fatalf("round %d: %v, %+v", round, err, report)
		}
		begun, told := map[uint64]bool{}, map[uint64]bool{}
		f := audit.NewFollower(dir, 1)
		for {
			line, err := f.Next()
			if err != nil {
				break
			}
			if line.Phase == audit.PhaseBegin {
				begun[line.Seq] = true
			} else if line.Action == "put_scope" && line.Outcome == "ok" && begun[line.Begin] {
				told[line.Index] = true
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if len(acked) == 0 {
			t.Fatal("the load does not get on")
		}
		for index := range acked {
			if !told[index] {
				t.Errorf("round %d: the call at index %d was acknowledged and has no record", round, index)
			}
		}
	}
}
