package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

func (a *app) checkCommand() *cobra.Command {
	var page string
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Judge the history of an old run again", Args: cli.Exactly("FILE"),
		Long: "check judges the history of an earlier run. FILE is the history, packed with gzip or not, or the directory of the run.\n" +
			"It writes no files, except with --page.\n\n" + exitTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := readHistory(args[0])
			if err != nil {
				return err
			}
			run := jepsen.Judge(cmd.Context(), h)
			if page != "" {
				if err := report.WritePage(page, run); err != nil {
					return err
				}
			}
			if err := a.show(run); err != nil {
				return err
			}
			return verdict(run.Verdict, cmd.Context().Err() != nil)
		},
	}
	cmd.Flags().StringVar(&page, "page", "", "write the page of the run to this file")
	return cmd
}

// readHistory reads a history from a file or from the directory of its run.
func readHistory(path string) (*history.History, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cli.Usagef("there is no history to read: %w", err)
	}
	if info.IsDir() {
		dir := path
		path = filepath.Join(dir, report.HistoryName)
		if _, err := os.Stat(path); err != nil {
			path += packedSuffix
		}
		if _, err := os.Stat(path); err != nil {
			return nil, cli.Usagef("%s holds no run: there is neither %s nor %s%s in it", dir, report.HistoryName, report.HistoryName, packedSuffix)
		}
	}
	h, err := history.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	return h, nil
}
