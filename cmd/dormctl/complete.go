package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/instance/pod"
)

// completionsMax is how many ids a shell is offered.
const completionsMax = 50

// completionWaitMax bounds how long a shell waits for ids, whatever --timeout is.
const completionWaitMax = time.Second

// completer lists ids that begin with a prefix, given the arguments before.
type completer func(ctx context.Context, a *kit.App, s kit.Store, before []string, prefix string) ([]string, error)

// listing makes a completer of a read that lists.
func listing[L agent.Found](read func(agent.Page) agent.Read, ids func(L) []string) completer {
	return func(ctx context.Context, a *kit.App, s kit.Store, _ []string, prefix string) ([]string, error) {
		list, err := kit.Find[L](ctx, a, s, read(agent.Page{Prefix: prefix, Limit: completionsMax}))
		if err != nil {
			return nil, err
		}
		return ids(list), nil
	}
}

// each is a field of all items.
func each[T any](items []T, field func(*T) string) []string {
	all := make([]string, len(items))
	for i := range items {
		all[i] = field(&items[i])
	}
	return all
}

var checkpointKeys = listing(func(p agent.Page) agent.Read { return &agent.ListCheckpoints{Page: p} },
	func(l *agent.CheckpointList) []string {
		return each(l.Items, func(r *agent.CheckpointRow) string { return r.Key })
	})

var valueKeys = listing(func(p agent.Page) agent.Read { return &agent.ListValues{Page: p} },
	func(l *agent.ValueList) []string {
		return each(l.Items, func(r *agent.ValueRow) string { return r.Key })
	})

// completers are by what a command's usage calls its argument.
var completers = map[string]completer{
	"AGENT": checkpointKeys,
	"THREAD": listing(func(p agent.Page) agent.Read { return &agent.ListThreads{Page: p} },
		func(l *agent.ThreadList) []string {
			return each(l.Items, func(t *agent.Thread) string { return t.ID })
		}),
	"SESSION": listing(func(p agent.Page) agent.Read { return &agent.ListSessions{Page: p} },
		func(l *agent.SessionList) []string {
			return each(l.Items, func(r *agent.SessionRow) string { return r.ID })
		}),
	"CONVERSATION": listing(func(p agent.Page) agent.Read { return &agent.ListConversations{Page: p} },
		func(l *agent.ConversationList) []string {
			return each(l.Items, func(r *agent.ConversationRow) string { return r.ID })
		}),
	"MANAGER": listing(func(p agent.Page) agent.Read { return &agent.ListManagers{Page: p} },
		func(l *agent.ManagerList) []string {
			return each(l.Items, func(m *agent.Manager) string { return m.Name })
		}),
	"SCOPE": listing(func(p agent.Page) agent.Read { return &agent.ListScopes{Page: p} },
		func(l *agent.ScopeList) []string {
			return each(l.Items, func(r *agent.Scope) string { return r.Name })
		}),
	"CLAIM": listing(func(p agent.Page) agent.Read { return &agent.ListClaims{Page: p} },
		func(l *agent.ClaimList) []string {
			return each(l.Items, func(c *agent.Claim) string { return c.Name })
		}),
	"PATH":   completePaths,
	"NODE":   completeNodes,
	"TIMER":  completeTimers,
	"JOB":    completeJobs,
	"REVIEW": completeReviews,
	"ID":     completeMemories,
}

// completerOf returns the completer of an argument by what the usage of a command
// of a group calls it, or nil.
func completerOf(group, name string) completer {
	switch {
	case name == "KEY" && group == "values":
		return valueKeys
	case name == "KEY" && (group == "checkpoints" || group == "agents"):
		return checkpointKeys
	case name == "KEY":
		return completeInstances
	case name == "NODE" && group == "pods":
		return completePodNodes
	}
	return completers[name]
}

// completeInstances completes the key of an instance of the manager that the
// first argument names, whether it is stored or only awake. Where the
// manager is gone or its owners do not answer, it offers those that are stored.
func completeInstances(ctx context.Context, a *kit.App, s kit.Store, before []string, prefix string) ([]string, error) {
	if len(before) == 0 {
		return nil, nil
	}
	keys, _, _, err := instanceKeys(ctx, a, s, before[0], kit.PageFlags{Prefix: prefix, Limit: completionsMax})
	if err == nil {
		return keys, nil
	}
	own := agent.InstanceRef{Manager: before[0]}.Checkpoint()
	keys, err = checkpointKeys(ctx, a, s, nil, own+prefix)
	for i := range keys {
		keys[i] = strings.TrimPrefix(keys[i], own)
	}
	return keys, err
}

