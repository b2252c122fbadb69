package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// watchDefault is how long doctor looks at the nodes.
const watchDefault = 3 * time.Second

// report is the result of doctor.
type report struct {
	ClusterID string    `json:"cluster_id"`
	Time      int64     `json:"time"`
	Nodes     int       `json:"nodes"`
	Checks    []string  `json:"checks"`
	Findings  []finding `json:"findings"`
}

func doctorCommand(a *kit.App) *cobra.Command {
	var watch time.Duration
	var state bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Find out what is wrong with the cluster, and what to do", Args: cli.Exactly(),
		Long: `doctor asks every node for its status, settings and metrics, and checks them: leader,
quorum, lag, versions, clocks, disks and their flushes, compactions, certificates,
gossip, backups, audit log and settings. It changes nothing. With --state it also compares all
rows of the nodes, each of which then reads all of its data.

With tokens it needs one that may change the cluster. It exits with 0 if nothing is
wrong, 7 if there are warnings, and 8 if there are problems.`,
		Example: `  dormctl doctor
  dormctl doctor -o json | jq '.findings[] | select(.severity == "problem")'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch < 0 || watch > time.Minute {
				return cli.Usagef("--watch is %v: use 0 to 1m", watch)
			}
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				f, err := gather(ctx, a, s, watch, state)
				if err != nil {
					return err
				}
				return printFindings(a, f, examine(f))
			})
		},
	}
	cmd.Flags().DurationVar(&watch, "watch", watchDefault, "how long to look at the nodes' counters")
	cmd.Flags().BoolVar(&state, "state", false, "also compare all rows of the nodes")
	return cmd
}

// printFindings prints the findings, and returns an error with the exit code of the worst.
func printFindings(a *kit.App, f *facts, found findings) error {
	r := report{ClusterID: f.Cluster.ClusterID, Time: f.At.UnixMilli(), Findings: append([]finding{}, found...)}
	for _, n := range f.Nodes {
		if !n.Member.Host {
			r.Nodes++
		}
	}
	for _, c := range checks {
		r.Checks = append(r.Checks, c.name)
	}
	g := cli.Grid{Head: []string{"severity", "check", "node", "finding", "action"}}
	for _, one := range found {
		g.Add(string(one.Severity), one.Check, cli.OrDash(one.Node), one.What, one.Do)
	}
	switch {
	case a.Output == kit.OutputTable && len(found) == 0:
		if err := a.Write(fmt.Sprintf("%d checks of %d nodes found nothing wrong\n", len(checks), r.Nodes)); err != nil {
			return err
		}
	case a.Output == kit.OutputTable:
		if err := a.Write(asText(found)); err != nil {
			return err
		}
	default:
		if err := a.Print(r, g); err != nil {
			return err
		}
	}
	switch found.worst() {
	case problem:
		return kit.Exit(kit.ExitProblem, fmt.Errorf("doctor found problems"))
	case warning:
		return kit.Exit(kit.ExitWarning, fmt.Errorf("doctor found warnings"))
	default:
		return nil
	}
}

// asText returns findings as paragraphs: a table would be wider than a terminal.
func asText(found findings) string {
	text := ""
	for _, one := range found {
		where := ""
		if one.Node != "" {
			where = " on " + one.Node
		}
		text += cli.Clean(fmt.Sprintf("%-8s %s%s: %s", one.Severity, one.Check, where, one.What)) + "\n" +
			cli.Clean("         "+one.Do) + "\n"
	}
	return text
}
