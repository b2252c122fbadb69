package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"dormouse/importer"
)

func (a *app) exportCommand() *cobra.Command {
	var path string
	var o importer.ExportOptions
	cmd := &cobra.Command{
		Use: "export", Short: "Write a scope's values, checkpoints and threads as JSON lines", Args: exactly(),
		Long: `export writes what is in --scope, one record a line, to stdout or to --file:

  {"export": {"format": 1, "scope": "…"}}           the first line
  {"value": {"key", "content_type", "bytes", …}}    bytes in base64
  {"checkpoint": {"key", "version", "state", "thread": {"id", "rev", "head"}, …}}
  {"thread": {"id", "rev", "head", "floor", "metadata"}}
  {"entry": {"seq", "id", "at", "kind", "payload", "refs"}}   of the thread before it
  {"end": {"values", "checkpoints", "threads", "entries"}}    the last line, with counts

"dormctl import --raw" reads it back, into any scope, with the same entry ids,
times and heads; with --verify it compares. While others write, each thread and
checkpoint is as of the moment it was read; for one instant of everything, use
"dormctl backup".`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Scope = a.scope
			return a.stream(cmd.Context(), func(ctx context.Context, s store) error {
				if path == "" {
					_, err := a.export(ctx, s, a.stdout, o)
					return err
				}
				return a.exportFile(ctx, s, path, o)
			})
		},
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "write to this file, which appears only once it is complete (default stdout)")
	cmd.Flags().StringVar(&o.Prefix, "prefix", "", "only what begins so")
	cmd.Flags().DurationVar(&o.GiveUp, "give-up", 2*time.Minute, "end when nothing has been answered for so long")
	return cmd
}

func (a *app) export(ctx context.Context, s store, w io.Writer, o importer.ExportOptions) (importer.EndRecord, error) {
	bar := a.newProgress("exporting", 0, "records")
	o.Progress = bar.add
	buffered := bufio.NewWriterSize(w, 1<<20)
	end, err := importer.Export(ctx, s, buffered, o)
	bar.end()
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return end, interrupted(ctx, err, "what was written is no complete export")
	}
	return end, nil
}

func (a *app) exportFile(ctx context.Context, s store, path string, o importer.ExportOptions) (err error) {
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("create the export: %w", err)
	}
	defer func() {
		if cleanup := file.Cleanup(); cleanup != nil && err == nil {
			err = fmt.Errorf("remove the unfinished export: %w", cleanup)
		}
	}()
	end, err := a.export(ctx, s, file, o)
	if err != nil {
		return err
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("finish the export: %w", err)
	}
	return a.printRecords(end)
}
