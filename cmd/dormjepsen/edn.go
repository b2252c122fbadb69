package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload/appends"
)

func (a *app) ednCommand() *cobra.Command {
	var to string
	var listAppend bool
	cmd := &cobra.Command{
		Use: "edn FILE", Short: "Convert a history to Jepsen's format, for other checkers", Args: cli.Exactly("FILE"),
		Long: "edn writes a history in Jepsen's EDN format, one operation a line, for other checkers. It writes all calls with the workloads' names,\n" +
			"or, with --list-append, the appends and whole reads of the append workload in the format of Elle's list-append checker.\n\n" + exitTable,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := readHistory(args[0])
			if err != nil {
				return err
			}
			write := history.WriteEDN
			if listAppend {
				write = writeListAppend
			}
			if to == "" {
				return asEDN(write(a.stdout, h))
			}
			f, err := os.Create(to)
			if err != nil {
				return asEDN(err)
			}
			return asEDN(errors.Join(write(f, h), f.Close()))
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "file to write to, instead of standard output")
	cmd.Flags().BoolVar(&listAppend, "list-append", false, "only the append workload, in the format of Elle's list-append checker")
	return cmd
}

func writeListAppend(w io.Writer, h *history.History) error {
	all, err := appends.ListAppend(h)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("the append workload was not in the run")
	}
	return history.WriteTransactionsEDN(w, all)
}

// asEDN adds the operation to an error.
func asEDN(err error) error {
	if err != nil {
		return fmt.Errorf("write the history as EDN: %w", err)
	}
	return nil
}
