package config_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"dormouse/config"
)

var rewrite = flag.Bool("rewrite", false, "write docs/settings.md")

const settingsPage = "../docs/settings.md"

// The settings page is generated from the code: each setting of a Config, with its default, its
// flag and the comment of its field.
func TestThePageOfSettingsIsWhatTheCodeSays(t *testing.T) {
	page := []byte(settingsOf(t))
	if *rewrite {
		if err := os.WriteFile(settingsPage, page, 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(there) != string(page) {
		t.Error("docs/settings.md is not what the code says: go test ./config -run PageOfSettings -rewrite")
	}
}

func settingsOf(t *testing.T) string {
	t.Helper()
	comments := fieldComments(t)
	var out strings.Builder
	out.WriteString(`# Settings

Reference: every setting of a node. A node reads a YAML file (` + "`--config`" + `), environment variables and flags. Flags override the environment, and the
environment overrides the file. The environment variable of a setting is ` + "`DORMOUSE_SECTION__KEY`" + `, such as ` + "`DORMOUSE_NODE__DATA_DIR`" + `. Commas separate the items of
a list. Relative paths in the file are relative to the file; those in the environment and in flags are relative to the working directory.
` + "`dormoused --print-config`" + ` prints the result.

This page is generated from the code: ` + "`go test ./config -run PageOfSettings -rewrite`" + `.
`)
	defaults := reflect.ValueOf(config.Default())
	for i := range defaults.NumField() {
		section := defaults.Type().Field(i)
		name := section.Tag.Get("yaml")
		fmt.Fprintf(&out, "\n## %s\n\n| setting | default | flag | |\n|---|---|---|---|\n", name)
		for j := range section.Type.NumField() {
			field := section.Type.Field(j)
			key := name + "." + field.Tag.Get("yaml")
			about := comments[section.Type.Name()+"."+field.Name]
			if about == "" {
				t.Errorf("setting %s has no comment", key)
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", key, shown(defaults.Field(i).Field(j)), flagOf(key), strings.ReplaceAll(about, "|", "\\|"))
		}
	}
	return out.String()
}

// fieldComments returns the comments after the fields, by type and field.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if fields, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					comments[spec.Name.Name+"."+name.Name] = strings.TrimSpace(field.Comment.Text())
				}
			}
		}
		return true
	})
	return comments
}

// shown returns a default as in the file.
func shown(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		return "`" + value.String() + "`"
	case []string, string:
		if v.Len() == 0 {
			return ""
		}
		return fmt.Sprintf("`%v`", value)
	case []config.CertificateRule, []config.OIDCRule:
		return ""
	default:
		return fmt.Sprintf("`%v`", value)
	}
}

// flagOf returns the flag of a setting.
func flagOf(key string) string {
	if name := config.FlagOf(key); name != "" {
		return "`--" + name + "`"
	}
	return ""
}
