package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// hashicorp/raft 1.7.3 may wait without a bound for a replication that ended while a
// transfer of leadership waited for it, and then refuses every entry when that node
// leads again. Raft selects between two ready channels at random, hence the rounds.
func TestANodeWhoseHandOverFailedCanLeadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for round := range 8 {
			old := l.leader()
			deaf := l.others(old)[0]
			l.net.Isolate(deaf.name, old.name)
			l.until("deaf lags behind", func() bool { return old.put("x", round) == nil })
			for range 2 {
				if answer := old.group.HandleChange(t.Context(), "transfer", deaf.name); answer.Done {
					t.Error("leadership went to a node that cannot be reached")
				}
			}
			l.net.Isolate(old.name, l.names...)
			l.otherLeader(old)
			l.net.HealAll()
			l.until("the same node leads again", func() bool {
				l.leader().group.HandleChange(t.Context(), "transfer", old.name)
				return old.group.Raft().VerifyLeader().Error() == nil
			})
			l.until("it writes", func() bool { return old.put("x", round) == nil })
		}
	})
}

// R7: commits that arrive while leadership is handed over wait. If the handover
// fails, they are proposed, and their callers see no error.
func TestWritesWaitForAHandOverThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		n := l.leader()
		deaf := l.others(n)[0]
		const delay = 20 * time.Millisecond
		l.net.Delay(deaf.name, n.name, delay)
		l.net.Delay(n.name, deaf.name, delay)
		handed := make(chan bool, 1)
		go func() { handed <- n.group.HandleChange(t.Context(), "transfer", deaf.name).Done }()
		time.Sleep(10 * delay) // it has answered once, which takes four round trips
		l.net.Isolate(deaf.name, n.name)
		before := len(n.machine.entries())
		written := make(chan error, 1)
		go func() { written <- n.put("x", 1) }()
		time.Sleep(100 * time.Millisecond)
		if now := len(n.machine.entries()); now != before || len(written) > 0 {
			t.Errorf("%d entries were applied while leadership was handed over", now-before)
		}
		if <-handed {
			t.Error("leadership went to a node that cannot be reached")
		}
		if err := <-written; err != nil {
			t.Errorf("put: %v", err)
		}
		if v, err := n.read("x"); err != nil || v != 1 {
			t.Errorf("read %d, %v", v, err)
		}
	})
}

// A handover to a voter that cannot be reached does not begin: operators' tools repeat it, and writes would wait
// for each attempt.
func TestWritesDoNotWaitForAVoterThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		n := l.leader()
		gone := l.others(n)[0]
		l.net.Isolate(gone.name, l.names...)
		handed := make(chan bool, 1)
		go func() { handed <- n.group.HandleChange(t.Context(), "transfer", gone.name).Done }()
		time.Sleep(100 * time.Millisecond)
		if err := n.put("x", 1); err != nil {
			t.Error(err)
		}
		if len(handed) > 0 {
			t.Error("the write waited for the end of the handover")
		}
		if <-handed {
			t.Error("leadership went to a node that cannot be reached")
		}
	})
}

func TestLeadershipGoesToAVoterThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for range 6 {
			old := l.leader()
			dead := l.others(old)[0]
			l.net.Isolate(dead.name, l.names...)
			l.until("the dead one lags behind", func() bool { return old.put("x", 1) == nil })
			began := time.Now()
			if answer := old.group.HandleChange(t.Context(), "transfer", ""); !answer.Done {
				t.Errorf("%+v", answer)
			}
			if took := time.Since(began); took > 500*time.Millisecond { // of virtual time: no election ran out
				t.Errorf("took %v", took)
			}
			if next := l.leader(); next == old || next == dead {
				t.Errorf("%s leads", next.name)
			}
			l.net.HealAll()
			l.leader()
			time.Sleep(5 * time.Second)
		}
	})
}
