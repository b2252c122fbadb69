package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func scopesCommand(a *kit.App) *cobra.Command {
	return cli.Group("scopes", "Tenants' keyspaces", scopesList(a), scopesGet(a), scopesSet(a), scopesRemove(a))
}

func scopesList(a *kit.App) *cobra.Command {
	read := func(page agent.Page) agent.Read { return &agent.ListScopes{Page: page} }
	return kit.List(a, "List scopes", read, func(list *agent.ScopeList) error {
		return a.Print(document.ListOf(list.Items, list.Next, document.ScopeOf), scopesGrid(list.Items, list.Next))
	})
}

func scopesGrid(scopes []agent.Scope, next string) cli.Grid {
	g := cli.Grid{Head: []string{"scope", "keys", "bytes", "history", "keys max", "bytes max", "created"}, Note: kit.More(next)}
	for _, s := range scopes {
		history := s.Policy.History
		if history == 0 {
			history = agent.HistoryDefault
		}
		g.Add(s.Name, cli.Number(s.Keys), cli.Number(s.Bytes), cli.Number(history), bound(s.Policy.KeysMax), bound(s.Policy.BytesMax), cli.When(s.CreatedAt))
	}
	return g
}

// bound is a limit, where 0 means none.
func bound(n uint64) string {
	if n == 0 {
		return "-"
	}
	return cli.Number(n)
}

func scopesSet(a *kit.App) *cobra.Command {
	var policy agent.Policy
	var historyAge time.Duration
	cmd := &cobra.Command{
		Use: "put SCOPE", Aliases: []string{"set"}, Short: "Set what a scope keeps and how much it may hold", Args: cli.Exactly("SCOPE"),
		Long: "put changes the named parts of the policy and keeps the others. It creates the scope if it does not exist.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Scope = args[0]
			policy.HistoryAgeMS = uint64(max(historyAge, 0).Milliseconds())
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				merged, err := mergePolicy(ctx, a, cmd, s, policy)
				if err != nil {
					return err
				}
				result, err := a.Commit(ctx, s, &agent.PutScope{Policy: merged})
				if err != nil {
					return err
				}
				set, err := kit.ResultOf[*agent.ScopeResult](result, 0)
				if err != nil {
					return err
				}
				return a.Print(document.ScopeOf(set.Scope), scopesGrid([]agent.Scope{set.Scope}, ""))
			})
		},
	}
	cmd.Flags().Uint64Var(&policy.History, "history", 0, "checkpoints kept per key, the current one included; 0 means the default")
	cmd.Flags().DurationVar(&historyAge, "history-age", 0, "how long a checkpoint is kept after another one took its place; 0 means any time")
	cmd.Flags().Uint64Var(&policy.KeysMax, "keys-max", 0, "keys it may hold; 0 means no limit")
	cmd.Flags().Uint64Var(&policy.BytesMax, "bytes-max", 0, "bytes it may hold; 0 means no limit")
	cmd.Flags().Uint64Var(&policy.MemoriesMax, "memories-max", 0, "memories that one agent may have; 0 means the default")
	cmd.Flags().Uint64Var(&policy.MemoryBytesMax, "memory-bytes-max", 0, "bytes that one agent's memories may take; 0 means the default")
	cmd.Flags().Uint64Var(&policy.ChangesMax, "changes-max", 0, "changes that its feed goes back, at least; 0 means the default")
	return cmd
}

// mergePolicy is the stored policy with what the flags name changed.
func mergePolicy(ctx context.Context, a *kit.App, cmd *cobra.Command, s kit.Store, named agent.Policy) (agent.Policy, error) {
	var merged agent.Policy
	stored, err := kit.Find[*agent.Scope](ctx, a, s, &agent.GetScope{})
	switch {
	case err == nil:
		merged = stored.Policy
	case !kit.Missing(err):
		return agent.Policy{}, err
	}
	flags := cmd.Flags()
	if flags.Changed("history") {
		merged.History = named.History
	}
	if flags.Changed("history-age") {
		merged.HistoryAgeMS = named.HistoryAgeMS
	}
	if flags.Changed("keys-max") {
		merged.KeysMax = named.KeysMax
	}
	if flags.Changed("bytes-max") {
		merged.BytesMax = named.BytesMax
	}
	if flags.Changed("memories-max") {
		merged.MemoriesMax = named.MemoriesMax
	}
	if flags.Changed("memory-bytes-max") {
		merged.MemoryBytesMax = named.MemoryBytesMax
	}
	if flags.Changed("changes-max") {
		merged.ChangesMax = named.ChangesMax
	}
	return merged, nil
}

func scopesGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get SCOPE", Short: "Show a scope: what it holds, and what it may hold", Args: cli.Exactly("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Scope = args[0]
			return kit.Show(a, cmd, &agent.GetScope{}, func(found *agent.Scope) error {
				return a.Print(document.ScopeOf(*found), scopesGrid([]agent.Scope{*found}, ""))
			})
		},
	}
}

func scopesRemove(a *kit.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm SCOPE", Short: "Delete a scope with all that is in it, for good", Args: cli.Exactly("SCOPE"),
		Long: `rm deletes a scope with everything in it: checkpoints, threads, memories, sessions,
conversations, files, values, managers, timers and its policy. It cannot be undone:
on a terminal it shows what it deletes and asks; elsewhere it needs --yes.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Scope = args[0]
			if !yes {
				if err := confirmScope(a, cmd); err != nil {
					return err
				}
			}
			return remove(a, cmd, "scope", args, []agent.Op{&agent.DeleteScope{}})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirmScope says what goes with the scope, and asks. One that is not there needs
// no answer.
func confirmScope(a *kit.App, cmd *cobra.Command) error {
	var found *agent.Scope
	err := a.With(cmd, func(ctx context.Context, s kit.Store) (err error) {
		found, err = kit.Find[*agent.Scope](ctx, a, s, &agent.GetScope{})
		return err
	})
	if kit.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !a.Terminal {
		return cli.Usagef("scope %q holds %s of %s, and there is no terminal to ask on: give --yes to delete it without a question",
			a.Scope, cli.Count(found.Keys, "key"), cli.Count(found.Bytes, "byte"))
	}
	return confirm(a, "delete scope %q with %s of %s? This cannot be undone.", a.Scope, cli.Count(found.Keys, "key"), cli.Count(found.Bytes, "byte"))
}
