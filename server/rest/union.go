package rest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// orNull returns a schema that also allows null.
func orNull(s *huma.Schema) *huma.Schema {
	switch {
	case s.Ref != "" || len(s.OneOf) > 0:
		return &huma.Schema{AnyOf: []*huma.Schema{s, {Type: "null"}}, Description: s.Description}
	case s.Type != "":
		s.Nullable = true
	}
	return s
}

// neverNull are the members for which null is not the default: a state of null would lose the
// state.
var neverNull = []string{"state"}

// bodyRules applies the rules of all bodies to a schema and all that it refers to: an optional
// member may also be null, and strings are not empty.
func bodyRules(r huma.Registry, s *huma.Schema, seen map[string]bool) {
	if s == nil || s.Ref != "" && seen[s.Ref] {
		return
	}
	if s.Ref != "" {
		seen[s.Ref] = true
		s = r.SchemaFromRef(s.Ref)
	}
	if s.Type == huma.TypeString && s.MinLength == nil && s.Enum == nil && s.ContentEncoding == "" {
		s.MinLength = &one
	}
	for _, each := range slices.Concat(s.OneOf, s.AnyOf, []*huma.Schema{s.Items}) {
		bodyRules(r, each, seen)
	}
	for name, member := range s.Properties {
		bodyRules(r, member, seen)
		if !slices.Contains(s.Required, name) && !slices.Contains(neverNull, name) {
			s.Properties[name] = orNull(member)
		}
	}
}

// addEmbedded adds the members of embedded types to the schemas of r: huma leaves out those of
// unexported types, though they are in the JSON.
func addEmbedded(r huma.Registry) {
	for done := map[string]bool{}; len(done) < len(r.Map()); {
		for _, name := range slices.Collect(maps.Keys(r.Map())) { // adding members may add schemas
			if !done[name] {
				done[name] = true
				addMembers(r, r.TypeFromRef(schemaPrefix+name), r.Map()[name])
			}
		}
	}
}

func addMembers(r huma.Registry, t reflect.Type, s *huma.Schema) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous || f.Type.Kind() != reflect.Struct {
			continue
		}
		part := huma.SchemaFromType(r, f.Type)
		addMembers(r, f.Type, part)
		for name, member := range part.Properties {
			if s.Properties[name] != nil {
				continue
			}
			s.Properties[name] = member
			if slices.Contains(part.Required, name) {
				s.Required = append(s.Required, name)
			}
		}
	}
	slices.Sort(s.Required)
}
