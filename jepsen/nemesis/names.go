package nemesis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dormouse/jepsen/testbed"
)

// fault is a group of faults of one kind, with its name on the command line.
type fault struct {
	name     string
	about    string
	needs    []testbed.Capability
	variants []variant
}

// variant is one form of a fault.
type variant struct {
	name              string
	nodesMin          int // the smallest cluster size that it makes sense for
	shortest, longest time.Duration
	mends             time.Duration // typical time of the undo; the next fault is planned after it
	programs          bool          // it is only for runs with programs

	// begin injects the fault. It claims the hosts, calls a.begins before it changes
	// anything, and returns the undo. The undo must do as much as it can in any state
	// of the testbed. It is called exactly once if it is not nil, even if begin
	// failed.
	begin func(ctx context.Context, a *act) (undo undo, err error)
}

// undo heals a fault. Its context has a timeout, but does not end with the run's.
type undo func(ctx context.Context) error

// all returns the groups in the order of the list for people.
func all() []fault {
	return []fault{
		{name: "none", about: "no faults: a violation found here needs no fault"},
		killing, pausing, partitioning, slowing, shifting, failing, unpowering, corrupting, losing, changing, transferring, overloading, mixing,
		failingInside, starving, crowding, replacing, restoring,
	}
}

// find returns the group of that name. For "group/variant" it returns the group with
// only that variant.
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
		return fault{}, fmt.Errorf("unknown variant %q of nemesis %s: use one of %s", only, group, strings.Join(known, ", "))
	}
	return fault{}, fmt.Errorf("unknown nemesis %q: use one of %s", name, strings.Join(Names(), ", "))
}

// word returns the variant's name on the command line: "leader-from-nodes".
func (v variant) word() string {
	return strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(v.name)
}

// Names returns the names of all groups.
func Names() []string {
	var names []string
	for _, f := range all() {
		names = append(names, f.name)
	}
	return names
}

// About returns a description of a group in one line.
func About(name string) (string, error) {
	f, err := find(name)
	return f.about, err
}

// Variants returns the names of a group's variants for a cluster size.
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

// Needs returns the capabilities that a testbed needs for a group.
func Needs(name string) []testbed.Capability {
	f, _ := find(name)
	return f.needs
}
