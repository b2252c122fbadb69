package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"dormouse/jepsen/history"
)

func (a *app) ednCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "edn FILE", Short: "Write a history as Jepsen does, for other checkers", Args: exactly("FILE"),
		Long: "edn writes a history in Jepsen's EDN, one operation a line, so that Elle or Knossos can judge it too.\n\n" + exitTable,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := readHistory(args[0])
			if err != nil {
				return err
			}
			if to == "" {
				return writeEDN(a.stdout, h)
			}
			f, err := os.Create(to)
			if err != nil {
				return fmt.Errorf("write the history as EDN: %w", err)
			}
			return errors.Join(writeEDN(f, h), f.Close())
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "file to write to, in place of standard output")
	return cmd
}

func writeEDN(w io.Writer, h *history.History) error {
	if err := history.WriteEDN(w, h); err != nil {
		return fmt.Errorf("write the history as EDN: %w", err)
	}
	return nil
}
