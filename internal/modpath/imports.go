package modpath

import (
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// RewriteImports returns the content of a Go file whose imports below the module path
// from are below to instead. Nothing else changes: other strings of that form are keys
// and names. name is for errors.
func RewriteImports(name string, content []byte, from, to string) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, content, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range slices.Backward(file.Imports) {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		rest, ours := strings.CutPrefix(path, from)
		if !ours || rest != "" && rest[0] != '/' {
			continue
		}
		start, end := set.Position(spec.Path.Pos()).Offset, set.Position(spec.Path.End()).Offset
		content = slices.Replace(content, start, end, []byte(strconv.Quote(to+rest))...)
	}
	return content, nil
}
