package rest

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/strictjson"
)

// newSchemas returns an empty registry of schemas. Documents whose JSON differs from their Go types
// have the schemas below.
func newSchemas() huma.Registry {
	r := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	for of, schema := range map[reflect.Type]reflect.Type{
		typeOf[document.JSON]():          typeOf[objectSchema](),
		typeOf[document.AnyValue]():      typeOf[anySchema](),
		typeOf[strictjson.Text]():        typeOf[textSchema](),
		typeOf[document.SchemaVersion](): typeOf[versionSchema](),
		typeOf[document.Drafts]():        typeOf[draftsSchema](),
		typeOf[document.OpDocument]():    typeOf[opSchema](),
		typeOf[document.ReadDocument]():  typeOf[readSchema](),
		typeOf[document.WireResult]():    typeOf[resultSchema](),
		typeOf[document.WireFound]():     typeOf[foundSchema](),
	} {
		r.RegisterTypeAlias(of, schema)
	}
	return r
}

// typeOf returns the type T.
func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

type (
	objectSchema  struct{}
	anySchema     struct{}
	textSchema    struct{}
	versionSchema struct{}
	draftsSchema  struct{}
	opSchema      struct{}
	readSchema    struct{}
	resultSchema  struct{}
	foundSchema   struct{}
)

// Schema returns the schema of an object with any members.
func (objectSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Schema returns the schema of any value.
func (anySchema) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// Schema returns the schema of a string that may be empty: bodyRules gives all other strings of
// bodies a length of at least 1.
func (textSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: new(int)}
}

// Schema returns the schema of a session's version.
func (versionSchema) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(agent.SessionSchemaMax)
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &least, Maximum: &most}
}

// Schema returns the schema of an entry, or an array of entries.
func (draftsSchema) Schema(r huma.Registry) *huma.Schema {
	one := r.Schema(typeOf[document.Draft](), true, "")
	return &huma.Schema{OneOf: []*huma.Schema{one, {Type: huma.TypeArray, Items: one}}}
}

// Schema returns the schema of all ops.
func (opSchema) Schema(r huma.Registry) *huma.Schema { return oneOf(r, "op", document.OpTypes()) }

// Schema returns the schema of all reads.
func (readSchema) Schema(r huma.Registry) *huma.Schema { return oneOf(r, "read", document.ReadTypes()) }

// Schema returns the schema of all results of ops.
func (resultSchema) Schema(r huma.Registry) *huma.Schema { return anyOf(r, document.ResultTypes()) }

// Schema returns the schema of all answers of reads.
func (foundSchema) Schema(r huma.Registry) *huma.Schema { return anyOf(r, document.FoundTypes()) }

// anyOf returns the schema of a value that has one of several types.
func anyOf(r huma.Registry, types []reflect.Type) *huma.Schema {
	schema := &huma.Schema{}
	for _, t := range types {
		schema.AnyOf = append(schema.AnyOf, r.Schema(t, true, ""))
	}
	return schema
}

// oneOf returns the schema of a document whose member key names its type.
func oneOf(r huma.Registry, key string, types map[string]reflect.Type) *huma.Schema {
	schema := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: key, Mapping: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		each := r.Schema(types[name], true, "")
		whole := r.SchemaFromRef(each.Ref)
		whole.Properties[key] = &huma.Schema{Type: huma.TypeString, Enum: []any{name}}
		whole.Required = append(whole.Required, key)
		schema.OneOf = append(schema.OneOf, each)
		schema.Discriminator.Mapping[name] = each.Ref
	}
	return schema
}

// nullThreads allows null for the thread of a checkpoint and of a thaw.
func nullThreads(r huma.Registry) {
	for _, name := range []string{"Checkpoint", "Thawed"} {
		members := r.Map()[name].Properties
		members["thread"] = orNull(members["thread"])
	}
}
