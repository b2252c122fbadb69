package config_test

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"dormouse/config"
)

// What Print writes may be moved to a file in any directory, where a relative path would name another file.
func TestAllPrintedPathsAreAbsolute(t *testing.T) {
	c := config.Default()
	c.Instances.Keys = []string{"a@example.com/s=relative"}
	n := 0
	sections := reflect.ValueOf(&c).Elem()
	for i := range sections.NumField() {
		section := sections.Field(i)
		for j := range section.NumField() {
			name := section.Type().Field(j).Name
			if path, ok := section.Field(j).Addr().Interface().(*string); ok && (strings.HasSuffix(name, "File") || strings.HasSuffix(name, "Dir")) {
				*path = "relative"
				n++
			}
		}
	}
	var printed strings.Builder
	if err := c.Print(&printed); err != nil {
		t.Fatal(err)
	}
	var settings map[string]map[string]any
	if err := yaml.Unmarshal([]byte(printed.String()), &settings); err != nil {
		t.Fatal(err)
	}
	for section, values := range settings {
		for name, value := range values {
			if value == "relative" {
				t.Errorf("%s.%s is still a relative path", section, name)
			}
		}
	}
	if n < 20 || !strings.Contains(printed.String(), "a@example.com/s=/") {
		t.Errorf("%d settings are paths; the printed settings:\n%s", n, &printed)
	}
	if c.Tracing.CAFile != "relative" {
		t.Error("Print has changed the configuration")
	}
}
