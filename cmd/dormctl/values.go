package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/cli"
)

func (a *app) valuesCommand() *cobra.Command {
	return cli.Group("values", "Opaque bytes under a key", a.valuesGet(), a.valuesPut(), a.valuesRemove(), a.valuesList())
}

func (a *app) valuesGet() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Write a value's bytes to stdout", Args: cli.Exactly("KEY"),
		Long: "get writes the bytes as they are to stdout; -o json and -o yaml show all that is known of the value, its bytes in base64.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				v, err := find[*agent.Value](ctx, a, s, &agent.GetValue{Key: args[0]})
				if err != nil {
					return err
				}
				if a.output == outputTable {
					if _, err := a.stdout.Write(v.Bytes); err != nil {
						return fmt.Errorf("write the value: %w", err)
					}
					return nil
				}
				return a.print(document.ValueOf(v), cli.Grid{})
			})
		},
	}
}

func (a *app) valuesPut() *cobra.Command {
	var op agent.PutValue
	var guard guardFlags
	cmd := &cobra.Command{
		Use: "put KEY VALUE", Short: "Write a value", Args: cli.Exactly("KEY", "VALUE"),
		Long: "put writes a value: VALUE itself, what is in @FILE, or what comes from stdin for -.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Key, op.IfRevision, op.IfIncarnation = args[0], guard.revision(), guard.ifIncarnation
			if op.Bytes, err = a.bytesArg("value", args[1]); err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, s store) error {
				result, err := a.commit(ctx, s, &op)
				if err != nil {
					return err
				}
				written, err := resultOf[*agent.ValueResult](result, 0)
				if err != nil {
					return err
				}
				var g cli.Grid
				g.Add("value", written.Key)
				g.Add("revision", cli.Number(written.Revision))
				g.Add("updated", cli.When(written.UpdatedAt))
				return a.print(document.ValueStampOf(written), g)
			})
		},
	}
	cmd.Flags().StringVar(&op.ContentType, "content-type", "application/octet-stream", "what the bytes are")
	ttlFlag(cmd, &op.TTL)
	guard.define(cmd, true)
	return cmd
}

func (a *app) valuesRemove() *cobra.Command {
	var guard guardFlags
	var seal time.Duration
	cmd := &cobra.Command{
		Use: "rm KEY...", Short: "Delete values, in one commit", Args: cli.Between(1, -1, "KEY..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, key := range args {
				ops = append(ops, &agent.DeleteValue{
					Key: key, IfRevision: guard.revision(), IfIncarnation: guard.ifIncarnation, Seal: seal,
				})
			}
			return a.remove(cmd, "value", args, ops)
		},
	}
	guard.define(cmd, true)
	sealFlag(cmd, &seal)
	return cmd
}

func (a *app) valuesList() *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: "List values", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				list, err := find[*agent.ValueList](ctx, a, s, &agent.ListValues{Page: page.page()})
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"key", "revision", "bytes", "content type", "updated", "expires"}, Note: more(list.Next)}
				for _, r := range list.Items {
					g.Add(r.Key, cli.Number(r.Revision), cli.Number(r.Size), cli.OrDash(r.ContentType), cli.When(r.UpdatedAt), cli.When(r.ExpiresAt))
				}
				return a.print(document.ListOf(list.Items, list.Next, document.ValueRowOf), g)
			})
		},
	}
	page.define(cmd)
	return cmd
}
