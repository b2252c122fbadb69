package adk_test

import (
	"context"
	"fmt"
	"iter"
	"log"

	"github.com/google/uuid"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	dormouse "dormouse/adapters/go/adk"
	"dormouse/sdk/go/client"
)

// greet is an agent that counts its turns, for each user and for the app.
func greet(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		turn := 1.0
		if before, err := ctx.Session().State().Get("user:turns"); err == nil {
			turn += before.(float64)
		}
		e := session.NewEvent(ctx, ctx.InvocationID())
		e.Author, e.Content = "greeter", genai.NewContentFromText(fmt.Sprintf("hello for the %v. time", turn), genai.RoleModel)
		e.Actions.StateDelta["user:turns"] = turn
		yield(e, nil)
	}
}

func Example() {
	ctx := context.Background()
	c, err := client.Dial(client.Options{Scope: "example-" + uuid.NewString()}) // DORMOUSE_ENDPOINTS
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	sessions, memories := dormouse.NewSessions(c, ""), dormouse.NewMemories(c.Scope, 0)

	greeter, err := agent.New(agent.Config{Name: "greeter", Description: "says hello", Run: greet})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{"monday", "tuesday"} {
		// Each turn may run in another process: nothing is kept in memory.
		r, err := runner.New(runner.Config{
			AppName: "greetings", Agent: greeter, AutoCreateSession: true,
			SessionService: sessions, MemoryService: memories, ArtifactService: dormouse.NewArtifacts(c.Scope),
		})
		if err != nil {
			log.Fatal(err)
		}
		for event, err := range r.Run(ctx, "ada", id, genai.NewContentFromText("good morning", genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(id+":", event.Content.Parts[0].Text)
		}
	}

	read, err := sessions.Get(ctx, &session.GetRequest{AppName: "greetings", UserID: "ada", SessionID: "monday"})
	if err != nil {
		log.Fatal(err)
	}
	if err := memories.AddSessionToMemory(ctx, read.Session); err != nil {
		log.Fatal(err)
	}
	found, err := memories.SearchMemory(ctx, &memory.SearchRequest{AppName: "greetings", UserID: "ada", Query: "hello"})
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range found.Memories {
		fmt.Println("remembers:", one.Content.Parts[0].Text)
	}
	// Output:
	// monday: hello for the 1. time
	// tuesday: hello for the 2. time
	// remembers: hello for the 1. time
}
