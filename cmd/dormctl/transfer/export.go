package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/importer"
	"dormouse/internal/cli"
)

func exportCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "export FILE", Short: "Write a whole scope to a file, as of one log index", Args: cli.Exactly("FILE"),
		Long: `export writes everything in --scope to FILE, as of one log index: values,
checkpoints with their histories, threads, memories, sessions, reviews,
conversations, files, managers, instances, timers, tombstones and receipts of
erasures, and the scope's policy. "-" writes to stdout.

Not exported: claims (running sessions must be recovered, and holders take their
claims again, at a higher epoch), the record of requests, and the feed of changes.

"dormctl import --raw FILE" imports the file into a scope that holds nothing, of
this cluster or another one; with --verify it compares the two. A file that is
truncated or damaged is refused. FILE appears only once it is complete. One node
reads all rows: an export continues when the leader changes. When its own node stops,
dormctl begins again with another node, up to five times; it cannot take back what it
wrote to stdout, and fails.`,
		Example: `  dormctl export --scope acme acme.scope
  dormctl import --raw acme.scope --scope acme --endpoints other:7601`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				if args[0] == "-" {
					return exportTo(ctx, a, s, a.Stdout)
				}
				return exportFile(ctx, a, s, args[0])
			})
		},
	}
}

// exportTo writes to stdout.
func exportTo(ctx context.Context, a *kit.App, s kit.Store, w io.Writer) error {
	bar := cli.NewProgress(a.Stderr, a.Terminal, "exporting", 0, "rows")
	buffered := bufio.NewWriterSize(w, 1<<20)
	_, err := importer.ExportScope(ctx, s, buffered, importer.ScopeOptions{Scope: a.Scope, Progress: bar.Add})
	bar.End()
	return incomplete(ctx, errors.Join(err, buffered.Flush()))
}

func exportFile(ctx context.Context, a *kit.App, s kit.Store, path string) (err error) {
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("create the export: %w", err)
	}
	defer func() {
		if cleanup := file.Cleanup(); cleanup != nil && err == nil {
			err = fmt.Errorf("remove the unfinished export: %w", cleanup)
		}
	}()
	bar := cli.NewProgress(a.Stderr, a.Terminal, "exporting", 0, "rows")
	summary, err := importer.ExportScopeTo(ctx, s, file, importer.ScopeOptions{Scope: a.Scope, Progress: bar.Add}, func(err error) {
		a.Tell("the export begins again with another node: %v", err)
	})
	bar.End()
	if err != nil {
		return incomplete(ctx, err)
	}
	if err := finish(file, path); err != nil {
		return fmt.Errorf("finish the export: %w", err)
	}
	return printScope(a, summary, summary.Header.Scope)
}

// incomplete adds what to do to the error of an export. A scope that does not exist has nothing to export.
func incomplete(ctx context.Context, err error) error {
	if err == nil || kit.Missing(err) {
		return err
	}
	return interrupted(ctx, err, "the export is incomplete: run the same command again")
}

// ScopeFileDoc is the result of an export or of import --raw.
type ScopeFileDoc struct {
	Scope   string `json:"scope"` // scope that was exported, or imported into
	Cluster string `json:"cluster_id"`
	From    string `json:"exported_from"`
	Index   uint64 `json:"index"`
	Rows    uint64 `json:"rows"`
	Bytes   uint64 `json:"bytes"`
	Digest  string `json:"digest"`
	Resumed uint64 `json:"resumed_chunks"`
}

func printScope(a *kit.App, s importer.ScopeSummary, scope string) error {
	doc := ScopeFileDoc{
		Scope: scope, Cluster: s.Header.ClusterID, From: s.Header.Scope, Index: s.Header.Index,
		Rows: s.Footer.Rows, Bytes: s.Footer.Bytes, Digest: s.Footer.Digest, Resumed: s.Resumed,
	}
	var g cli.Grid
	g.Add("scope", doc.Scope)
	g.Add("exported from", doc.From)
	g.Add("cluster", doc.Cluster)
	g.Add("index", cli.Number(doc.Index))
	g.Add("rows", cli.Number(doc.Rows))
	g.Add("bytes", cli.Number(doc.Bytes))
	g.Add("digest", doc.Digest)
	if doc.Resumed > 0 {
		g.Add("chunks applied before", cli.Number(doc.Resumed))
	}
	return a.Print(doc, g)
}
