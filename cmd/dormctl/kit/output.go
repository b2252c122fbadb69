package kit

import (
	"fmt"

	"dormouse/internal/cli"
)

// The values of --output.
const (
	OutputTable = "table"
	OutputJSON  = "json"
	OutputYAML  = "yaml"
)

// Print writes a result in the format of --output: document as JSON or YAML, or g as
// a table.
func (a *App) Print(document any, g cli.Grid) error {
	if a.Output == OutputTable {
		return a.PrintGrid(g)
	}
	raw, err := cli.EncodeJSON(document)
	if err != nil {
		return err
	}
	if a.Output == OutputYAML {
		if raw, err = cli.ToYAML(raw); err != nil {
			return err
		}
	}
	if _, err := a.Stdout.Write(raw); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Event writes one result of a stream: a line of JSON, a YAML document, or a line of
// text.
func (a *App) Event(document any, line string) error {
	raw := []byte(cli.Clean(line) + "\n")
	if a.Output != OutputTable {
		var err error
		if raw, err = cli.EncodeJSON(document); err != nil {
			return err
		}
	}
	if a.Output == OutputYAML {
		body, err := cli.ToYAML(raw)
		if err != nil {
			return err
		}
		raw = append([]byte("---\n"), body...)
	}
	if _, err := a.Stdout.Write(raw); err != nil {
		return fmt.Errorf("write the event: %w", err)
	}
	return nil
}

// PrintGrid writes a table to stdout, and its note to stderr.
func (a *App) PrintGrid(g cli.Grid) error {
	if err := a.Write(g.Text()); err != nil {
		return err
	}
	if g.Note != "" {
		a.Tell("%s", g.Note)
	}
	return nil
}

// Write writes text to stdout.
func (a *App) Write(text string) error {
	if _, err := fmt.Fprint(a.Stdout, text); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Yes returns "yes" or "no".
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
