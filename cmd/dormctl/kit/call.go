package kit

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// Show sends one read and gives its answer to show.
func Show[T agent.Found](a *App, cmd *cobra.Command, read agent.Read, show func(T) error) error {
	return a.With(cmd, func(ctx context.Context, s Store) error {
		found, err := Find[T](ctx, a, s, read)
		if err != nil {
			return err
		}
		return show(found)
	})
}

// Change commits one op and gives its result to show.
func Change[T agent.OpResult](a *App, cmd *cobra.Command, op agent.Op, show func(T) error) error {
	return a.With(cmd, func(ctx context.Context, s Store) error {
		result, err := a.Commit(ctx, s, op)
		if err != nil {
			return err
		}
		changed, err := ResultOf[T](result, 0)
		if err != nil {
			return err
		}
		return show(changed)
	})
}

// List returns the command ls, which shows one page of a list in the order of names.
func List[T agent.Found](a *App, short string, read func(agent.Page) agent.Read, show func(T) error) *cobra.Command {
	return list(a, short, (*PageFlags).DefineOrdered, read, show)
}

// ListRows is List for lists whose rows have a time.
func ListRows[T agent.Found](a *App, short string, read func(agent.Page) agent.Read, show func(T) error) *cobra.Command {
	return list(a, short, (*PageFlags).DefineRows, read, show)
}

func list[T agent.Found](
	a *App, short string, define func(*PageFlags, *cobra.Command), read func(agent.Page) agent.Read, show func(T) error,
) *cobra.Command {
	var page PageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: short, Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return Show(a, cmd, read(page.Page()), show) },
	}
	define(&page, cmd)
	return cmd
}
