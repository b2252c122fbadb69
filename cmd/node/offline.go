package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"dormouse/config"
	"dormouse/node"
)

const recoverLong = `recover is for a cluster that has lost the data of a majority of its voters for
good. It works offline, on the data directories that are left. Without
--force-new-cluster it only shows what each directory holds, the newest first.

With --force-new-cluster it makes a new cluster of one node from --data-dir, with
a new cluster id and a new cluster key. Every entry of the log is kept. The last
entries may not have been committed, so a write whose outcome was unknown may
have taken effect. Name the other surviving directories as arguments: a directory
that lacks entries of another one is refused. Entries that only lost disks held
are gone, also if they were acknowledged.

The old data stays in a directory of --data-dir. If recover is interrupted, run
it again. Never start the nodes of the old cluster again; let them join with
empty directories.`

func (p process) recoverCommand(file *string) *cobra.Command {
	var force, acceptLoss bool
	var output string
	command := &cobra.Command{
		Use:   "recover [DIR...]",
		Short: "Make a new cluster from a surviving node, after a majority is lost, offline",
		Long:  recoverLong,
		Example: `  dormoused recover ./n2 ./n3               what the directories hold
  dormoused recover --force-new-cluster --config n3.yaml --data-dir ./n3 ./n2`,
		RunE: func(cmd *cobra.Command, others []string) error {
			if output != "table" && output != "json" {
				return &usageError{fmt.Errorf("recover: --output %q must be table or json", output)}
			}
			if !force && len(others) > 0 {
				return p.showSurvivors(cmd.Context(), others, output)
			}
			c, err := p.load(*file, cmd.Flags())
			if err != nil {
				return err
			}
			if c.Node.Ephemeral {
				return &usageError{fmt.Errorf("recover: an ephemeral node has no data directory: omit --ephemeral")}
			}
			if !force {
				return p.showSurvivors(cmd.Context(), []string{c.Node.DataDir}, output)
			}
			return p.recover(cmd.Context(), &node.Recovery{Config: c, Others: others, AcceptLoss: acceptLoss}, output)
		},
	}
	command.Flags().BoolVar(&force, "force-new-cluster", false, "make a new cluster from --data-dir")
	command.Flags().BoolVar(&acceptLoss, "accept-loss", false, "recover a directory that lacks entries")
	command.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	config.Flags(command.Flags())
	return command
}

func (p process) showSurvivors(ctx context.Context, dirs []string, output string) error {
	var all []node.Survivor
	err := p.until(ctx, stopGrace, func(ctx context.Context) (err error) {
		all, err = node.Survivors(ctx, dirs)
		return err
	})
	if err != nil {
		return err
	}
	if output == "json" {
		return writeJSON(p.stdout, all)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "DIR\tNODE\tVOTERS\tLAST TERM\tLAST INDEX\tAPPLIED\tMISSING\tTERM\tCLUSTER") // Flush returns the error
	for _, s := range all {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.Dir, s.Node, strings.Join(s.Voters, ","), s.LastTerm, s.LastIndex, s.Applied, s.Missing, s.Term, s.ClusterID)
	}
	return w.Flush()
}

func (p process) recover(ctx context.Context, r *node.Recovery, output string) error {
	var done node.Recovered
	err := p.until(ctx, r.Config.Node.StopTimeout, func(ctx context.Context) (err error) {
		done, err = r.Run(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("recover %s: %w", r.Config.Node.DataDir, err)
	}
	if output == "json" {
		return writeJSON(p.stdout, done)
	}
	p.tell("node %s is cluster %s now; its state ends with entry %d of term %d of cluster %s", done.Node, done.NewClusterID, done.LastIndex, done.LastTerm, done.ClusterID)
	if done.Key != "" {
		p.tell("the new cluster key %s is in cluster.key of %s: give it to the nodes that join", done.Key, r.Config.Node.DataDir)
	}
	p.tell("the old data is in %s: remove it once the new cluster serves", done.Replaced)
	return nil
}

func (p process) backupCommand() *cobra.Command {
	var dir, out string
	command := &cobra.Command{
		Use:   "backup --data-dir DIR --out FILE",
		Short: "Write a backup of a node that does not run",
		Long: `backup writes the same file as "dormctl backup", from the data directory of a
node that does not run. It holds every entry of the node's log; the last ones may
not have been committed. A running cluster is backed up with dormctl.`,
		Example: "  dormoused backup --data-dir ./n3 --out dormouse.backup",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" || out == "" {
				return &usageError{fmt.Errorf("backup: name the directory with --data-dir DIR and the file with --out FILE")}
			}
			var s node.Survivor
			err := p.until(cmd.Context(), stopGrace, func(ctx context.Context) (err error) {
				s, err = node.BackupOffline(ctx, dir, out)
				return err
			})
			if err != nil {
				return fmt.Errorf("back up %s: %w", dir, err)
			}
			p.tell("wrote %s: node %s of cluster %s up to entry %d", out, s.Node, s.ClusterID, s.LastIndex)
			return nil
		},
	}
	command.Flags().StringVar(&dir, "data-dir", "", "data directory of the node")
	command.Flags().StringVar(&out, "out", "", "file to write")
	return command
}

func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
