package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/cli"
)

func (a *app) filesCommand() *cobra.Command {
	cmd := cli.Group("files", "Files by path", a.filesList(), a.filesCat(), a.filesPut(), a.filesMove(), a.filesRemove())
	cmd.Long = `A file is a value under a path, which begins with a slash and has no part that
is empty, . or .. in it. values shows it too, as file:PATH.`
	return cmd
}

func (a *app) filesList() *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use: "ls [PATH]", Short: "List files in order of paths: all, or those under a path", Args: cli.Between(0, 1, "[PATH]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked := page.page()
			if len(args) == 1 {
				if asked.Prefix != "" {
					return cli.Usagef("PATH and --prefix say the same: give one")
				}
				asked.Prefix = strings.TrimSuffix(args[0], "/") + "/"
			}
			asked.Prefix = agent.FilePrefix(asked.Prefix)
			if asked.After != "" {
				asked.After = agent.FilePrefix(asked.After)
			}
			return a.with(cmd, func(ctx context.Context, s store) error {
				list, err := find[*agent.ValueList](ctx, a, s, &agent.ListValues{Page: asked})
				if err != nil {
					return err
				}
				next, _ := agent.FilePath(list.Next)
				g := cli.Grid{Head: []string{"path", "revision", "bytes", "content type", "updated", "metadata"}, Note: more(next)}
				for _, r := range list.Items {
					path, _ := agent.FilePath(r.Key)
					g.Add(path, cli.Number(r.Revision), cli.Number(r.Size), cli.OrDash(r.ContentType), cli.When(r.UpdatedAt), cli.OrDash(cli.Short(r.Metadata)))
				}
				return a.print(document.ListOf(list.Items, next, document.FileOf), g)
			})
		},
	}
	page.define(cmd)
	return cmd
}

func (a *app) filesCat() *cobra.Command {
	return &cobra.Command{
		Use: "get PATH", Aliases: []string{"cat"}, Short: "Write a file's bytes to stdout, as they are", Args: cli.Exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := fileKey(args[0])
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, s store) error {
				v, err := find[*agent.Value](ctx, a, s, &agent.GetValue{Key: key})
				if err != nil {
					return err
				}
				if _, err := a.stdout.Write(v.Bytes); err != nil {
					return fmt.Errorf("write the file: %w", err)
				}
				return nil
			})
		},
	}
}

func (a *app) filesPut() *cobra.Command {
	var op agent.PutValue
	var guard guardFlags
	var metadata string
	cmd := &cobra.Command{
		Use: "put PATH CONTENT", Short: "Write a file", Args: cli.Exactly("PATH", "CONTENT"),
		Long: "put writes a file: CONTENT itself, what is in @FILE, or what comes from stdin for -.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.IfRevision, op.IfIncarnation = guard.revision(), guard.ifIncarnation
			if op.Key, err = fileKey(args[0]); err != nil {
				return err
			}
			if op.Bytes, err = a.bytesArg("content", args[1]); err != nil {
				return err
			}
			if op.Metadata, err = a.optionalObject("metadata", metadata); err != nil {
				return err
			}
			return a.changeFile(cmd, &op)
		},
	}
	cmd.Flags().StringVar(&op.ContentType, "content-type", "application/octet-stream", "what the bytes are")
	cmd.Flags().StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -; what the file has where absent")
	ttlFlag(cmd, &op.TTL)
	guard.define(cmd, true)
	return cmd
}

func (a *app) filesMove() *cobra.Command {
	var guard guardFlags
	cmd := &cobra.Command{
		Use: "mv PATH TO", Short: "Move a file, all at once, where there is none", Args: cli.Exactly("PATH", "TO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := fileKey(args[0])
			if err != nil {
				return err
			}
			to, err := fileKey(args[1])
			if err != nil {
				return err
			}
			return a.changeFile(cmd, &agent.ReviseValue{Key: from, To: to, IfRevision: guard.revision(), IfIncarnation: guard.ifIncarnation})
		},
	}
	guard.define(cmd, true)
	return cmd
}

func (a *app) filesRemove() *cobra.Command {
	var guard guardFlags
	cmd := &cobra.Command{
		Use: "rm PATH...", Short: "Delete files, in one commit", Args: cli.Between(1, -1, "PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, path := range args {
				key, err := fileKey(path)
				if err != nil {
					return err
				}
				ops = append(ops, &agent.DeleteValue{Key: key, IfRevision: guard.revision(), IfIncarnation: guard.ifIncarnation})
			}
			return a.remove(cmd, "file", args, ops)
		},
	}
	guard.define(cmd, true)
	return cmd
}

// fileKey is the key of a file that was named on the command line.
func fileKey(path string) (string, error) {
	key, err := agent.FileKey(path)
	if err != nil {
		return "", cli.Usagef("%w", err)
	}
	return key, nil
}

// changeFile commits an op on a file and shows where it is.
func (a *app) changeFile(cmd *cobra.Command, op agent.Op) error {
	return a.with(cmd, func(ctx context.Context, s store) error {
		result, err := a.commit(ctx, s, op)
		if err != nil {
			return err
		}
		written, err := resultOf[*agent.ValueResult](result, 0)
		if err != nil {
			return err
		}
		path, _ := agent.FilePath(written.Key)
		var g cli.Grid
		g.Add("file", path)
		g.Add("revision", cli.Number(written.Revision))
		g.Add("updated", cli.When(written.UpdatedAt))
		return a.print(document.FileStampOf(written), g)
	})
}
