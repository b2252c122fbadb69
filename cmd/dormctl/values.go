package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func valuesCommand(a *kit.App) *cobra.Command {
	return cli.Group("values", "Values: bytes under a key", valuesGet(a), valuesPut(a), valuesRemove(a), valuesList(a))
}

func valuesGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Write a value's bytes to stdout", Args: cli.Exactly("KEY"),
		Long: "get writes the bytes to stdout; -o json and -o yaml show the value with its metadata, and its bytes in base64.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetValue{Key: args[0]}, func(v *agent.Value) error {
				if a.Output == kit.OutputTable {
					if _, err := a.Stdout.Write(v.Bytes); err != nil {
						return fmt.Errorf("write the value: %w", err)
					}
					return nil
				}
				return a.Print(document.ValueOf(v), cli.Grid{})
			})
		},
	}
}

func valuesPut(a *kit.App) *cobra.Command {
	var op agent.PutValue
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "put KEY VALUE", Short: "Write a value", Args: cli.Exactly("KEY", "VALUE"),
		Long: "put writes a value. VALUE is the text itself, @FILE, or - for stdin.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Key, op.IfRevision, op.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			if op.Bytes, err = a.BytesArg("value", args[1]); err != nil {
				return err
			}
			return kit.Change(a, cmd, &op, func(written *agent.ValueResult) error {
				var g cli.Grid
				g.Add("value", written.Key)
				g.Add("revision", revisionCell(written.Revision, written.Skipped))
				g.Add("updated", cli.When(written.UpdatedAt))
				return a.Print(document.ValueStampOf(written), g)
			})
		},
	}
	cmd.Flags().StringVar(&op.ContentType, "content-type", "application/octet-stream", "media type of the bytes")
	cmd.Flags().BoolVar(&op.SkipExisting, "skip-existing", false, "keep a value that exists")
	kit.TTLFlag(cmd, &op.TTL)
	guard.Define(cmd, true)
	return cmd
}

func valuesRemove(a *kit.App) *cobra.Command {
	cmd := removeCommand(a, "value", "KEY...", "Delete values, in one commit", true,
		func(key string, guard kit.GuardFlags, seal time.Duration) agent.Op {
			return &agent.DeleteValue{Key: key, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation, Seal: seal}
		})
	return orByPrefix(a, cmd, agent.ChangedValue, "KEY...")
}

func valuesList(a *kit.App) *cobra.Command {
	var body bool
	var where agent.Where
	read := func(page agent.Page) agent.Read { return &agent.ListValues{Page: page, Body: body, Where: where} }
	cmd := kit.ListRows(a, "List values", read, func(list *agent.ValueList) error {
		g := cli.Grid{Head: []string{"key", "revision", "bytes", "content type", "updated", "expires"}, Note: kit.More(list.Next)}
		for _, r := range list.Items {
			g.Add(r.Key, cli.Number(r.Revision), cli.Number(r.Size), cli.OrDash(r.ContentType), cli.When(r.UpdatedAt), cli.When(r.ExpiresAt))
		}
		return a.Print(document.ListOf(list.Items, list.Next, document.ValueRowOf), g)
	})
	kit.WhereFlag(cmd, &where)
	cmd.Flags().BoolVar(&body, "body", false, "with the bytes, which -o json and yaml show in base64")
	return cmd
}
