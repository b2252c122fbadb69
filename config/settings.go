package config

import (
	"iter"
	"maps"
	"net/url"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Setting is one setting of a node, as a configuration file writes it.
type Setting struct {
	Name    string // such as http.addr
	Value   string
	Default string
}

// Settings returns all settings of c, in the order of their documentation. User names, passwords and
// queries of URLs are left out: they may be secrets. No other setting holds one, only paths of files.
func (c Config) Settings() []Setting {
	var all []Setting
	byDefault := DefaultFor(c.Cluster.Timing)
	defaults := maps.Collect(byDefault.fields())
	for name, value := range c.fields() {
		all = append(all, Setting{Name: name, Value: asText(withoutSecrets(value)), Default: asText(defaults[name])})
	}
	return all
}

// fields yields the fields of all settings by name, such as http.addr. They may be set.
func (c *Config) fields() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		sections := reflect.ValueOf(c).Elem()
		for i := range sections.NumField() {
			section, name := sections.Field(i), sections.Type().Field(i).Tag.Get("yaml")
			for j := range section.NumField() {
				if !yield(name+"."+section.Type().Field(j).Tag.Get("yaml"), section.Field(j)) {
					return
				}
			}
		}
	}
}

// asText returns a value as YAML on one line.
func asText(v reflect.Value) string {
	var node yaml.Node
	if err := node.Encode(v.Interface()); err != nil {
		return ""
	}
	node.Style = yaml.FlowStyle
	if node.Kind == yaml.ScalarNode {
		return node.Value
	}
	text, err := yaml.Marshal(&node)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// withoutSecrets returns a value without what may be secret in URLs. The URLs of a list are origins, which
// have no such part.
func withoutSecrets(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.String || !strings.Contains(v.String(), "://") {
		return v
	}
	u, err := url.Parse(v.String())
	if err != nil {
		return reflect.ValueOf("(not shown)")
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return reflect.ValueOf(u.String())
}
