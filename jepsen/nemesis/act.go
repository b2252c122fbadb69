package nemesis

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/testbed"
)

// act is a step in progress.
type act struct {
	*field
	Step
	draw  *rand.Rand
	begun bool
}

func newAct(f *field, s Step) *act {
	return &act{field: f, Step: s, draw: rand.New(rand.NewPCG(s.Seed, s.Seed))}
}

// begins records the start of the fault. The text says which nodes it affects.
func (a *act) begins(format string, args ...any) {
	a.begun = true
	what := fmt.Sprintf(format, args...)
	data, err := json.Marshal(a.Step)
	if err != nil {
		panic(err) // a Step is numbers and strings
	}
	a.Record.Event(history.Event{
		Kind: history.EventFault, Name: a.Fault, Step: a.N, Detail: a.Variant + ": " + what, Data: data,
	})
	a.Tell(fmt.Sprintf("%d. %s, %s: %s", a.N, a.Fault, a.Variant, what))
}

// ended records the healing; problems are the errors of the healing.
func (a *act) ended(problems error) {
	detail := a.Variant
	if problems != nil {
		detail += ": " + oneLine(problems)
	}
	a.Record.Event(history.Event{Kind: history.EventHeal, Name: a.Fault, Step: a.N, Detail: detail})
	a.Tell(fmt.Sprintf("%d. %s healed, %s", a.N, a.Fault, detail))
}

// note records information about the step for readers of the history.
func (a *act) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.Record.Event(history.Event{Kind: history.EventNote, Name: a.Fault, Step: a.N, Detail: text})
	a.Tell(fmt.Sprintf("%d. %s: %s", a.N, a.Fault, text))
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// leaderMax bounds the search for a leader. If there is none, a fault for the leader
// affects a random node.
const leaderMax = 3 * time.Second

// leader returns the host of the leader, or a random member if there is no leader.
func (a *act) leader(ctx context.Context) *testbed.Host {
	ctx, cancel := context.WithTimeout(ctx, leaderMax)
	defer cancel()
	for {
		if name, err := a.Bed.Leader(ctx); err == nil {
			return a.Bed.Host(name)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			a.note("there is no leader: a random node is used instead")
			return a.any()
		}
	}
}

// any returns a random member.
func (a *act) any() *testbed.Host {
	members := a.members()
	return members[a.draw.IntN(len(members))]
}

// follower returns a random member that does not lead, or the leader if it is the only
// member.
func (a *act) follower(ctx context.Context) *testbed.Host {
	leader := a.leader(ctx)
	for _, h := range a.shuffled() {
		if h != leader {
			return h
		}
	}
	return leader
}

// shuffled returns the members in random order.
func (a *act) shuffled() []*testbed.Host {
	members := a.members()
	a.draw.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

// some returns random members for a role: "leader", "follower", "minority",
// "majority", "all". For the roles "program" and "programs" it returns programs, which
// are not members.
func (a *act) some(ctx context.Context, role string) []*testbed.Host {
	switch members := a.shuffled(); role {
	case "leader":
		return []*testbed.Host{a.leader(ctx)}
	case "follower":
		return []*testbed.Host{a.follower(ctx)}
	case "minority":
		return members[:max(1, (len(members)-1)/2)]
	case "majority":
		return members[:len(members)/2+1]
	case "program":
		return a.programs()[:1]
	case "programs":
		return a.programs()
	default:
		return members
	}
}

// claim reserves the hosts' processes for the step until release. It waits at most for
// the time of the step.
func (a *act) claim(ctx context.Context, hosts ...*testbed.Host) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, a.For)
	defer cancel()
	release, err = a.holds.claim(ctx, names(hosts)...)
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		if !a.member(h) {
			release()
			return nil, fmt.Errorf("%s is not a member any more", h.Name())
		}
	}
	return release, nil
}

// background runs a function until stop is called. stop waits for its end.
func (a *act) background(ctx context.Context, do func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() { do(ctx) })
	return func() {
		cancel()
		wait.Wait()
	}
}

// list returns the names of hosts as text.
func list(hosts []*testbed.Host) string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name()
	}
	return strings.Join(names, ", ")
}
