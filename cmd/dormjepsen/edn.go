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
		Use: "edn FILE", Short: "Write a history as Jepsen does, for other checkers", Args: cli.Exactly("FILE"),
		Long: "edn writes a history in Jepsen's EDN, one operation a line, so that others can judge it too: all of it in the workloads' own words,\n" +
			"or, with --list-append, the appends and whole reads of the append workload as Elle's list-append checker takes them.\n\n" + exitTable,
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
	cmd.Flags().StringVar(&to, "to", "", "file to write to, in place of standard output")
	cmd.Flags().BoolVar(&listAppend, "list-append", false, "the append workload alone, as Elle's list-append checker takes it")
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

// asEDN says what was being done.
func asEDN(err error) error {
	if err != nil {
		return fmt.Errorf("write the history as EDN: %w", err)
	}
	return nil
}
