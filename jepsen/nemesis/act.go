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

// act is a step that is being done.
type act struct {
	*field
	Step
	draw  *rand.Rand
	begun bool
}

func newAct(f *field, s Step) *act {
	return &act{field: f, Step: s, draw: rand.New(rand.NewPCG(s.Seed, s.Seed))}
}

// begins records that the fault begins now; what is done to whom is for people.
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

// ended records that it was healed; problems are what stood in the way.
func (a *act) ended(problems error) {
	detail := a.Variant
	if problems != nil {
		detail += ": " + oneLine(problems)
	}
	a.Record.Event(history.Event{Kind: history.EventHeal, Name: a.Fault, Step: a.N, Detail: detail})
	a.Tell(fmt.Sprintf("%d. %s healed, %s", a.N, a.Fault, detail))
}

// note records what a reader should know of the step.
func (a *act) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.Record.Event(history.Event{Kind: history.EventNote, Name: a.Fault, Step: a.N, Detail: text})
	a.Tell(fmt.Sprintf("%d. %s: %s", a.N, a.Fault, text))
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// leaderMax bounds the search for a leader: if there is none, a fault that
// is for the leader meets a random node.
const leaderMax = 3 * time.Second

// leader is the host that leads, or else a random one.
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
			a.note("nobody leads: a random node is taken instead")
			return a.any()
		}
	}
}

// any is a random member.
func (a *act) any() *testbed.Host {
	members := a.members()
	return members[a.draw.IntN(len(members))]
}

// follower is a random member that does not lead; the leader where it is alone.
func (a *act) follower(ctx context.Context) *testbed.Host {
	leader := a.leader(ctx)
	for _, h := range a.shuffled() {
		if h != leader {
			return h
		}
	}
	return leader
}

// shuffled are the members in random order.
func (a *act) shuffled() []*testbed.Host {
	members := a.members()
	a.draw.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

// some are random members: "leader", "follower", "minority", "majority", "all";
// or "program" or "programs", which are none.
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

// claim makes the hosts' processes the step's own until release; it waits for
// the time of the step at most.
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
			return nil, fmt.Errorf("%s is no member any more", h.Name())
		}
	}
	return release, nil
}

// background does something until stop is called, which waits for its end.
func (a *act) background(ctx context.Context, do func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() { do(ctx) })
	return func() {
		cancel()
		wait.Wait()
	}
}

// list names hosts for people.
func list(hosts []*testbed.Host) string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name()
	}
	return strings.Join(names, ", ")
}
