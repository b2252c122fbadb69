package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func scopesCommand(a *kit.App) *cobra.Command {
	return cli.Group("scopes", "Scopes: separate keyspaces, with their policies and usage", scopesList(a), scopesGet(a), scopesShow(a), scopesSet(a), scopesIndex(a), scopesDefault(a), scopesRemove(a))
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

func scopesGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get SCOPE", Short: "Show a scope's usage and limits", Args: cli.Exactly("SCOPE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Scope = args[0]
			return kit.Show(a, cmd, &agent.GetScope{}, func(found *agent.Scope) error {
				return a.Print(document.ScopeOf(*found), scopesGrid([]agent.Scope{*found}, ""))
			})
		},
	}
}

func scopesIndex(a *kit.App) *cobra.Command {
	var none bool
	cmd := &cobra.Command{
		Use: "index SCOPE [KEY...]", Short: "Show or declare the metadata keys that lists can filter by", Args: cli.Between(1, -1, "SCOPE [KEY...]"),
		Long: fmt.Sprintf(`index declares the members of metadata by which values, checkpoints and sessions are listed
with --metadata: at most %d. The keys replace those declared before, and cover all rows: until
the rows from before are in the index, such lists are unavailable. Without KEY it shows the keys.`, agent.MetadataKeysMax),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Scope = args[0]
			if none && len(args) > 1 {
				return cli.Usagef("--none withdraws all keys: leave out KEY")
			}
			show := func(s agent.Scope) error {
				g := cli.Grid{Head: []string{"key"}}
				for _, key := range s.MetadataKeys {
					g.Add(key)
				}
				if s.MetadataBuilding {
					g.Note = "the index is being built: lists by metadata are unavailable"
				}
				return a.Print(document.ScopeOf(s), g)
			}
			if len(args) == 1 && !none {
				return kit.Show(a, cmd, &agent.GetScope{}, func(found *agent.Scope) error { return show(*found) })
			}
			return kit.Change(a, cmd, &agent.IndexMetadata{Keys: args[1:]}, func(set *agent.ScopeResult) error { return show(set.Scope) })
		},
	}
	cmd.Flags().BoolVar(&none, "none", false, "withdraw all keys")
	return cmd
}

func scopesRemove(a *kit.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm SCOPE", Short: "Delete a scope and all of its data, permanently", Args: cli.Exactly("SCOPE"),
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
