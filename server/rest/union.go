package rest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// anyOf is the schema of a value that is one of several types.
func anyOf(r huma.Registry, values ...any) *huma.Schema {
	schema := &huma.Schema{}
	for _, v := range values {
		schema.AnyOf = append(schema.AnyOf, r.Schema(reflect.TypeOf(v), true, ""))
	}
	return schema
}

// oneOf is the schema of a document whose member under key names its type.
func oneOf[T any](r huma.Registry, key string, kinds map[string]func() T) *huma.Schema {
	schema := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: key, Mapping: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		each := r.Schema(reflect.TypeOf(kinds[name]()), true, "")
		whole := r.SchemaFromRef(each.Ref)
		whole.Properties[key] = &huma.Schema{Type: huma.TypeString, Enum: []any{name}}
		whole.Required = append(whole.Required, key)
		schema.OneOf = append(schema.OneOf, each)
		schema.Discriminator.Mapping[name] = each.Ref
	}
	return schema
}

// orNull is the schema of what may also be null.
func orNull(s *huma.Schema) *huma.Schema {
	switch {
	case s.Ref != "" || len(s.OneOf) > 0:
		return &huma.Schema{AnyOf: []*huma.Schema{s, {Type: "null"}}, Description: s.Description}
	case s.Type != "":
		s.Nullable = true
	}
	return s
}

// TransformSchema says that a checkpoint may be without a thread.
func (*checkpoint) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["thread"] = orNull(s.Properties["thread"])
	return s
}

// TransformSchema says that a thaw may be without a thread.
func (*thawed) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["thread"] = orNull(s.Properties["thread"])
	return s
}

// neverNull are the members for which null is not the default: a state of null
// would be a state that is lost.
var neverNull = []string{"state"}

// bodyRules writes into a body's schema, and into all that it refers to, what
// holds for every body: a member that a caller may leave out may be null too,
// and strings are not empty.
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

// addEmbedded gives the schemas of r the members of the unexported types that
// their types embed: huma leaves them out, though they are in the JSON.
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
		if !f.Anonymous || f.IsExported() || f.Type.Kind() != reflect.Struct {
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
