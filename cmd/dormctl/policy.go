package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/agent"
	"dormouse/agent/quota"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// policyFlags are the flags of the members of a policy.
type policyFlags struct {
	named      agent.Policy
	historyAge time.Duration
}

// policyFlag is a flag of a number of a policy.
type policyFlag struct {
	name, usage string
	member      func(p *agent.Policy) *uint64
}

const historyAge = "history-age"

var policyNumbers = []policyFlag{
	{"history", "checkpoints kept per key, including the current one; 0 means the default", func(p *agent.Policy) *uint64 { return &p.History }},
	{"keys-max", "maximum keys of the scope; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.KeysMax }},
	{"bytes-max", "maximum bytes of the scope; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.BytesMax }},
	{"memories-max", "maximum memories of one agent; 0 means the default", func(p *agent.Policy) *uint64 { return &p.MemoriesMax }},
	{"memory-bytes-max", "maximum bytes of one agent's memories; 0 means the default", func(p *agent.Policy) *uint64 { return &p.MemoryBytesMax }},
	{"changes-max", "minimum changes kept in the scope's feed; 0 means the default", func(p *agent.Policy) *uint64 { return &p.ChangesMax }},
	{"agents-max", "maximum agents of the scope; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.AgentsMax }},
	{"threads-max", "maximum threads of the scope; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.ThreadsMax }},
	{"entries-max", "maximum entries of all threads together; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.EntriesMax }},
	{"timers-max", "maximum timers of the scope; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.TimersMax }},
	{"requests-per-second", "maximum requests per second on each node; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.RequestsPerSecond }},
	{"bytes-per-second", "maximum bytes of requests and answers per second on each node; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.BytesPerSecond }},
	{"watches-max", "maximum concurrent watches on each node; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.WatchesMax }},
	{"awake-max", "maximum awake instances in one process; 0 means no limit", func(p *agent.Policy) *uint64 { return &p.AwakeMax }},
}

func (f *policyFlags) register(flags *pflag.FlagSet) {
	for _, n := range policyNumbers {
		flags.Uint64Var(n.member(&f.named), n.name, 0, n.usage)
	}
	flags.DurationVar(&f.historyAge, historyAge, 0, "how long a checkpoint is kept after it was replaced; 0 means no limit")
}

// merge returns the stored policy with what the flags name changed.
func (f *policyFlags) merge(flags *pflag.FlagSet, stored agent.Policy) agent.Policy {
	for _, n := range policyNumbers {
		if flags.Changed(n.name) {
			*n.member(&stored) = *n.member(&f.named)
		}
	}
	if flags.Changed(historyAge) {
		stored.HistoryAgeMS = uint64(f.historyAge.Milliseconds())
	}
	return stored
}

// valid refuses an age that is none in milliseconds, which would mean no limit.
func (f *policyFlags) valid() error {
	if f.historyAge != 0 && f.historyAge < time.Millisecond {
		return cli.Usagef("--%s is %v: give at least 1ms, such as 720h, or 0 for no limit", historyAge, f.historyAge)
	}
	return nil
}

// any reports whether a flag of the policy is given.
func (f *policyFlags) any(flags *pflag.FlagSet) bool {
	for _, n := range policyNumbers {
		if flags.Changed(n.name) {
			return true
		}
	}
	return flags.Changed(historyAge)
}

func scopesSet(a *kit.App) *cobra.Command {
	var policy policyFlags
	var useDefault bool
	cmd := &cobra.Command{
		Use: "put SCOPE", Aliases: []string{"set"}, Short: "Set the policy of a scope: retention and limits", Args: cli.Exactly("SCOPE"),
		Long: "put changes the settings that flags name, and keeps the others, also those that others change at the same moment.\n" +
			"It creates the scope if it does not exist.\n" +
			"A scope without a policy of its own has the default policy: see dormctl scopes default.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := policy.valid(); err != nil {
				return err
			}
			a.Scope, a.Stale = args[0], false // an old policy must not be written back
			if useDefault && policy.any(cmd.Flags()) {
				return cli.Usagef("--use-default removes the scope's own policy: leave out the other flags")
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				var set agent.Scope
				var err error
				if useDefault {
					set, err = putScope(ctx, a, s, &agent.PutScope{UseDefault: true})
				} else {
					set, err = policy.change(ctx, a, s, cmd.Flags(), false)
				}
				if err != nil {
					return err
				}
				return a.Print(document.ScopeOf(set), scopesGrid([]agent.Scope{set}, ""))
			})
		},
	}
	policy.register(cmd.Flags())
	cmd.Flags().BoolVar(&useDefault, "use-default", false, "remove the scope's own policy, so that the default applies")
	return cmd
}

// changesMax is how often a change of a policy is tried that others change at the same moment.
const changesMax = 10

// change changes what the flags name of the policy of the app's scope, or of the default one. If another caller
// changes the policy between the read and the write, it reads the policy again. With --request-id it writes the
// policy without that condition, so that the command makes the same commit when it is repeated.
func (f *policyFlags) change(ctx context.Context, a *kit.App, s kit.Store, flags *pflag.FlagSet, byDefault bool) (agent.Scope, error) {
	for tries := 1; ; tries++ {
		stored, err := kit.Find[*agent.Scope](ctx, a, s, &agent.GetScope{Default: byDefault})
		if kit.Missing(err) && !byDefault { // it has the default policy
			stored, err = kit.Find[*agent.Scope](ctx, a, s, &agent.GetScope{Default: true})
		}
		if err != nil {
			return agent.Scope{}, err
		}
		op := &agent.PutScope{Default: byDefault, Policy: f.merge(flags, stored.Policy)}
		if a.RequestID == "" {
			op.IfPolicy = &stored.Policy
		}
		set, err := putScope(ctx, a, s, op)
		if op.IfPolicy != nil && agent.CodeOf(err) == agent.CodeConflict && tries < changesMax {
			continue
		}
		if commit := (*kit.CommitError)(nil); op.IfPolicy != nil && errors.As(err, &commit) {
			commit.Settle = "run the same command again: it changes only what its flags name"
		}
		return set, err
	}
}

func putScope(ctx context.Context, a *kit.App, s kit.Store, op *agent.PutScope) (agent.Scope, error) {
	result, err := a.Commit(ctx, s, op)
	if err != nil {
		return agent.Scope{}, err
	}
	set, err := kit.ResultOf[*agent.ScopeResult](result, 0)
	if err != nil {
		return agent.Scope{}, err
	}
	return set.Scope, nil
}

func scopesDefault(a *kit.App) *cobra.Command {
	var policy policyFlags
	cmd := &cobra.Command{
		Use: "default", Short: "Show or set the default policy", Args: cli.Exactly(),
		Long: "default shows the default policy. With flags it changes the settings that they name, and keeps the others.\n" +
			"The policy applies at once to each scope without a policy of its own.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := policy.valid(); err != nil {
				return err
			}
			if policy.any(cmd.Flags()) {
				a.Stale = false // an old policy must not be written back
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				var set agent.Scope
				if policy.any(cmd.Flags()) {
					changed, err := policy.change(ctx, a, s, cmd.Flags(), true)
					if err != nil {
						return err
					}
					set = changed
				} else {
					stored, err := kit.Find[*agent.Scope](ctx, a, s, &agent.GetScope{Default: true})
					if err != nil {
						return err
					}
					set = *stored
				}
				return a.Print(document.PolicyBody(set.Policy), policyGrid(set.Policy))
			})
		},
	}
	policy.register(cmd.Flags())
	return cmd
}

// policyGrid shows all limits of a policy.
func policyGrid(p agent.Policy) cli.Grid {
	g := cli.Grid{Head: []string{"limit", "value"}}
	for _, n := range policyNumbers {
		g.Add(n.name, bound(*n.member(&p)))
	}
	g.Add(historyAge, age(p.HistoryAgeMS))
	return g
}

func age(ms uint64) string {
	if ms == 0 {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

func scopesShow(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "show SCOPE", Short: "Show the usage of each limit of a scope", Args: cli.Exactly("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Scope = args[0]
			return kit.Show(a, cmd, &agent.GetScope{}, func(found *agent.Scope) error {
				return a.Print(document.ScopeOf(*found), usageGrid(found))
			})
		},
	}
}

// usageGrid shows what a scope uses of its quotas, and its limits of a second.
func usageGrid(s *agent.Scope) cli.Grid {
	from := "the default policy"
	if s.OwnPolicy {
		from = "its own policy"
	}
	g := cli.Grid{Head: []string{"limit", "used", "max", "share"}, Note: "limits of " + from}
	usage := quota.Usage(s)
	for i, q := range quota.Of(s.Policy) {
		share := "-"
		if q.Max > 0 {
			share = fmt.Sprintf("%.0f %%", 100*float64(usage[i])/float64(q.Max))
		}
		g.Add(q.Noun, cli.Number(usage[i]), bound(q.Max), share)
	}
	for _, n := range []struct {
		name string
		max  uint64
	}{
		{"requests a second", s.Policy.RequestsPerSecond},
		{"bytes a second", s.Policy.BytesPerSecond},
		{"watches", s.Policy.WatchesMax},
		{"instances awake", s.Policy.AwakeMax},
	} {
		g.Add(n.name, "-", bound(n.max), "-")
	}
	return g
}
