package main

import (
	"errors"

	"github.com/spf13/cobra"

	"dormouse/bench/report"
	"dormouse/internal/cli"
)

func (a *app) reportCommand() *cobra.Command {
	var results, picture string
	var callers int
	var strict bool
	cmd := &cobra.Command{
		Use: "report", Short: "Show a comparison again, and redraw its tables and plots", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			d, err := report.Read(results)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			if err := errors.Join(report.Write(d, results), a.show(d)); err != nil {
				return err
			}
			if picture != "" {
				if err := report.Picture(d, callers, picture); err != nil {
					return cli.Usagef("%w", err)
				}
			}
			for _, v := range report.Judge(d) {
				if strict && v.Outcome != report.Pass {
					return errors.New("not every bar was reached")
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&results, "results", "bench/results", "directory of the comparison")
	cmd.Flags().StringVar(&picture, "picture", "", "also draw the throughput as a multiple of etcd's into this SVG file")
	cmd.Flags().IntVar(&callers, "callers", 64, "number of callers of --picture")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail unless every bar is reached")
	return cmd
}

// show prints a comparison: the measurements and the bars.
func (a *app) show(d *report.Document) error {
	verdicts := report.Judge(d)
	text := report.Measured(d).Text()
	if len(d.Trials) > 0 {
		text += report.Tried(d).Text()
	}
	return a.print(struct {
		*report.Document
		Bars []report.Verdict `json:"bars"`
	}{d, verdicts}, text+report.Bars(verdicts).Text())
}