// completePodNodes completes a node of the pod that the first two arguments name.
func completePodNodes(ctx context.Context, a *kit.App, s kit.Store, before []string, prefix string) ([]string, error) {
	ref := agent.InstanceRef{Scope: a.Scope, Manager: before[0], Key: before[1]}
	nodes, err := pod.Pods{Instances: s.Instances(), Service: s}.Nodes(ctx, ref)
	if err != nil {
		return nil, err
	}
	return withPrefix(each(nodes, func(n *pod.Snapshot) string { return n.Name }), prefix), nil
}

// completeTimers completes a timer of the instance that the first two arguments name.
func completeTimers(ctx context.Context, a *kit.App, s kit.Store, before []string, prefix string) ([]string, error) {
	list, err := kit.Find[*agent.TimerList](ctx, a, s, &agent.ListTimers{
		Manager: before[0], Key: before[1], Page: agent.Page{Prefix: prefix, Limit: completionsMax},
	})
	if err != nil {
		return nil, err
	}
	return each(list.Items, func(t *agent.Timer) string { return t.ID }), nil
}

// completeJobs completes a job of the instance that the first two arguments name.
func completeJobs(ctx context.Context, a *kit.App, s kit.Store, before []string, prefix string) ([]string, error) {
	jobs, err := jobs(ctx, a, s, before[0], before[1])
	return withPrefix(each(jobs, func(j *jobDoc) string { return j.Job }), prefix), err
}

// completeReviews completes a pending review. Reviews are listed by deadline, so the
// prefix is applied to the first page of them.
func completeReviews(ctx context.Context, a *kit.App, s kit.Store, _ []string, prefix string) ([]string, error) {
	list, err := kit.Find[*agent.ReviewList](ctx, a, s, &agent.ListReviews{Page: agent.Page{Limit: agent.ListLimitMax}})
	if err != nil {
		return nil, err
	}
	return withPrefix(each(list.Items, func(r *agent.Review) string { return r.ID }), prefix), nil
}

// completeMemories completes a memory of the agent that the first argument names.
func completeMemories(ctx context.Context, a *kit.App, s kit.Store, before []string, prefix string) ([]string, error) {
	list, err := kit.Find[*agent.MemoryList](ctx, a, s, &agent.ListMemories{
		Agent: before[0], Page: agent.Page{Prefix: prefix, Limit: completionsMax},
	})
	if err != nil {
		return nil, err
	}
	return each(list.Items, func(m *agent.Memory) string { return m.ID }), nil
}

// withPrefix returns the ids that begin with prefix, at most completionsMax of them.
func withPrefix(ids []string, prefix string) []string {
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) })
	return ids[:min(len(ids), completionsMax)]
}

func completePaths(ctx context.Context, a *kit.App, s kit.Store, _ []string, prefix string) ([]string, error) {
	keys, err := valueKeys(ctx, a, s, nil, agent.FilePrefix(prefix))
	for i := range keys {
		keys[i], _ = agent.FilePath(keys[i])
	}
	return keys, err
}

func completeNodes(ctx context.Context, _ *kit.App, s kit.Store, _ []string, prefix string) ([]string, error) {
	status, err := s.Status(ctx)
	if err != nil {
		return nil, err
	}
	return withPrefix(each(status.Members, func(m *layout.MemberStatus) string { return m.ID }), prefix), nil
}

// complete has shells offer ids of the cluster for the arguments of cmd and of all
// commands below it.
func complete(a *kit.App, cmd *cobra.Command) {
	words := strings.Fields(cmd.Use)
	if cmd.RunE != nil && len(words) > 1 && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = completion(a, cmd, words[1:])
	}
	for _, child := range cmd.Commands() {
		complete(a, child)
	}
}

// completion completes arguments by what the usage calls them; the last one may come
// several times. A cluster that does not answer within completionWaitMax offers nothing.
func completion(a *kit.App, cmd *cobra.Command, names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at, several := len(args), strings.ContainsAny(names[len(names)-1], "….")
		if at >= len(names) && several {
			at = len(names) - 1
		}
		if at >= len(names) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name := strings.Trim(names[at], "[]….")
		ids := completerOf(cmd.Parent().Name(), name)
		if ids == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		a.Timeout = min(a.Timeout, completionWaitMax)
		var found []string
		_ = a.With(cmd, func(ctx context.Context, s kit.Store) (err error) { // a shell has nowhere to show an error
			found, err = ids(ctx, a, s, args, prefix)
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
