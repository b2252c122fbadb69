package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
	"dormouse/cluster/membership"
)

// asked are the group's peers with answers about their terms that a test makes.
type asked struct {
	membership.Peers
	term func(node string, term uint64, err error, done func(string, uint64, error))
}

func (a asked) Term(addr string, done func(string, uint64, error)) {
	a.Peers.Term(addr, func(node string, term uint64, err error) { a.term(node, term, err, done) })
}

// answering makes a cluster of three whose nodes answer so.
func answering(t *testing.T, term func(node string, term uint64, err error, done func(string, uint64, error))) *lab {
	t.Helper()
	return trio(t, func(o *cluster.Options) { o.Peers = asked{o.Peers, term} })
}

func TestReadsThatWaitShareARoundAndWriteNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		before := leader.group.Stats()
		var reads sync.WaitGroup
		for range 1000 {
			reads.Go(func() {
				if v, err := leader.read("x"); err != nil || v != 1 {
					t.Errorf("%d, %v", v, err)
				}
			})
		}
		reads.Wait()
		after := leader.group.Stats()
		if rounds := after.Rounds - before.Rounds; rounds == 0 || rounds > 2 {
			t.Errorf("1000 reads at once took %d rounds", rounds)
		}
		if after.Entries != before.Entries {
			t.Errorf("they wrote %d entries", after.Entries-before.Entries)
		}
	})
}

func TestAReadJoinsNoRoundThatWasSent(t *testing.T) {
	const slow = 40 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		for _, n := range l.others(leader) {
			l.net.Delay(leader.name, n.name, slow)
		}
		before := leader.group.Stats().Rounds
		var reads sync.WaitGroup
		reads.Go(func() { _, _ = leader.read("x") })
		time.Sleep(slow / 2) // the question is on its way
		began := time.Now()
		if _, err := leader.read("x"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < slow {
			t.Errorf("answered after %v, by a question that was sent before it", took)
		}
		reads.Wait()
		if rounds := leader.group.Stats().Rounds - before; rounds != 2 {
			t.Errorf("%d rounds, not 2", rounds)
		}
	})
}

// R5: a follower may have applied, and shown, what its leader has not.
func TestAReadSeesWhatAFollowerHasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		release := leader.machine.hold()
		defer release()
		var work sync.WaitGroup
		work.Go(func() {
			if err := leader.put("x", 1); err != nil {
				t.Error(err)
			}
		})
		l.until("the followers have it", func() bool {
			for _, n := range l.others(leader) {
				if n.machine.get("x") != 1 {
					return false
				}
			}
			return true
		})
		answered := make(chan struct{})
		work.Go(func() {
			defer close(answered)
			if v, err := leader.read("x"); err != nil || v != 1 {
				t.Errorf("%d, %v", v, err)
			}
		})
		time.Sleep(time.Second)
		select {
		case <-answered:
			t.Error("answered before the leader has applied what a follower has")
		default:
		}
		release()
		work.Wait()
	})
}

func TestReadsGoThroughTheLogWhereTheVotersDoNotConfirm(t *testing.T) {
	for _, c := range []struct {
		name string
		term func(node string, term uint64, err error, done func(string, uint64, error))
	}{
		{"they do not know the question", func(_ string, _ uint64, _ error, done func(string, uint64, error)) {
			done("", 0, errors.New("unimplemented"))
		}},
		{"they are in another term", func(node string, term uint64, err error, done func(string, uint64, error)) { done(node, term+1, err) }},
		{"others answer", func(node string, term uint64, err error, done func(string, uint64, error)) {
			done("not"+node, term, err)
		}},
		{"they answer late", func(node string, term uint64, err error, done func(string, uint64, error)) {
			time.AfterFunc(time.Second, func() { done(node, term, err) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := answering(t, c.term)
				leader := l.leader()
				if err := leader.put("x", 1); err != nil {
					t.Fatal(err)
				}
				before := leader.group.Stats().Entries
				for range 10 {
					if v, err := leader.read("x"); err != nil || v != 1 {
						t.Fatalf("%d, %v", v, err)
					}
				}
				after := leader.group.Stats()
				if after.Rounds != 0 || after.Entries-before < 10 {
					t.Errorf("%d rounds, %d entries for 10 reads", after.Rounds, after.Entries-before)
				}
			})
		})
	}
}

