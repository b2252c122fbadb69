package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/internal/failpoint"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

// electionMax bounds the wait for a leader that replaces one whose connections are refused.
const electionMax = 2 * time.Second

// drainTime is the time in which the writes that are under way end.
const drainTime = 150 * time.Millisecond

// callsLate is how much later than its heartbeats the other calls of a new leader leave.
const callsLate = 300 * time.Millisecond

// refuseLeader makes all connections between the leader and the others fail at once. The others
// conclude that its process has ended and elect another leader, while the old one still has
// its lease. Then the new leader can reach the old one again. Its heartbeats are retried sooner
// than its entries, so a heartbeat tells the old leader of the new term. Until then the old
// leader has no write under way, and soon after it has some (hashicorp/raft#695): what
// clients send to any node arrives late.
func refuseLeader(ctx context.Context, a *act) (undo, error) {
	return refuse(ctx, a, func(*testbed.Host) error { return nil })
}

// refuseAndDelay is refuseLeader with a new leader whose calls, other than heartbeats, leave late. So
// there is time for a write between its first heartbeat and its first entry or the request for a
// vote, which tell the term to Raft's main thread.
func refuseAndDelay(ctx context.Context, a *act) (undo, error) {
	delayed := func(next *testbed.Host) error {
		return next.Failpoint(fmt.Sprintf("%s %v", failpoint.CallSend, callsLate))
	}
	heal, err := refuse(ctx, a, delayed)
	return func(ctx context.Context) error {
		err := heal(ctx)
		for _, h := range a.members() {
			err = errors.Join(err, h.Failpoint(""))
		}
		return err
	}, err
}

// refuse is refuseLeader; it calls elected with the new leader before the old one hears it.
func refuse(ctx context.Context, a *act, elected func(next *testbed.Host) error) (undo, error) {
	old := a.leader(ctx)
	self, others := []string{old.Name()}, a.others(old)
	late := testbed.Link{Delay: a.millis(300, 600)}
	a.begins("%s; clients reach all nodes %v late", old.Name(), late.Delay)
	a.lay([]string{testbed.Clients}, names(a.members()), testbed.ClientPorts, late)
	pause.For(ctx, drainTime)
	refused := testbed.Link{Refuse: true}
	a.lay(self, others, testbed.AllPorts, refused)
	a.lay(others, self, testbed.AllPorts, refused)
	stop := a.background(ctx, func(ctx context.Context) {
		if next := successor(ctx, a, old); next != nil {
			if err := elected(next); err != nil {
				a.note("%s: %v", next.Name(), err)
			}
			pause.For(ctx, a.millis(0, 50))
			a.lay([]string{next.Name()}, self, testbed.AllPorts, testbed.Link{})
			a.note("%s hears %s again", old.Name(), next.Name())
		}
	})
	return func(ctx context.Context) error {
		stop()
		return a.remove()(ctx)
	}, nil
}

// successor waits until another host than old leads. It returns nil if none does.
func successor(ctx context.Context, a *act, old *testbed.Host) *testbed.Host {
	ctx, cancel := context.WithTimeout(ctx, electionMax)
	defer cancel()
	next := make(chan *testbed.Host, len(a.members()))
	for _, h := range a.except(old) {
		stop := a.background(ctx, func(ctx context.Context) {
			for !testbed.Leads(ctx, h) {
				if !pause.For(ctx, 5*time.Millisecond) {
					return
				}
			}
			next <- h
		})
		defer stop()
	}
	select {
	case h := <-next:
		return h
	case <-ctx.Done():
		return nil
	}
}
