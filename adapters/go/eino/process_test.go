package eino_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/google/uuid"

	"dormouse/adapters/go/eino"
	"dormouse/sdk/go/client"
)

// Variables of the other process: what it does, and in which scope.
const (
	partVariable  = "TEST_EINO_PART"
	scopeVariable = "TEST_EINO_SCOPE"
)

// parts are what another process does, by name. Each returns what it says.
var parts = map[string]func(ctx context.Context, s *eino.Store) (string, error){
	"start graph": startGraph, "resume graph": resumeGraph, "start runner": startRunner, "resume runner": resumeRunner,
}

// TestMain runs a part, in a process that other starts.
func TestMain(m *testing.M) {
	part, ok := parts[os.Getenv(partVariable)]
	if !ok {
		os.Exit(m.Run())
	}
	said, err := inScope(context.Background(), os.Getenv(scopeVariable), part)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(said)
}

func inScope(ctx context.Context, scope string, part func(context.Context, *eino.Store) (string, error)) (string, error) {
	c, err := client.Dial(client.Options{Scope: scope, Fixed: true})
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	return part(ctx, eino.New(c.Scope, eino.Options{}))
}

// other runs a part in another process, and returns what it says.
func other(t *testing.T, part, scope string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), partVariable+"="+part, scopeVariable+"="+scope)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", part, err)
	}
	return strings.TrimSpace(string(out))
}

// note is the state of the graph.
type note struct{ Text string }

func init() { schema.RegisterName[*note]("dormouse_test_note") }

// graph returns a graph of two nodes that stops between them.
func graph(ctx context.Context, s *eino.Store) (compose.Runnable[string, string], error) {
	g := compose.NewGraph[string, string](compose.WithGenLocalState(func(context.Context) *note { return &note{} }))
	first := compose.InvokableLambda(func(_ context.Context, in string) (string, error) { return in + ", asked", nil })
	if err := g.AddLambdaNode("ask", first, compose.WithStatePostHandler(func(_ context.Context, out string, state *note) (string, error) {
		state.Text = "kept"
		return out, nil
	})); err != nil {
		return nil, err
	}
	second := compose.InvokableLambda(func(_ context.Context, in string) (string, error) { return in + ", answered", nil })
	if err := g.AddLambdaNode("answer", second, compose.WithStatePreHandler(func(_ context.Context, in string, state *note) (string, error) {
		return in + ", " + state.Text, nil
	})); err != nil {
		return nil, err
	}
	for _, edge := range [][2]string{{compose.START, "ask"}, {"ask", "answer"}, {"answer", compose.END}} {
		if err := g.AddEdge(edge[0], edge[1]); err != nil {
			return nil, err
		}
	}
	return g.Compile(ctx, compose.WithCheckPointStore(s), compose.WithInterruptBeforeNodes([]string{"answer"}), compose.WithGraphName("conversation"))
}

func startGraph(ctx context.Context, s *eino.Store) (string, error) {
	g, err := graph(ctx, s)
	if err != nil {
		return "", err
	}
	_, err = g.Invoke(ctx, "hello", compose.WithCheckPointID("graph"))
	if _, interrupted := compose.ExtractInterruptInfo(err); !interrupted {
		return "", fmt.Errorf("the graph was not interrupted: %w", err)
	}
	return "interrupted", nil
}

func resumeGraph(ctx context.Context, s *eino.Store) (string, error) {
	g, err := graph(ctx, s)
	if err != nil {
		return "", err
	}
	return g.Invoke(eino.Once(ctx), "", compose.WithCheckPointID("graph"))
}

// asker is an agent that stops to ask for a name.
type asker struct{}

func (asker) Name(context.Context) string        { return "asker" }
func (asker) Description(context.Context) string { return "asks for a name" }

func (asker) Run(ctx context.Context, _ *adk.AgentInput, _ ...adk.AgentRunOption) *adk.AsyncIterator[*adk.AgentEvent] {
	events, generator := adk.NewAsyncIteratorPair[*adk.AgentEvent]()
	generator.Send(adk.StatefulInterrupt(ctx, "which name?", "Hello"))
	generator.Close()
	return events
}

func (asker) Resume(_ context.Context, info *adk.ResumeInfo, _ ...adk.AgentRunOption) *adk.AsyncIterator[*adk.AgentEvent] {
	events, generator := adk.NewAsyncIteratorPair[*adk.AgentEvent]()
	text := fmt.Sprintf("%v, %v", info.InterruptState, info.ResumeData)
	generator.Send(adk.EventFromMessage(schema.AssistantMessage(text, nil), nil, schema.Assistant, ""))
	generator.Close()
	return events
}

func runner(ctx context.Context, s *eino.Store) *adk.Runner {
	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: asker{}, CheckPointStore: s})
}

// startRunner returns the id of the interrupt.
func startRunner(ctx context.Context, s *eino.Store) (string, error) {
	event, ok := runner(ctx, s).Query(ctx, "hello", adk.WithCheckPointID("runner")).Next()
	if !ok || event.Err != nil || event.Action == nil || event.Action.Interrupted == nil {
		return "", fmt.Errorf("the runner was not interrupted: %+v", event)
	}
	return event.Action.Interrupted.InterruptContexts[0].ID, s.Set(ctx, "interrupt", []byte(event.Action.Interrupted.InterruptContexts[0].ID))
}

func resumeRunner(ctx context.Context, s *eino.Store) (string, error) {
	id, _, err := s.Get(ctx, "interrupt")
	if err != nil {
		return "", err
	}
	events, err := runner(ctx, s).ResumeWithParams(ctx, "runner", &adk.ResumeParams{Targets: map[string]any{string(id): "Ada"}})
	if err != nil {
		return "", err
	}
	event, ok := events.Next()
	if !ok || event.Err != nil || event.Output == nil {
		return "", fmt.Errorf("the runner says nothing: %+v", event)
	}
	message, err := event.Output.MessageOutput.GetMessage()
	if err != nil {
		return "", err
	}
	return message.Content, s.Delete(ctx, "runner")
}

func TestAGraphResumesInAnotherProcess(t *testing.T) {
	scope := "eino-" + uuid.NewString()
	if said := other(t, "start graph", scope); said != "interrupted" {
		t.Fatalf("the first process says %q", said)
	}
	if said := other(t, "resume graph", scope); said != "hello, asked, kept, answered" {
		t.Errorf("the second process says %q", said)
	}
}

func TestARunnerResumesInAnotherProcess(t *testing.T) {
	scope := "eino-" + uuid.NewString()
	if said := other(t, "start runner", scope); said == "" {
		t.Fatal("the first process names no interrupt")
	}
	if said := other(t, "resume runner", scope); said != "Hello, Ada" {
		t.Errorf("the second process says %q", said)
	}
}
