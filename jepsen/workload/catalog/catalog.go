// Package catalog lists the workloads and makes them by name.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/appends"
	"dormouse/jepsen/workload/cells"
	"dormouse/jepsen/workload/changes"
	"dormouse/jepsen/workload/claim"
	"dormouse/jepsen/workload/conversations"
	"dormouse/jepsen/workload/dedupe"
	"dormouse/jepsen/workload/deletes"
	"dormouse/jepsen/workload/erase"
	"dormouse/jepsen/workload/export"
	"dormouse/jepsen/workload/fork"
	"dormouse/jepsen/workload/hibernate"
	"dormouse/jepsen/workload/instance"
	"dormouse/jepsen/workload/lists"
	"dormouse/jepsen/workload/plan"
	"dormouse/jepsen/workload/pod"
	"dormouse/jepsen/workload/quota"
	"dormouse/jepsen/workload/recall"
	"dormouse/jepsen/workload/register"
	"dormouse/jepsen/workload/review"
	"dormouse/jepsen/workload/session"
	"dormouse/jepsen/workload/set"
	"dormouse/jepsen/workload/timer"
	"dormouse/jepsen/workload/tokens"
	"dormouse/jepsen/workload/turn"
	"dormouse/jepsen/workload/vectors"
	"dormouse/jepsen/workload/watch"
)

// all makes every workload there is.
var all = []func() workload.Workload{
	appends.New,
	cells.New,
	changes.New,
	claim.New,
	conversations.New,
	dedupe.New,
	deletes.New,
	export.New,
	hibernate.New,
	lists.New,
	recall.New,
	register.New,
	set.New,
	turn.New,
	vectors.New,
	watch.New,
	session.New,
	review.New,
	fork.New,
	erase.New,
	erase.NewLive,
	instance.New,
	instance.NewHost,
	plan.New,
	quota.New,
	timer.New,
	tokens.New,
	pod.New,
}

// New returns a new workload by its name, for one run or one check.
func New(name string) (workload.Workload, error) {
	for _, fresh := range all {
		if w := fresh(); w.Name() == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("unknown workload %q: use one of %s", name, strings.Join(Names(), ", "))
}

// Names returns the names of all workloads, sorted.
func Names() []string {
	names := make([]string, 0, len(all))
	for _, fresh := range all {
		names = append(names, fresh().Name())
	}
	slices.Sort(names)
	return names
}

// NeedsPrograms reports whether programs must take part beside the nodes, some of
// them with instance.HostHandler.
func NeedsPrograms(workloads []string) bool { return slices.Contains(workloads, instance.HostName) }

// NeedsTokens reports whether the nodes must ask for tokens, and the harness must have that which may do
// everything.
func NeedsTokens(workloads []string) bool { return slices.Contains(workloads, tokens.Name) }

// Portable returns those of the workloads that need neither programs nor tokens.
func Portable(workloads []string) []string {
	return slices.DeleteFunc(slices.Clone(workloads), func(name string) bool { return name == instance.HostName || name == tokens.Name })
}

// byCommand are the workloads of which one process calls with dormctl: those that use commands of its own, beside commit.
var byCommand = []string{"changes", "claim", "recall", "register", "review", "session", "vectors", "watch"}

// ByCommand reports whether a process of a workload calls with dormctl.
func ByCommand(workload string) bool { return slices.Contains(byCommand, workload) }

// byLibrary are the workloads of which one process calls with a library for another language: those that need
// only commits, reads and watches, and that together use most nouns.
var byLibrary = []string{
	cells.Name, "append", "changes", "claim", "conversations", "fork", "hibernate", "lists", "recall", "review", "session", "timer", "watch",
}

// ByLibrary reports whether a process of a workload calls with a library for another language.
func ByLibrary(workload string) bool { return slices.Contains(byLibrary, workload) }

// ByRedis reports whether processes of a workload can call over the protocol of Redis.
func ByRedis(workload string) bool { return workload == cells.Name }

// OverHTTP reports whether processes of a workload can call over HTTP. Those of dedupe number their
// requests, which an idempotency key cannot; the calls of all others have a form over HTTP.
func OverHTTP(workload string) bool { return workload != "dedupe" }
