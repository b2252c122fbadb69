package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func filesCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("files", "Files: values under a path", filesList(a), filesCat(a), filesPut(a), filesMove(a), filesRemove(a))
	cmd.Long = `A file is a value under a path. A path begins with a slash, and no part of it is
empty, . or .. . The values commands show a file as file:PATH.`
	return cmd
}

func filesList(a *kit.App) *cobra.Command {
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
			if asked.Prefix != "" && asked.Prefix[0] != '/' {
				return cli.Usagef("%q does not begin with a slash, as all paths do", asked.Prefix)
			}
			asked.Prefix = agent.FilePrefix(asked.Prefix)
			if asked.After != "" {
				asked.After = agent.FilePrefix(asked.After)
			}
			return kit.Show(a, cmd, &agent.ListValues{Page: asked}, func(list *agent.ValueList) error {
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
	page.DefineRows(cmd)
	return cmd
}

func filesCat(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get PATH", Aliases: []string{"cat"}, Short: "Write a file's bytes to stdout", Args: cli.Exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := fileKey(args[0])
			if err != nil {
				return err
			}
			return fileError(kit.Show(a, cmd, &agent.GetValue{Key: key}, func(v *agent.Value) error {
				if _, err := a.Stdout.Write(v.Bytes); err != nil {
					return fmt.Errorf("write the file: %w", err)
				}
				return nil
			}))
		},
	}
}

func filesPut(a *kit.App) *cobra.Command {
	var op agent.PutValue
	var guard kit.GuardFlags
	var metadata string
	cmd := &cobra.Command{
		Use: "put PATH CONTENT", Short: "Write a file", Args: cli.Exactly("PATH", "CONTENT"),
		Long: "put writes a file. CONTENT is the text itself, @FILE, or - for stdin.",
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
			return changeFile(a, cmd, &op)
		},
	}
	cmd.Flags().StringVar(&op.ContentType, "content-type", "application/octet-stream", "media type of the bytes")
	cmd.Flags().StringVar(&metadata, "metadata", "", "a JSON object, @FILE or - (default: unchanged)")
	kit.TTLFlag(cmd, &op.TTL)
	guard.Define(cmd, true)
	return cmd
}

func filesMove(a *kit.App) *cobra.Command {
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "mv PATH TO", Short: "Move a file atomically to a path that has no file", Args: cli.Exactly("PATH", "TO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := fileKey(args[0])
			if err != nil {
				return err
			}
			to, err := fileKey(args[1])
			if err != nil {
				return err
			}
			return changeFile(a, cmd, &agent.ReviseValue{Key: from, To: to, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation})
		},
	}
	guard.Define(cmd, true)
	return cmd
}

func filesRemove(a *kit.App) *cobra.Command {
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
			return remove(a, cmd, "file", args, ops)
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
func changeFile(a *kit.App, cmd *cobra.Command, op agent.Op) error {
	return fileError(kit.Change(a, cmd, op, func(written *agent.ValueResult) error {
		path, _ := agent.FilePath(written.Key)
		var g cli.Grid
		g.Add("file", path)
		g.Add("revision", cli.Number(written.Revision))
		g.Add("updated", cli.When(written.UpdatedAt))
		return a.Print(document.FileStampOf(written), g)
	}))
}

// fileError returns err with the path of a file in its message, instead of the key of
// its value.
func fileError(err error) error {
	var e *agent.Error
	if errors.As(err, &e) {
		e.Detail = strings.ReplaceAll(e.Detail, `value "`+agent.FilePrefix("/"), `file "/`)
	}
	return err
}
