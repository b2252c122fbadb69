package web

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/api/openapi"
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
		document.AnswerType:              typeOf[answerSchema](),
		typeOf[document.WireFound]():     typeOf[writtenSchema](),
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
	answerSchema  struct{}
	writtenSchema struct{}
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

// Schema returns the schema of an array of entries. The server also takes a single entry, for callers
// by hand: generators make better code of one type.
func (draftsSchema) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(typeOf[document.Draft](), true, ""), Description: "A single entry may be given in place of the list"}
}

// Schema returns the schema of all ops.
func (opSchema) Schema(r huma.Registry) *huma.Schema {
	return shared(r, "Op", oneOf(r, "op", document.OpTypes()))
}

// Schema returns the schema of all reads.
func (readSchema) Schema(r huma.Registry) *huma.Schema {
	return shared(r, "Read", oneOf(r, "read", document.ReadTypes()))
}

// Schema returns the schema of all results of ops.
func (resultSchema) Schema(r huma.Registry) *huma.Schema {
	return union(r, "op", "Result", document.ResultTypes(), func(types []reflect.Type) *huma.Schema {
		return anyOf(r, types)
	})
}

// Schema returns the schema of all answers of reads.
func (answerSchema) Schema(r huma.Registry) *huma.Schema {
	problem := r.Schema(typeOf[document.Problem](), true, "")
	return union(r, "read", "Answer", document.FoundTypes(), func(types []reflect.Type) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"found": anyOf(r, types), "error": problem}}
	})
}

// Schema returns the schema of what a change has written.
func (writtenSchema) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r, []reflect.Type{typeOf[document.Value](), typeOf[document.Checkpoint](), typeOf[document.Thread](), typeOf[document.Memory]()})
}

// anyOf returns the schema of a value that has one of several types.
func anyOf(r huma.Registry, types []reflect.Type) *huma.Schema {
	if len(types) == 1 {
		return r.Schema(types[0], true, "")
	}
	schema := &huma.Schema{}
	for _, t := range types {
		schema.AnyOf = append(schema.AnyOf, r.Schema(t, true, ""))
	}
	return schema
}

// union returns the schema of an answer whose member key names its type. For each name it adds a
// schema with that member, and those that of returns for the name's types.
func union(r huma.Registry, key, suffix string, types map[string][]reflect.Type, of func([]reflect.Type) *huma.Schema) *huma.Schema {
	schema := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: key, Mapping: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		named := &huma.Schema{
			Type: huma.TypeObject, Properties: map[string]*huma.Schema{key: {Type: huma.TypeString, Enum: []any{name}}}, Required: []string{key},
		}
		title := titled(name) + suffix
		r.Map()[title] = &huma.Schema{AllOf: []*huma.Schema{named, of(types[name])}}
		schema.OneOf = append(schema.OneOf, &huma.Schema{Ref: schemaPrefix + title})
		schema.Discriminator.Mapping[name] = schemaPrefix + title
	}
	return shared(r, suffix, schema)
}

// shared adds a schema under a name and returns a reference to it.
func shared(r huma.Registry, name string, schema *huma.Schema) *huma.Schema {
	r.Map()[name] = schema
	return &huma.Schema{Ref: schemaPrefix + name}
}

// titled returns a name of the API as one of a schema: put_value is PutValue.
func titled(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
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

// nulls are the members of answers that may be null, besides those whose Go type says so.
var nulls = map[string]string{"Checkpoint": "thread", "Thawed": "thread", "ForkedAgent": "thread", "Snapshot": "actual_parent"}

func allowNulls(r huma.Registry) {
	for name, member := range nulls {
		members := r.Map()[name].Properties
		members[member] = openapi.OrNull(members[member])
	}
}
