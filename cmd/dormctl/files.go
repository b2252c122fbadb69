package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func (a commands) filesCommand() *cobra.Command {
	cmd := cli.Group("files", "Files by path", a.filesList(), a.filesCat(), a.filesPut(), a.filesMove(), a.filesRemove())
	cmd.Long = `A file is a value under a path, which begins with a slash and has no part that
is empty, . or .. in it. values shows it too, as file:PATH.`
	return cmd
}

func (a commands) filesList() *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls [PATH]", Short: "List files in order of paths: all, or those under a path", Args: cli.Between(0, 1, "[PATH]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked := page.Page()
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
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				list, err := kit.Find[*agent.ValueList](ctx, a.App, s, &agent.ListValues{Page: asked})
				if err != nil {
					return err
				}
				next, _ := agent.FilePath(list.Next)
				g := cli.Grid{Head: []string{"path", "revision", "bytes", "content type", "updated", "metadata"}, Note: kit.More(next)}
				for _, r := range list.Items {
					path, _ := agent.FilePath(r.Key)
					g.Add(path, cli.Number(r.Revision), cli.Number(r.Size), cli.OrDash(r.ContentType), cli.When(r.UpdatedAt), cli.OrDash(cli.Short(r.Metadata)))
				}
				return a.Print(document.ListOf(list.Items, next, document.FileOf), g)
			})
		},
	}
	page.Define(cmd)
	return cmd
}

func (a commands) filesCat() *cobra.Command {
	return &cobra.Command{
		Use: "get PATH", Aliases: []string{"cat"}, Short: "Write a file's bytes to stdout, as they are", Args: cli.Exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := fileKey(args[0])
			if err != nil {
				return err
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				v, err := kit.Find[*agent.Value](ctx, a.App, s, &agent.GetValue{Key: key})
				if err != nil {
					return err
				}
				if _, err := a.Stdout.Write(v.Bytes); err != nil {
					return fmt.Errorf("write the file: %w", err)
				}
				return nil
			})
		},
	}
}

func (a commands) filesPut() *cobra.Command {
	var op agent.PutValue
	var guard kit.GuardFlags
	var metadata string
	cmd := &cobra.Command{
		Use: "put PATH CONTENT", Short: "Write a file", Args: cli.Exactly("PATH", "CONTENT"),
		Long: "put writes a file: CONTENT itself, what is in @FILE, or what comes from stdin for -.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.IfRevision, op.IfIncarnation = guard.Revision(), guard.IfIncarnation
			if op.Key, err = fileKey(args[0]); err != nil {
				return err
			}
			if op.Bytes, err = a.BytesArg("content", args[1]); err != nil {
				return err
			}
			if op.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			return a.changeFile(cmd, &op)
		},
	}
	cmd.Flags().StringVar(&op.ContentType, "content-type", "application/octet-stream", "what the bytes are")
	cmd.Flags().StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -; what the file has where absent")
	kit.TTLFlag(cmd, &op.TTL)
	guard.Define(cmd, true)
	return cmd
}

func (a commands) filesMove() *cobra.Command {
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "mv PATH TO", Short: "Move a file atomically; TO must not exist", Args: cli.Exactly("PATH", "TO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := fileKey(args[0])
			if err != nil {
				return err
			}
			to, err := fileKey(args[1])
			if err != nil {
				return err
			}
			return a.changeFile(cmd, &agent.ReviseValue{Key: from, To: to, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation})
		},
	}
	guard.Define(cmd, true)
	return cmd
}

func (a commands) filesRemove() *cobra.Command {
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "rm PATH...", Short: "Delete files, in one commit", Args: cli.Between(1, -1, "PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, path := range args {
				key, err := fileKey(path)
				if err != nil {
					return err
				}
				ops = append(ops, &agent.DeleteValue{Key: key, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation})
			}
			return a.remove(cmd, "file", args, ops)
		},
	}
	guard.Define(cmd, true)
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
func (a commands) changeFile(cmd *cobra.Command, op agent.Op) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		result, err := a.Commit(ctx, s, op)
		if err != nil {
			return err
		}
		written, err := kit.ResultOf[*agent.ValueResult](result, 0)
		if err != nil {
			return err
		}
		path, _ := agent.FilePath(written.Key)
		var g cli.Grid
		g.Add("file", path)
		g.Add("revision", cli.Number(written.Revision))
		g.Add("updated", cli.When(written.UpdatedAt))
		return a.Print(document.FileStampOf(written), g)
	})
}
