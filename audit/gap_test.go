package audit_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/audit"
)

// A call that is made without its records leaves a gap, which counts the lines of its begin and of its end.
func TestCallsWithoutARecordLeaveAGap(t *testing.T) {
	policy := commitOf(&agent.PutScope{Policy: agent.Policy{ChangesMax: 1000}})
	for name, each := range map[string]struct {
		full bool // the disk, instead of the queue
		more int  // records that are written later
		call func(s *scene)
		want uint64
	}{
		"a commit": {call: func(s *scene) {
			if _, err := s.service.Commit(as(s.t, agent.ClusterVerbs()...), policy); err != nil {
				s.t.Error(err)
			}
		}, more: 1, want: 2},
		"a submitted commit": {call: func(s *scene) {
			if _, err := agent.Await(as(s.t, agent.ClusterVerbs()...), s.service, policy); err != nil {
				s.t.Error(err)
			}
		}, more: 1, want: 2},
		"a delete": {call: func(s *scene) {
			if _, err := s.service.Commit(as(s.t, agent.VerbWrite), commitOf(&agent.DeleteValue{Key: "k"})); err != nil {
				s.t.Error(err)
			}
		}, more: 1, want: 1},
		"a note":                       {call: func(s *scene) { s.recorder.Note(audit.KindAdmin, "join_node", "n2", 7) }, more: 1, want: 1},
		"the last call before the end": {call: func(s *scene) { s.recorder.Note(audit.KindAdmin, "join_node", "n2", 7) }, want: 1},
		"a disk that fails": {full: true, call: func(s *scene) {
			if _, err := s.service.Commit(as(s.t, agent.ClusterVerbs()...), policy); err != nil {
				s.t.Error(err)
			}
		}, more: 1, want: 2},
		"a disk that fails before the end": {full: true, call: func(s *scene) {
			if _, err := s.put(audit.Record{Kind: audit.KindAdmin}); err == nil {
				s.t.Error("a full disk takes a line")
			}
		}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, true)
			s.fill(1)
			if s.full.Store(each.full); !each.full && !s.Reserve(audit.QueueMax) {
				t.Fatal("the queue is not empty")
			}
			each.call(s)
			if s.full.Swap(false); !each.full {
				s.Release(audit.QueueMax)
			}
			s.fill(each.more)
			if lost := s.Stats().Lost; lost != each.want {
				t.Errorf("%d records are counted as lost, want %d", lost, each.want)
			}
			recs := s.recs()
			if len(recs) != 2+each.more || recs[1].Kind != audit.KindGap || recs[1].LeftOut != each.want {
				t.Errorf("%+v, want a gap of %d", recs, each.want)
			}
		})
	}
}
