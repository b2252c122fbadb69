package mcp

import (
	"context"
	rawjson "encoding/json"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
)

// store is a scope of the cluster, with the rights of one caller.
type store struct {
	service agent.Service
	scope   string
}

// find makes one read, and returns what it found as a T.
func find[T agent.Found](ctx context.Context, s store, read agent.Read) (T, error) {
	var none T
	answers, err := s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: []agent.Read{read}})
	switch {
	case err != nil:
		return none, err
	case len(answers.Answers) != 1:
		return none, fmt.Errorf("%d answers to one read: does the node run another version?", len(answers.Answers))
	case answers.Answers[0].Err != nil:
		return none, answers.Answers[0].Err
	}
	found, ok := answers.Answers[0].Found.(T)
	if !ok {
		return none, fmt.Errorf("the answer is a %T: does the node run another version?", answers.Answers[0].Found)
	}
	return found, nil
}

// commit applies ops together, and returns the result of the first as a T.
func commit[T agent.OpResult](ctx context.Context, s store, ops ...agent.Op) (T, error) {
	var none T
	result, err := s.service.Commit(ctx, agent.Commit{Scope: s.scope, Ops: ops})
	if err != nil {
		return none, err
	}
	first, ok := result.Results[0].(T)
	if !ok {
		return none, fmt.Errorf("the result is a %T: does the node run another version?", result.Results[0])
	}
	return first, nil
}

// rawObjects are the schemas of members that are passed on as their caller wrote them.
var rawObjects = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[rawjson.RawMessage](): {Type: "object"},
}}

// add adds a tool. The schema of its arguments is that of In. A number in a member that is passed on
// keeps its digits, which the SDK's own AddTool would round.
func add[In any](server *sdk.Server, hints *sdk.ToolAnnotations, name, title, what string, run func(context.Context, In) (any, error)) {
	schema, err := jsonschema.For[In](rawObjects)
	if err != nil {
		panic(err) // only a type without a schema can cause this
	}
	checked, err := schema.Resolve(nil)
	if err != nil {
		panic(err) // as before
	}
	tool := &sdk.Tool{Name: name, Title: title, Description: what, Annotations: hints, InputSchema: schema}
	server.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in, err := decode[In](checked, r.Params.Arguments)
		if err != nil {
			return failure(err), nil
		}
		found, err := run(ctx, in)
		if err != nil {
			return failure(err), nil
		}
		return answer(found)
	})
}

// decode validates and decodes the arguments of a tool.
func decode[In any](schema *jsonschema.Resolved, raw rawjson.RawMessage) (in In, err error) {
	if len(raw) == 0 {
		raw = rawjson.RawMessage("{}")
	}
	var members any
	if err := rawjson.Unmarshal(raw, &members); err != nil {
		return in, agent.Invalid("arguments", "%v", err)
	}
	if err := schema.Validate(members); err != nil {
		return in, agent.Invalid("arguments", "%v", err)
	}
	if err := rawjson.Unmarshal(raw, &in); err != nil {
		return in, agent.Invalid("arguments", "%v", err)
	}
	return in, nil
}

// failure is the result of a tool that was refused; the model reads why.
func failure(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}
}

// answer is the result of a tool: a document, as JSON text and as structured content.
func answer(document any) (*sdk.CallToolResult, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(raw)}},
		StructuredContent: agent.JSON(raw),
	}, nil
}
