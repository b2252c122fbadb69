package main

import (
	"fmt"

	"dormouse/internal/cli"
)

// The forms of output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// print writes a result in the form that was asked for: the document as JSON
// or YAML, or the grid.
func (a *app) print(document any, g cli.Grid) error {
	if a.output == outputTable {
		return a.printGrid(g)
	}
	raw, err := cli.EncodeJSON(document)
	if err != nil {
		return err
	}
	if a.output == outputYAML {
		if raw, err = cli.ToYAML(raw); err != nil {
			return err
		}
	}
	if _, err := a.stdout.Write(raw); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// event prints one of a stream of results: a line of JSON, a YAML document, or
// a line of text.
func (a *app) event(document any, line string) error {
	raw := []byte(cli.Clean(line) + "\n")
	if a.output != outputTable {
		var err error
		if raw, err = cli.EncodeJSON(document); err != nil {
			return err
		}
	}
	if a.output == outputYAML {
		body, err := cli.ToYAML(raw)
		if err != nil {
			return err
		}
		raw = append([]byte("---\n"), body...)
	}
	if _, err := a.stdout.Write(raw); err != nil {
		return fmt.Errorf("write the event: %w", err)
	}
	return nil
}

func (a *app) printGrid(g cli.Grid) error {
	if err := a.write(g.Text()); err != nil {
		return err
	}
	if g.Note != "" {
		a.tell("%s", g.Note)
	}
	return nil
}

// write writes a result that is text already.
func (a *app) write(text string) error {
	if _, err := fmt.Fprint(a.stdout, text); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
