package nemesis

import (
	"fmt"
	"slices"
	"sync"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/testbed"
)

// Ground is the environment of a plan.
type Ground struct {
	Bed    *testbed.Bed
	Dial   func(endpoints ...string) (*client.Client, error) // a client of only these nodes, from the clients' host
	Record *history.Recorder
	Tell   func(line string) // receives progress lines, for people
}

// field is the Ground and the state that all faults of a run share.
type field struct {
	Ground
	operator *client.Client // may use any node; for changes of membership
	wires    *wires         // nil if the network cannot fail
	holds    *holds

	mu    sync.Mutex
	seats map[string]bool // guarded by mu; :: host → whether its node or program should take part
	names int             // guarded by mu; number of new node names given out
}

func newField(g Ground) (*field, error) {
	f := &field{Ground: g, holds: newHolds(), seats: map[string]bool{}}
	var endpoints []string
	for _, h := range g.Bed.Hosts() {
		f.seats[h.Name()] = true
		endpoints = append(endpoints, h.GRPC())
	}
	if net := g.Bed.Net(); net != nil {
		f.wires = newWires(net.Set)
	}
	for _, p := range g.Bed.Programs() {
		f.seats[p.Name()] = true
	}
	var err error
	f.operator, err = g.Dial(endpoints...)
	return f, err
}

// members returns the hosts whose nodes should be members.
func (f *field) members() []*testbed.Host {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(f.Bed.Hosts(), func(h *testbed.Host) bool { return !f.seats[h.Name()] })
}

// seat records whether the host's node should be a member.
func (f *field) seat(h *testbed.Host, member bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seats[h.Name()] = member
}

// name returns an unused node name.
func (f *field) name(h *testbed.Host) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names++
	return fmt.Sprintf("%s-%d", h.Name(), f.names+1)
}

// member reports whether the host's node should be a member.
func (f *field) member(h *testbed.Host) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seats[h.Name()]
}

// mayExit records for the checkers that the node may end from now on, in one of the
// ways: "killed", "exit code 8", "any".
func (f *field) mayExit(h *testbed.Host, ways string) {
	f.Record.Event(history.Event{Kind: history.EventNote, Name: check.NoteMayExit, Node: h.Name(), Detail: ways})
}

// mustRun records that the node must not end any more.
func (f *field) mustRun(h *testbed.Host) {
	f.Record.Event(history.Event{Kind: history.EventNote, Name: check.NoteMustRun, Node: h.Name()})
}

// broken records a violation that the nemesis observed.
func (f *field) broken(h *testbed.Host, rule, format string, args ...any) {
	f.Record.Event(history.Event{
		Kind: history.EventNote, Name: check.NoteBroken, Node: h.Name(), Detail: rule + ": " + fmt.Sprintf(format, args...),
	})
}
