package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/client"
)

// suiteEnv names the program of @modelcontextprotocol/conformance, and nodesEnv the gRPC addresses of a
// real cluster, a follower's first. `make adapters-mcp` sets both.
const (
	suiteEnv = "MCP_CONFORMANCE"
	nodesEnv = "DORMOUSE_ENDPOINTS"
)

// The protocol's own suite passes on the handler, with its event store and its sessions.
func TestConformanceSuite(t *testing.T) {
	suite := os.Getenv(suiteEnv)
	if suite == "" {
		t.Skip(suiteEnv + " is not set: run make adapters-mcp")
	}
	var service agent.Service = memstore.New()
	if nodes := os.Getenv(nodesEnv); nodes != "" {
		c, err := client.Dial(client.Options{Endpoints: strings.Split(nodes, ",")[:1], Fixed: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		service = c
	}
	p := startProcess(t, service, addFixtures)
	run := exec.CommandContext(t.Context(), suite, "server", "--url", p.URL)
	run.Dir = t.TempDir() // for its results
	out, err := run.CombinedOutput()
	passed := regexp.MustCompile(`Total: (\d+) passed, 0 failed`).FindSubmatch(out)
	if err != nil || passed == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s checks passed", passed[1])
}

// addFixtures adds the tools, resources and prompts that the suite calls.
func addFixtures(server *sdk.Server) {
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":       {&sdk.TextContent{Text: "This is a simple text response for testing."}},
		"test_image_content":     {pixel()},
		"test_audio_content":     {&sdk.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}},
		"test_embedded_resource": {embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {
			&sdk.TextContent{Text: "Multiple content types test:"}, pixel(),
			embedded("test://mixed-content-resource", jsonType, `{"test":"data","value":123}`),
		},
	} {
		fixture(server, name, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return content, nil })
	}
	fixture(server, "test_error_handling", func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return nil, errors.New("This tool intentionally returns an error for testing")
	})
	fixture(server, "test_tool_with_logging", logs)
	fixture(server, "test_tool_with_progress", progresses)
	fixture(server, "test_reconnection", func(_ context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 50 * time.Millisecond})
		time.Sleep(100 * time.Millisecond)
		return said("Reconnection test completed"), nil
	})
	fixture(server, "test_sampling", samples)
	fixture(server, "test_elicitation", elicits(`{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}`))
	fixture(server, "test_elicitation_sep1034_defaults", elicits(`{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},
		"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`))
	fixture(server, "test_elicitation_sep1330_enums", elicits(`{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
		"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}`))
	addFixtureSchema(server)
	addFixtureResources(server)
	addFixturePrompts(server)
}

func fixture(server *sdk.Server, name string, run func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error)) {
	server.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance suite", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			content, err := run(ctx, r)
			if err != nil {
				return failure(err), nil
			}
			return &sdk.CallToolResult{Content: content}, nil
		})
}

func said(text string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: text}} }

func pixel() *sdk.ImageContent {
	return &sdk.ImageContent{Data: []byte("\x89PNG\r\n\x1a\n"), MIMEType: "image/png"}
}

func embedded(uri, kind, text string) *sdk.EmbeddedResource {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: kind, Text: text}}
}

func logs(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
	for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text}); err != nil { //nolint:staticcheck // the suite tests it
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return said("Logged"), nil
}

func progresses(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
	for _, done := range []float64{0, 50, 100} {
		if token := r.Params.GetProgressToken(); token != nil {
			err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100})
			if err != nil {
				return nil, err
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return said("Progressed"), nil
}

func samples(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	asked := &sdk.SamplingMessage{Role: "user", Content: &sdk.TextContent{Text: in.Prompt}}                                     //nolint:staticcheck // the suite tests it
	got, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{asked}}) //nolint:staticcheck // as before
	if err != nil {
		return nil, err
	}
	text, ok := got.Content.(*sdk.TextContent)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T", got.Content)
	}
	return said("LLM response: " + text.Text), nil
}

func elicits(schema string) func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
	return func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		var in struct{ Message string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		if in.Message == "" {
			in.Message = "Please say"
		}
		got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: in.Message, RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return nil, err
		}
		content, err := json.Marshal(got.Content)
		return said(fmt.Sprintf("Elicitation completed: action=%s, content=%s", got.Action, content)), err
	}
}

func addFixtureSchema(server *sdk.Server) {
	schema := json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`)
	server.AddTool(&sdk.Tool{Name: "json_schema_2020_12_tool", Description: "Tool with JSON Schema 2020-12 features", InputSchema: schema},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: said("ok")}, nil
		})
}

func addFixtureResources(server *sdk.Server) {
	text := func(uri, kind, text string) *sdk.ReadResourceResult {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
	}
	server.AddResource(&sdk.Resource{URI: "test://static-text", Name: "text", Description: "A fixture", MIMEType: "text/plain"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return text(r.Params.URI, "text/plain", "This is the content of the static text resource."), nil
		})
	server.AddResource(&sdk.Resource{URI: "test://static-binary", Name: "binary", Description: "A fixture", MIMEType: "image/png"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "image/png", Blob: pixel().Data}}}, nil
		})
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A fixture", MIMEType: jsonType},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.Split(r.Params.URI, "/")[3]
			return text(r.Params.URI, jsonType, fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)), nil
		})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			switch p := r.GetParams().(type) {
			case *sdk.SubscribeParams:
				if p.URI == "test://watched-resource" {
					p.URI = threadURI + "watched"
				}
			case *sdk.UnsubscribeParams:
				if p.URI == "test://watched-resource" {
					p.URI = threadURI + "watched"
				}
			}
			return next(ctx, method, r)
		}
	})
}

func addFixturePrompts(server *sdk.Server) {
	prompt := func(name string, arguments []string, messages func(map[string]string) []sdk.Content) {
		p := &sdk.Prompt{Name: name, Description: "A fixture of the conformance suite"}
		for _, argument := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: argument, Description: "A fixture", Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			got := &sdk.GetPromptResult{}
			for _, content := range messages(r.Params.Arguments) {
				got.Messages = append(got.Messages, &sdk.PromptMessage{Role: "user", Content: content})
			}
			return got, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []sdk.Content { return said("This is a simple prompt for testing.") })
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []sdk.Content {
		return said(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []sdk.Content {
		return append([]sdk.Content{embedded(a["resourceUri"], "text/plain", "Embedded resource content for testing.")}, said("Please process the embedded resource above.")...)
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return append([]sdk.Content{pixel()}, said("Please analyze the image above.")...)
	})
}
