package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func watchCommand(a *kit.App) *cobra.Command {
	w := agent.Watch{Changes: true}
	cmd := &cobra.Command{
		Use: "watch [PREFIX]", Short: "Show every change in the scope, until interrupted", Args: cli.Between(0, 1, "[PREFIX]"),
		Long: `watch shows the changes in the scope, one a line: the time, its place in the log, the path, and its
revision (a thread's rev, a claim's epoch, a timer's generation) or that it is gone. PREFIX selects paths:
threads/, threads/t1, sessions/, reviews/, memory/AGENT/, values/, checkpoints/, claims/, conversations/,
messages/CONVERSATION/, managers/, timers/MANAGER/KEY/.

It begins with the next change, or continues after a place: --from 57.3 after that change, --from 57 after all
changes of that index. It ends if changes since then are no longer kept, or the scope was deleted.`,
	}
	var from place
	cmd.Flags().Var(&from, "from", "continue after this place (57.3), or after all changes of an index (57)")
	cmd.Flags().BoolVar(&w.Body, "body", false, "with what each change wrote, which -o json and yaml show")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w.Scope, w.From, w.Skip = a.Scope, from.from, from.skip
		if len(args) > 0 {
			if w.Prefix = args[0]; !canBegin(w.Prefix) {
				return cli.Usagef("no change has a path that begins with %q: use a path such as threads/t1, or values/file:/PATH for a file", w.Prefix)
			}
		}
		return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error { return watchChanges(ctx, a, s, w) })
	}
	return cmd
}

// canBegin reports whether paths of changes can begin with prefix.
func canBegin(prefix string) bool {
	return slices.ContainsFunc(agent.ChangeKinds, func(kind agent.ChangeKind) bool {
		path := string(kind) + "/"
		return strings.HasPrefix(path, prefix) || strings.HasPrefix(prefix, path)
	})
}

// watchChanges shows changes until ctx ends.
func watchChanges(ctx context.Context, a *kit.App, s kit.Store, w agent.Watch) error {
	for event, err := range s.Watch(ctx, w) {
		switch {
		case err != nil && ctx.Err() != nil:
			return nil // interrupted, as it was meant to be
		case err != nil:
			return err
		case event.Last():
			return agent.EndOfChanges(event)
		}
		for i := range event.Changes {
			if err := a.Event(document.ChangeOf(&event.Changes[i]), changeLine(&event.Changes[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// changeLine is a change on a line.
func changeLine(c *agent.Changed) string {
	line := fmt.Sprintf("%s  %s  %s", cli.When(c.Time), c.Place(), c.Path())
	switch {
	case c.Deleted:
		line += "  gone"
	case c.Kind == agent.ChangedThread:
		line += fmt.Sprintf("  rev %d", c.Revision)
	case c.Kind == agent.ChangedTimer:
		line += fmt.Sprintf("  generation %d", c.Revision)
	case c.Kind == agent.ChangedClaim:
		line += fmt.Sprintf("  epoch %d", c.Revision)
	case c.Revision != 0:
		line += fmt.Sprintf("  revision %d", c.Revision)
	}
	if c.Status != "" {
		line += "  " + c.Status
	}
	return line
}

// place is the value of --from.
type place struct {
	text       string
	from, skip uint64
}

// Set implements pflag.Value.
func (p *place) Set(text string) error {
	from, skip, ok := agent.AfterPlace(text)
	if !ok {
		return fmt.Errorf("use INDEX.ORDINAL or INDEX, as watch shows them")
	}
	*p = place{text: text, from: from, skip: skip}
	return nil
}

func (p *place) String() string { return p.text }

// Type implements pflag.Value.
func (*place) Type() string { return "PLACE" }
