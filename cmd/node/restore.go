package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/config"
	"dormouse/node"
)

const restoreLong = `restore fills an empty data directory and makes it the one node of a new cluster,
with a new cluster id. Start it with the same settings afterwards; the other nodes
join it with empty directories. There is no restore into a running cluster.

--backup takes the file of "dormctl backup". --from takes the destination of the
scheduled backups: restore chooses the newest backup at or before --at, and
replays the shipped log up to exactly that entry or instant. It says what it does
before it does it, and makes the node only once the whole state has been built.
What is missing, damaged or not signed by a trusted key is an error.`

// archiveFlags are the flags that name the scheduled backups of a cluster.
func archiveFlags(fs *pflag.FlagSet, a *node.Archive) {
	fs.StringVar(&a.URL, "from", "", "destination of the backups: file:///DIRECTORY, s3://BUCKET, gs://BUCKET or azblob://CONTAINER")
	fs.StringVar(&a.Cluster, "cluster", "", "id of the cluster whose backups to use (default: the only one there)")
	fs.StringArrayVar(&a.PublicKeys, "public-key", nil, "public key whose signatures to trust, as \"dormctl backup ls\" shows it; repeatable")
	fs.StringArrayVar(&a.KeyFiles, "trust-key-file", nil, "cluster key file whose signatures to trust; repeatable")
	fs.BoolVar(&a.AnySigner, "any-signer", false, "trust every signature: anyone who can write to the destination may have made the backup")
	fs.StringArrayVar(&a.IdentityFiles, "identity", nil, "file of an age identity that decrypts the backups; repeatable")
	fs.StringVar(&a.Program, "blob-program", "", "path of dormblob, for other URLs than file:// (default: beside dormoused, or in $PATH)")
}

func (p process) restoreCommand(file *string) *cobra.Command {
	var backup, at, output string
	var archive node.Archive
	var dry bool
	command := &cobra.Command{
		Use:   "restore (--backup FILE | --from URL [--at POINT]) --data-dir DIR --node-id NAME",
		Short: "Found a new cluster from a backup, offline",
		Long:  restoreLong,
		Example: `  dormoused restore --backup dormouse.backup --data-dir ./dormouse-data --node-id n1
  dormoused restore --from file:///backups --at 2026-11-25T13:30:00Z --trust-key-file cluster.key \
            --data-dir ./dormouse-data --node-id n1
  dormoused restore --from s3://backups --at 120345 --public-key dormpub_… --identity age.key --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (backup == "") == (archive.URL == ""):
				return &usageError{fmt.Errorf("restore: name the backup with --backup FILE, or the destination of the scheduled backups with --from URL")}
			case archive.URL == "" && (at != "" || dry):
				return &usageError{fmt.Errorf("restore: --at and --dry-run need --from: a file of \"dormctl backup\" is of one instant")}
			case output != "table" && output != "json":
				return &usageError{fmt.Errorf("restore: --output %q must be table or json", output)}
			}
			var point node.Point
			if archive.URL != "" {
				var err error
				if point, err = node.NewPoint(archive, at); err != nil {
					return &usageError{fmt.Errorf("restore: %w", err)}
				}
				point.Tell = p.tell
			}
			if dry {
				return p.verifying(cmd.Context(), output, func(ctx context.Context) (node.Restored, error) { return node.RehearsePoint(ctx, point, "") })
			}
			c, err := p.load(*file, cmd.Flags())
			if err != nil {
				return err
			}
			if c.Node.Ephemeral {
				return &usageError{fmt.Errorf("restore: an ephemeral node has no data directory to restore into: omit --ephemeral")}
			}
			if archive.URL != "" {
				return p.restoreInto(cmd.Context(), c, archive.URL, output, func(ctx context.Context) (node.Restored, error) { return node.RestorePoint(ctx, c, point) })
			}
			return p.restoreInto(cmd.Context(), c, backup, output, func(ctx context.Context) (node.Restored, error) { return p.restore(ctx, c, backup) })
		},
	}
	command.Flags().StringVar(&backup, "backup", "", "file that dormctl backup wrote")
	command.Flags().StringVar(&at, "at", "", "with --from: the last entry of the state, or an instant in RFC 3339 (default: all that was shipped)")
	command.Flags().BoolVar(&dry, "dry-run", false, "with --from: build the state in a temporary directory, and write nothing else")
	command.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	archiveFlags(command.Flags(), &archive)
	config.Flags(command.Flags())
	return command
}

// restoreInto restores a backup, or a point in time, into c's data directory.
func (p process) restoreInto(ctx context.Context, c config.Config, from, output string, restore func(context.Context) (node.Restored, error)) error {
	var done node.Restored
	err := p.until(ctx, c.Node.StopTimeout, func(ctx context.Context) (err error) {
		done, err = restore(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("restore %s: %w", from, err)
	}
	p.tell("restored %s into %s: start the node with the same settings", from, c.Node.DataDir)
	return p.showRestored(done, output)
}

func (p process) verifyCommand() *cobra.Command {
	var archive node.Archive
	var name, output string
	var all bool
	command := &cobra.Command{
		Use:   "verify --from URL",
		Short: "Restore scheduled backups in a temporary directory, and compare their states",
		Long: `verify restores the newest backup at a destination in a temporary directory ($TMPDIR),
compares the hash of all rows with the one that the node had, and replays the
shipped log to its end. With --all it restores each backup. It changes nothing.`,
		Example: `  dormoused verify --from file:///backups --trust-key-file cluster.key
  dormoused verify --from s3://backups --all --public-key dormpub_… --identity age.key -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case archive.URL == "":
				return &usageError{fmt.Errorf("verify: name the destination of the backups with --from URL")}
			case all && name != "":
				return &usageError{fmt.Errorf("verify: use --name or --all, not both")}
			case output != "table" && output != "json":
				return &usageError{fmt.Errorf("verify: --output %q must be table or json", output)}
			}
			return p.verifying(cmd.Context(), output, func(ctx context.Context) (node.Restored, error) {
				return node.VerifyArchive(ctx, node.Point{Archive: archive, Tell: p.tell}, name, all, "")
			})
		},
	}
	command.Flags().StringVar(&name, "name", "", "name of the backup to verify (default: the newest one, and the log after it)")
	command.Flags().BoolVar(&all, "all", false, "verify each backup, and the log after the oldest one whose log is kept")
	command.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	archiveFlags(command.Flags(), &archive)
	return command
}

func (p process) verifying(ctx context.Context, output string, verify func(context.Context) (node.Restored, error)) error {
	var done node.Restored
	err := p.until(ctx, stopGrace, func(ctx context.Context) (err error) {
		done, err = verify(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return p.showRestored(done, output)
}

func (p process) showRestored(done node.Restored, output string) error {
	if output == "json" {
		return writeJSON(p.stdout, done)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "CLUSTER\tBACKUP\tSEGMENTS\tENTRIES\tINDEX\tTIME\tSTATE HASH\tNEW CLUSTER") // Flush returns the error
	_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%.16s\t%s\n", done.ClusterID, done.Backup, done.Segments, done.Entries, done.Index, done.When(), dash(done.StateHash), dash(done.NewCluster))
	return w.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
