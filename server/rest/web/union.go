package web

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// addEmbedded adds the members of embedded types to the schemas of r: huma leaves out those of
// unexported types, though they are in the JSON.
func addEmbedded(r huma.Registry) {
	for done := map[string]bool{}; len(done) < len(r.Map()); {
		for _, name := range slices.Collect(maps.Keys(r.Map())) { // adding members may add schemas
			if of := r.TypeFromRef(schemaPrefix + name); !done[name] {
				done[name] = true
				if of != nil { // not one of a schema that is made here
					addMembers(r, of, r.Map()[name])
				}
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
