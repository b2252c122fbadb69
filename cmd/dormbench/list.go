package main

import (
	"github.com/spf13/cobra"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/internal/cli"
	"dormouse/internal/version"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the systems, workloads and trials", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			type item struct {
				Kind string `json:"kind"`
				Name string `json:"name"`
				What string `json:"what"`
			}
			var items []item
			for _, name := range system.Names() {
				items = append(items, item{"system", name, system.What(name)})
			}
			for _, w := range load.Workloads {
				items = append(items, item{"workload", w.Name, w.What})
			}
			for _, t := range trials {
				items = append(items, item{"trial", t.name, t.what})
			}
			g := report.Grid{Head: []string{"kind", "name", "what"}}
			for _, i := range items {
				g.Rows = append(g.Rows, []string{i.Kind, i.Name, i.What})
			}
			return a.print(items, g.Text())
		},
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show this program's version", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			return a.print(map[string]string{"version": version.String()}, "dormbench "+version.String()+"\n")
		},
	}
}
