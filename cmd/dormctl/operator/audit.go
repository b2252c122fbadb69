package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/audit"
	"dormouse/cluster/keys"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/pause"
)

// auditDirDefault is the directory of the audit log of a node that runs in the working directory.
const auditDirDefault = "dormouse-data/audit"

func auditCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("audit", "Audit logs of nodes: who did what", auditTail(a), auditVerify(a))
	cmd.Long = `audit reads the files of a node's audit log. It needs no cluster. Without an argument it
reads ` + auditDirDefault + `.`
	cmd.Example = `  dormctl audit tail -f /var/lib/dormouse/audit
  dormctl audit verify /var/lib/dormouse/audit --cluster-key-file /var/lib/dormouse/cluster.key`
	return cmd
}

func auditTail(a *kit.App) *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use: "tail [DIR]", Short: "Show the last records of an audit log, and with -f new ones", Args: cli.Between(0, 1, "[DIR]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lines < 0 {
				return cli.Usagef("--lines is %d: use 0 or more", lines)
			}
			return tail(cmd.Context(), a, auditPath(args), lines, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "wait for new records")
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "records to show from the end")
	return cmd
}

func auditPath(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return auditDirDefault
}

// tailEvery is the interval at which tail looks for new records.
const tailEvery = 200 * time.Millisecond

// tail prints the last records, and with follow new ones until ctx ends.
func tail(ctx context.Context, a *kit.App, dir string, lines int, follow bool) error {
	last, err := audit.LastSeq(dir)
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	f := audit.NewFollower(dir, last+1-min(uint64(lines), last))
	defer f.Close() //nolint:errcheck // it was only read
	for {
		line, err := f.Next()
		switch {
		case errors.Is(err, io.EOF) && !follow:
			return nil
		case errors.Is(err, io.EOF):
			if !pause.For(ctx, tailEvery) {
				return nil
			}
			continue
		case err != nil:
			return fmt.Errorf("read the audit log: %w: check it with dormctl audit verify", err)
		}
		if err := a.Event(json.RawMessage(line.Raw), recordLine(&line.Record)); err != nil {
			return err
		}
	}
}

// recordLine returns a record as a line of text.
func recordLine(r *audit.Record) string {
	parts := []string{fmt.Sprintf("%d", r.Seq), r.Time, string(r.Kind)}
	for _, part := range []struct{ name, value string }{
		{"", r.Action},
		{"", string(r.Phase)},
		{"", r.Outcome},
		{"principal", r.Principal},
		{"token", r.Token},
		{"address", r.Address},
		{"scope", r.Scope},
		{"object", strings.Join(r.Object, "/")},
		{"verb", r.Verb},
		{"method", r.Method},
		{"detail", r.Detail},
		{"broken", r.Broken},
	} {
		switch {
		case part.value == "":
		case part.name == "":
			parts = append(parts, part.value)
		default:
			parts = append(parts, fmt.Sprintf("%s=%q", part.name, part.value))
		}
	}
	for _, part := range []struct {
		name  string
		value uint64
	}{{"begin", r.Begin}, {"index", r.Index}, {"bytes", uint64(r.Bytes)}, {"left_out", r.LeftOut}, {"torn", uint64(r.Torn)}} {
		if part.value != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", part.name, part.value))
		}
	}
	return strings.Join(parts, " ")
}

func auditVerify(a *kit.App) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use: "verify [FILE|DIR]", Short: "Check that no record of an audit log was changed, moved or removed", Args: cli.Between(0, 1, "[FILE|DIR]"),
		Long: `verify checks the hashes of an audit log: of all files of a directory, or of one file. With
--cluster-key-file it also checks the macs, which only a process with the cluster key can
compute. Without the key a log that was written again as a whole looks right. If something
is wrong, verify names the first bad line and ends with code 1.`,
		RunE: func(_ *cobra.Command, args []string) error {
			known, err := auditKeys(keyFile)
			if err != nil {
				return err
			}
			return verify(a, auditPath(args), known)
		},
	}
	cmd.Flags().StringVar(&keyFile, "cluster-key-file", "", "file of the cluster keys that the log was written with: checks the macs")
	return cmd
}

// auditKeys returns the keys of the macs that follow from the cluster keys of a file; nil without one.
func auditKeys(path string) (audit.Keys, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no key is an answer
	}
	ring, err := keys.ReadRing(path)
	if err != nil {
		return nil, fmt.Errorf("read the cluster key: %w", err)
	}
	all := audit.Keys{}
	for _, key := range ring {
		all[key.ID()] = key.Audit()
	}
	return all, nil
}

func verify(a *kit.App, path string, known audit.Keys) error {
	report, err := audit.Verify(path, known)
	if errors.Is(err, fs.ErrNotExist) {
		return kit.Exit(kit.ExitNotFound, err)
	}
	if err != nil {
		return err
	}
	var g cli.Grid
	g.Add("log", filepath.Clean(path))
	g.Add("files", cli.Number(report.Files))
	g.Add("good records", fmt.Sprintf("%d (%d to %d)", report.Lines, report.First, report.Last))
	g.Add("last hash", report.Hash)
	g.Add("macs checked", kit.Yes(report.Keyed))
	if report.Unfinished > 0 {
		g.Add("unfinished", fmt.Sprintf("%d bytes at the end: a record that is written now, or an interrupted one", report.Unfinished))
	}
	for _, note := range report.Notes {
		g.Add("note", fmt.Sprintf("line %d says: %s", note.Seq, note.Text))
	}
	if report.Fault != nil {
		g.Add("FAULT", report.Fault.String())
	}
	if err := a.Print(report, g); err != nil {
		return err
	}
	if report.Fault != nil {
		return kit.Exit(kit.ExitFailed, fmt.Errorf("the audit log is not whole: %s", report.Fault))
	}
	return nil
}
