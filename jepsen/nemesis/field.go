package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/testbed"
)

// Ground is what a plan is carried out on.
type Ground struct {
	Bed    *testbed.Bed
	Dial   func(endpoints ...string) (*client.Client, error) // a client of these nodes alone, from the clients' host
	Record *history.Recorder
	Tell   func(line string) // what is done and undone, for people
}

// field is the ground and what the faults of a run share on it.
type field struct {
	Ground
	operator *client.Client // roams, for changes of membership
	wires    *wires         // nil where the network cannot fail

	mu      sync.Mutex
	freed   chan struct{}   // closed, and made anew, whenever claimed or harmed change
	claimed map[string]bool // :: host → its process is some fault's to start and stop
	harmed  map[string]bool // :: host → what it knew may be lost, and is not made good yet
	seats   map[string]bool // :: host → its node is meant to be a member
	names   int             // fresh node names that were given
}

func newField(g Ground) (*field, error) {
	f := &field{Ground: g, freed: make(chan struct{}), claimed: map[string]bool{}, harmed: map[string]bool{}, seats: map[string]bool{}}
	var endpoints []string
	for _, h := range g.Bed.Hosts() {
		f.seats[h.Name()] = true
		endpoints = append(endpoints, h.GRPC())
	}
	if net := g.Bed.Net(); net != nil {
		f.wires = newWires(net)
	}
	var err error
	f.operator, err = g.Dial(endpoints...)
	return f, err
}

// members are the hosts whose nodes are meant to be members.
func (f *field) members() []*testbed.Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(f.Bed.Hosts(), func(h *testbed.Host) bool { return !f.seats[h.Name()] })
}

// seat notes whether the host's node is meant to be a member.
func (f *field) seat(h *testbed.Host, member bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seats[h.Name()] = member
}

// name is a node name that was never used.
func (f *field) name(h *testbed.Host) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names++
	return fmt.Sprintf("%s-%d", h.Name(), f.names+1)
}

// claim makes the hosts' processes the caller's until release; it waits while
// another fault has any of them.
func (f *field) claim(ctx context.Context, hosts ...*testbed.Host) (release func(), err error) {
	busy := func() bool {
		return slices.ContainsFunc(hosts, func(h *testbed.Host) bool { return f.claimed[h.Name()] })
	}
	if err := f.await(ctx, busy, func() {
		for _, h := range hosts {
			f.claimed[h.Name()] = true
		}
	}); err != nil {
		return nil, errors.New("another fault has the host until the end")
	}
	return sync.OnceFunc(func() {
		f.change(func() {
			for _, h := range hosts {
				delete(f.claimed, h.Name())
			}
		})
	}), nil
}

// harm reserves one of the hosts of which the cluster can spare the memory: a
// minority of its members. It waits for one to be made good where all are in use.
func (f *field) harm(ctx context.Context, h *testbed.Host) error {
	spare := (len(f.members()) - 1) / 2
	if err := f.await(ctx, func() bool { return len(f.harmed) >= spare }, func() { f.harmed[h.Name()] = true }); err != nil {
		return fmt.Errorf("the cluster can spare the disks of %d nodes only, and another fault has them", spare)
	}
	return nil
}

// mended gives the reserve back.
func (f *field) mended(h *testbed.Host) { f.change(func() { delete(f.harmed, h.Name()) }) }

// await waits until the condition is false, and then does what follows from it
// under the same lock.
func (f *field) await(ctx context.Context, busy func() bool, do func()) error {
	for {
		f.mu.Lock()
		if !busy() {
			do()
			f.mu.Unlock()
			return nil
		}
		freed := f.freed
		f.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (f *field) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.freed)
	f.freed = make(chan struct{})
}

// mayExit says for the judges that the node may end from now on, in one of the
// ways: "killed", "exit code 8", "any".
func (f *field) mayExit(h *testbed.Host, ways string) {
	f.Record.Event(history.Event{Kind: history.EventNote, Name: check.NoteMayExit, Node: h.Name(), Detail: ways})
}

// mustRun ends that.
func (f *field) mustRun(h *testbed.Host) {
	f.Record.Event(history.Event{Kind: history.EventNote, Name: check.NoteMustRun, Node: h.Name()})
}

// broken tells a rule that was seen broken.
func (f *field) broken(h *testbed.Host, rule, format string, args ...any) {
	f.Record.Event(history.Event{
		Kind: history.EventNote, Name: check.NoteBroken, Node: h.Name(), Detail: rule + ": " + fmt.Sprintf(format, args...),
	})
}

// readyMax bounds the wait for a node that was started. Where another fault
// keeps it from being ready that is not its own failure.
const readyMax = 20 * time.Second

// run has the host's node run again, whether it was stopped, paused or ended
// itself, and waits a while until it is ready.
func (f *field) run(ctx context.Context, h *testbed.Host) error {
	if !h.Running() {
		f.mustRun(h)
		if err := h.Start(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	return h.Ready(ctx)
}

// runAll does so for several at once, as some may need each other to be ready.
func (f *field) runAll(ctx context.Context, hosts []*testbed.Host) error {
	errs := make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		wait.Go(func() { errs[i] = f.run(ctx, h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// kill ends the nodes at once.
func (f *field) kill(hosts ...*testbed.Host) error {
	errs := make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		f.mayExit(h, "killed")
		wait.Go(func() { errs[i] = h.Kill() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// ask has the operator ask for a change until it is made or surely cannot be.
func (f *field) ask(ctx context.Context, change agent.Change, node string) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := f.operator.Change(attempt, change, node)
		cancel()
		switch agent.CodeOf(err) {
		case "":
			return nil
		case agent.CodeNotFound:
			if change == agent.ChangeLeave {
				return nil // an attempt before this one did it
			}
			return err
		case agent.CodeUnknown, agent.CodeUnavailable, agent.CodeOverloaded:
		default:
			return fmt.Errorf("%s %s: %w", change, node, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s %s: %w", change, node, err)
		}
	}
}

// votes waits until the cluster counts the host's node as a voter.
func (f *field) votes(ctx context.Context, h *testbed.Host) error {
	for {
		s, err := f.Bed.Status(ctx, h.Name())
		for _, m := range s.Members {
			if m.ID == h.Node() && m.Voter {
				return nil
			}
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not vote again", h.Name()), err)
		}
	}
}

// member tells whether the host's node is meant to be a member.
func (f *field) member(h *testbed.Host) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seats[h.Name()]
}
