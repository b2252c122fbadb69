package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func threadsBytes(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "bytes THREAD ENTRY", Short: "Write the bytes of an entry to stdout", Args: cli.Exactly("THREAD", "ENTRY"),
		Long: "bytes writes the bytes of the entry with that id to stdout; -o json and -o yaml show the whole entry, and its bytes in base64.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetEntry{Thread: args[0], Entry: args[1]}, func(e *agent.Entry) error {
				switch {
				case a.Output != kit.OutputTable:
					return a.Print(document.EntryOf(*e), cli.Grid{})
				case e.ContentType == "":
					return agent.Errorf(agent.CodeNotFound, "entry %q has no bytes", args[1])
				}
				if _, err := a.Stdout.Write(e.Bytes); err != nil {
					return fmt.Errorf("write the bytes: %w", err)
				}
				return nil
			})
		},
	}
}
