package nemesis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dormouse/jepsen/testbed"
)

// fault is a group of faults of one kind, by the name on the command line.
type fault struct {
	name     string
	about    string
	needs    []testbed.Capability
	variants []variant
}

// variant is one way to do it.
type variant struct {
	name              string
	nodesMin          int // the smallest cluster where it makes sense
	shortest, longest time.Duration
	mends             time.Duration // about how long its undo takes; the next fault is planned for after it
	programs          bool          // it is for runs in which programs take part

	// begin does the harm: it claims the hosts, calls a.begins before it
	// touches any, and returns how to undo it. The undo must do whatever it can
	// when the bed is in any state, and is called exactly once, where it is not
	// nil even when begin failed.
	begin func(ctx context.Context, a *act) (undo undo, err error)
}

// undo ends a fault. Its context is bounded, but outlives the run's.
type undo func(ctx context.Context) error

// all are the groups, in the order of the list for people.
func all() []fault {
	return []fault{
		{name: "none", about: "no faults: what is found without them is a bug of its own"},
		killing, pausing, partitioning, slowing, shifting, failing, unpowering, corrupting, losing, changing, transferring, overloading,
	}
}

// find is the group of that name, or, of "group/variant", the group with that
// way of doing it alone.
func find(name string) (fault, error) {
	group, only, one := strings.Cut(name, "/")
	for _, f := range all() {
		if f.name != group {
			continue
		}
		if !one {
			return f, nil
		}
		var known []string
		for _, v := range f.variants {
			if v.word() == only {
				f.variants = []variant{v}
				return f, nil
			}
			known = append(known, v.word())
		}
		return fault{}, fmt.Errorf("there is no variant %q of nemesis %s; there are %s", only, group, strings.Join(known, ", "))
	}
	return fault{}, fmt.Errorf("there is no nemesis %q; there are %s", name, strings.Join(Names(), ", "))
}

// word is the variant's name as the command line has it: "leader-from-nodes".
func (v variant) word() string {
	return strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(v.name)
}

// Names are the names of all groups.
func Names() []string {
	var names []string
	for _, f := range all() {
		names = append(names, f.name)
	}
	return names
}

// About says in one line what a group does.
func About(name string) (string, error) {
	f, err := find(name)
	return f.about, err
}

// Variants are the ways in which a group does it, at a size.
func Variants(name string, nodes int) []string {
	f, _ := find(name)
	var names []string
	for _, v := range f.variants {
		if v.nodesMin <= nodes {
			names = append(names, v.name)
		}
	}
	return names
}

// Needs is what a bed must be able to do for a group.
func Needs(name string) []testbed.Capability {
	f, _ := find(name)
	return f.needs
}
