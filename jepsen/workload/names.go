package workload

import (
	"fmt"
	"slices"
	"strings"
)

// all makes every workload there is.
var all = []func() Workload{
	newAppend,
	newClaim,
	newDedupe,
	newDelete,
	newHibernate,
	newRecall,
	newRegister,
	newSet,
	newTurn,
	newWatch,
	newSession,
	newReview,
	newFork,
	newErase,
	newEraseLive,
	newInstance,
	newHost,
	newPlan,
	newTimer,
	newSquad,
}

// New makes the workload of a name, for one run or one judgement.
func New(name string) (Workload, error) {
	for _, fresh := range all {
		if w := fresh(); w.Name() == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("there is no workload %q; there are %s", name, strings.Join(Names(), ", "))
}

// Names are the names of all workloads, in order.
func Names() []string {
	names := make([]string, 0, len(all))
	for _, fresh := range all {
		names = append(names, fresh().Name())
	}
	slices.Sort(names)
	return names
}

// NeedsPrograms tells whether programs must take part beside the nodes, of which
// some have HostHandler.
func NeedsPrograms(workloads []string) bool { return slices.Contains(workloads, hostName) }

// WithoutPrograms are those of the workloads that need none.
func WithoutPrograms(workloads []string) []string {
	return slices.DeleteFunc(slices.Clone(workloads), func(name string) bool { return name == hostName })
}
