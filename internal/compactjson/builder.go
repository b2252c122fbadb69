package compactjson

import "github.com/go-json-experiment/json/jsontext"

// Builder is an unfinished JSON object.
type Builder []byte

// NewObject returns an object without members.
func NewObject() *Builder { return &Builder{'{'} }

// Raw appends a member. name must be UTF-8, and value compact JSON.
func (o *Builder) Raw(name string, value []byte) {
	quoted, _ := jsontext.AppendQuote(nil, name)
	*o = AppendMember(*o, quoted, value)
}

// Text appends a string member. name and value must be UTF-8.
func (o *Builder) Text(name, value string) {
	quoted, _ := jsontext.AppendQuote(nil, value)
	o.Raw(name, quoted)
}

// TextIfSet appends a string member unless value is empty.
func (o *Builder) TextIfSet(name, value string) {
	if value != "" {
		o.Text(name, value)
	}
}

// Close returns the finished object.
func (o *Builder) Close() []byte { return append(*o, '}') }