// With the timing wan the nearest voter may be 300 ms away.
func TestARoundWaitsForVotersThatAreFarAway(t *testing.T) {
	for round, confirmed := range map[time.Duration]bool{0: false, time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			l := trio(t, func(o *cluster.Options) {
				o.Timing = cluster.DefaultTiming()
				o.Timing.Round = round
				o.Peers = asked{o.Peers, func(node string, term uint64, err error, done func(string, uint64, error)) {
					time.AfterFunc(300*time.Millisecond, func() { done(node, term, err) })
				}}
			})
			leader := l.leader()
			before := leader.group.Stats()
			if _, err := leader.read("x"); err != nil {
				t.Fatal(err)
			}
			after := leader.group.Stats()
			if got := after.Rounds > before.Rounds; got != confirmed || (after.Entries > before.Entries) == confirmed {
				t.Errorf("with a round of %v: %d rounds, %d entries", round, after.Rounds-before.Rounds, after.Entries-before.Entries)
			}
		})
	}
}

func TestASilentVoterIsNotWaitedForEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := answering(t, func(node string, term uint64, err error, done func(string, uint64, error)) {
			time.AfterFunc(time.Minute, func() { done(node, term, err) })
		})
		leader := l.leader()
		_, _ = leader.read("x")
		began := time.Now()
		for range 5 {
			if _, err := leader.read("x"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("five more reads took %v", took)
		}
	})
}

// What Raft writes for itself is never applied, so no read may wait for it.
func TestAReadRightAfterAnElectionNeedsNoWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		for range 3 {
			old := l.leader()
			if err := l.change("transfer", ""); err != nil {
				t.Fatal(err)
			}
			next := l.otherLeader(old)
			began := time.Now()
			if _, err := next.read("x"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("the read took %v", took)
			}
			l.until("the old leader follows", func() bool { return !old.group.IsLeader() })
		}
	})
}

func TestReadsOnAFollowerHearSoonOfWhatIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		leader := l.leader()
		follower := l.others(leader)[0]
		read := func() {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			index, err := leader.group.RemoteView().BarrierFor(ctx, follower.name, follower.group.RemoteView().VotingTerm(), follower.machine.Applied())
			if err != nil {
				t.Fatal(err)
			}
			if err := follower.machine.WaitApplied(ctx, index); err != nil {
				t.Fatal(err)
			}
		}
		if err := leader.put("x", 1); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if read(); follower.machine.get("x") != 1 {
			t.Error("a stale read on a follower")
		}
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("the follower heard after %v", took)
		}
		time.Sleep(time.Second)
		before := leader.group.Stats().Entries
		for range 10 {
			read()
		}
		if after := leader.group.Stats().Entries; after != before {
			t.Errorf("reads of what the follower has wrote %d entries", after-before)
		}
	})
}

// counted are the group's peers; they answer questions for a term at once, unless the node is silent.
type counted struct {
	membership.Peers
	lab    **lab
	asked  map[string]int // :: node → questions
	silent string
}

func (c *counted) Term(addr string, done func(string, uint64, error)) {
	node, _, _ := strings.Cut(addr, ":")
	c.asked[node]++
	if node != c.silent {
		_, term := (*c.lab).nodes[node].group.RemoteView().Term()
		done(node, term, nil)
	}
}

// A question costs both nodes more than a read, so a round asks as few voters as decide it.
func TestARoundAsksNoMoreVotersThanItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *lab
		peers := map[string]*counted{}
		l = trio(t, func(o *cluster.Options) {
			peers[o.NodeID] = &counted{Peers: o.Peers, lab: &l, asked: map[string]int{}}
			o.Peers = peers[o.NodeID]
		})
		leader := l.leader()
		p := peers[leader.name]
		reads := func(n int) (took time.Duration) {
			began := time.Now()
			clear(p.asked)
			for range n {
				if _, err := leader.read("x"); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(began)
		}
		if reads(10); len(p.asked) != 1 {
			t.Fatalf("10 rounds asked %v, not one voter each time", p.asked)
		}
		for node := range p.asked {
			p.silent = node
		}
		before := leader.group.Stats().Rounds
		if took := reads(10); took != 2*time.Millisecond {
			t.Errorf("10 reads while a voter is silent took %v", took)
		}
		if rounds := leader.group.Stats().Rounds - before; rounds != 10 || p.asked[p.silent] != 1 {
			t.Errorf("%d of 10 reads had a round, and the silent voter is one of %v", rounds, p.asked)
		}
	})
}
