package openapi

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const schemaPrefix = "#/components/schemas/"

// neverNull are the members for which null is not the default: a state of null would lose the
// state.
var neverNull = []string{"state"}

var one = 1

// OrNull returns a schema that also allows null.
func OrNull(s *huma.Schema) *huma.Schema {
	switch {
	case s.Ref != "" || len(s.OneOf) > 0:
		return &huma.Schema{AnyOf: []*huma.Schema{s, {Type: "null"}}, Description: s.Description}
	case s.Type != "":
		s.Nullable = true
	}
	return s
}

// parts returns the schemas that s directly consists of, without its properties.
func parts(s *huma.Schema) []*huma.Schema {
	all := slices.Concat(s.OneOf, s.AnyOf, s.AllOf, []*huma.Schema{s.Items})
	if each, ok := s.AdditionalProperties.(*huma.Schema); ok {
		all = append(all, each)
	}
	return all
}

// Request applies the rules of all bodies of requests to a schema and all that it refers to: an
// optional member may also be null, strings are not empty, and members have their limits. done
// holds the references that it need not visit again.
func Request(r huma.Registry, s *huma.Schema, done map[string]bool) {
	if s == nil || s.Ref != "" && done[s.Ref] {
		return
	}
	name := ""
	if s.Ref != "" {
		done[s.Ref] = true
		name = strings.TrimPrefix(s.Ref, schemaPrefix)
		s = r.SchemaFromRef(s.Ref)
	}
	if s.Type == huma.TypeString && s.MinLength == nil && s.Enum == nil && s.ContentEncoding == "" {
		s.MinLength = &one
	}
	for _, each := range parts(s) {
		Request(r, each, done)
	}
	for member, of := range s.Properties {
		bound(name, member, of)
		Request(r, of, done)
		if !slices.Contains(s.Required, member) && !slices.Contains(neverNull, member) {
			s.Properties[member] = OrNull(of)
		}
	}
}

// Answer allows further members in a schema and all that it refers to. done holds the references
// that it need not visit again.
func Answer(r huma.Registry, s *huma.Schema, done map[string]bool) {
	if s == nil || s.Ref != "" && done[s.Ref] {
		return
	}
	if s.Ref != "" {
		done[s.Ref] = true
		s = r.SchemaFromRef(s.Ref)
	}
	if s.AdditionalProperties == false {
		s.AdditionalProperties = nil
	}
	for _, each := range parts(s) {
		Answer(r, each, done)
	}
	for _, member := range s.Properties {
		Answer(r, member, done)
	}
}
