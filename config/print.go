package config

import (
	"bytes"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Print writes c as YAML. A file with that content, in any directory, loads to c again. Paths are
// made absolute.
func (c Config) Print(w io.Writer) error {
	printed, err := c.absolute()
	if err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(printed); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	if err := encoder.Close(); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return nil
}
