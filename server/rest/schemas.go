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

// newSchemas returns an empty registry of schemas. The documents whose JSON
// does not follow from their Go types have the schemas below.
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

// Schema is an object of any members.
func (objectSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Schema is any value.
func (anySchema) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// Schema is a string that may be empty: bodyRules gives all other strings of
// bodies a length of at least 1.
func (textSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: new(int)}
}

// Schema is one of the versions that a session can have.
func (versionSchema) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(agent.SessionSchemaMax)
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &least, Maximum: &most}
}

// Schema is an entry, or an array of them.
func (draftsSchema) Schema(r huma.Registry) *huma.Schema {
	one := r.Schema(typeOf[document.Draft](), true, "")
	return &huma.Schema{OneOf: []*huma.Schema{one, {Type: huma.TypeArray, Items: one}}}
}

// Schema is one of the ops.
func (opSchema) Schema(r huma.Registry) *huma.Schema { return oneOf(r, "op", document.OpTypes()) }

// Schema is one of the reads.
func (readSchema) Schema(r huma.Registry) *huma.Schema { return oneOf(r, "read", document.ReadTypes()) }

// Schema is any result of an op.
func (resultSchema) Schema(r huma.Registry) *huma.Schema { return anyOf(r, document.ResultTypes()) }

// Schema is anything that a read can find.
func (foundSchema) Schema(r huma.Registry) *huma.Schema { return anyOf(r, document.FoundTypes()) }

// anyOf is the schema of a value that is one of several types.
func anyOf(r huma.Registry, types []reflect.Type) *huma.Schema {
	schema := &huma.Schema{}
	for _, t := range types {
		schema.AnyOf = append(schema.AnyOf, r.Schema(t, true, ""))
	}
	return schema
}

// oneOf is the schema of a document whose member under key names its type.
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

// nullThreads says that a checkpoint and a thaw may be without a thread.
func nullThreads(r huma.Registry) {
	for _, name := range []string{"Checkpoint", "Thawed"} {
		members := r.Map()[name].Properties
		members["thread"] = orNull(members["thread"])
	}
}
