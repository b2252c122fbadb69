package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func (a commands) valuesCommand() *cobra.Command {
	return cli.Group("values", "Opaque bytes under a key", a.valuesGet(), a.valuesPut(), a.valuesRemove(), a.valuesList())
}

func (a commands) valuesGet() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Write a value's bytes to stdout", Args: cli.Exactly("KEY"),
		Long: "get writes the bytes as they are to stdout; -o json and -o yaml show all that is known of the value, its bytes in base64.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				v, err := kit.Find[*agent.Value](ctx, a.App, s, &agent.GetValue{Key: args[0]})
				if err != nil {
					return err
				}
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

func (a commands) valuesPut() *cobra.Command {
	var op agent.PutValue
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "put KEY VALUE", Short: "Write a value", Args: cli.Exactly("KEY", "VALUE"),
		Long: "put writes a value: VALUE itself, what is in @FILE, or what comes from stdin for -.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Key, op.IfRevision, op.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			if op.Bytes, err = a.BytesArg("value", args[1]); err != nil {
				return err
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				result, err := a.Commit(ctx, s, &op)
				if err != nil {
					return err
				}
				written, err := kit.ResultOf[*agent.ValueResult](result, 0)
				if err != nil {
					return err
				}
				var g cli.Grid
				g.Add("value", written.Key)
				g.Add("revision", cli.Number(written.Revision))
				g.Add("updated", cli.When(written.UpdatedAt))
				return a.Print(document.ValueStampOf(written), g)
			})
		},
	}
	cmd.Flags().StringVar(&op.ContentType, "content-type", "application/octet-stream", "what the bytes are")
	kit.TTLFlag(cmd, &op.TTL)
	guard.Define(cmd, true)
	return cmd
}

func (a commands) valuesRemove() *cobra.Command {
	var guard kit.GuardFlags
	var seal time.Duration
	cmd := &cobra.Command{
		Use: "rm KEY...", Short: "Delete values, in one commit", Args: cli.Between(1, -1, "KEY..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, key := range args {
				ops = append(ops, &agent.DeleteValue{
					Key: key, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation, Seal: seal,
				})
			}
			return a.remove(cmd, "value", args, ops)
		},
	}
	guard.Define(cmd, true)
	kit.SealFlag(cmd, &seal)
	return cmd
}

func (a commands) valuesList() *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: "List values", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				list, err := kit.Find[*agent.ValueList](ctx, a.App, s, &agent.ListValues{Page: page.Page()})
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"key", "revision", "bytes", "content type", "updated", "expires"}, Note: kit.More(list.Next)}
				for _, r := range list.Items {
					g.Add(r.Key, cli.Number(r.Revision), cli.Number(r.Size), cli.OrDash(r.ContentType), cli.When(r.UpdatedAt), cli.When(r.ExpiresAt))
				}
				return a.Print(document.ListOf(list.Items, list.Next, document.ValueRowOf), g)
			})
		},
	}
	page.Define(cmd)
	return cmd
}
