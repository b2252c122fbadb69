package stores_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"dormouse/agent"
	"dormouse/client/stores"
)

// An agent loads its state, on any machine, handles the pending messages, and saves
// the new state, which consumes them, in one commit. A later save by a stale copy of
// the agent is refused.
func ExampleConversationStore() {
	c, closeAll := open()
	defer closeAll()
	ctx := context.Background()
	var store stores.ConversationStore = stores.Conversations{Scope: c.In("acme")}
	chat := agent.ConversationRef{ID: "chat-1", Agent: "helper", Owner: "user-7"}

	revision, err := store.Save(ctx, agent.SaveConversation{
		ConversationRef: chat, Lifecycle: agent.LifecycleInterrupt, State: agent.JSON(`{"version":2,"state":{"messages":[]}}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := store.Pend(ctx, chat, agent.JSON(`{"text":"never mind"}`)); err != nil {
		log.Fatal(err)
	}

	loaded, err := store.Load(ctx, chat)
	if err != nil {
		log.Fatal(err)
	}
	waiting := loaded.Pending[0]
	fmt.Println(loaded.Interrupted, string(waiting.Message))
	if _, err := store.Save(ctx, agent.SaveConversation{
		ConversationRef: chat, Revision: loaded.Revision, Lifecycle: agent.LifecycleCompletion, Consumed: waiting.Number,
		State: agent.JSON(`{"version":2,"state":{"messages":["never mind"]}}`),
	}); err != nil {
		log.Fatal(err)
	}

	_, err = store.Save(ctx, agent.SaveConversation{ // by a stale copy
		ConversationRef: chat, Revision: revision, Lifecycle: agent.LifecycleShutdown, State: agent.JSON(`{"version":2,"state":{"messages":[]}}`),
	})
	fmt.Println(errors.Is(err, agent.ErrRevisionMismatch))
	// Output:
	// true {"text":"never mind"}
	// true
}

func ExampleFileStore() {
	c, closeAll := open()
	defer closeAll()
	ctx := context.Background()
	var files stores.FileStore = stores.Files{Scope: c.In("acme/user-7")}

	if _, err := files.Write(ctx, stores.File{Path: "/drafts/tea.md", ContentType: "text/markdown", Bytes: []byte("# Tea\n")}); err != nil {
		log.Fatal(err)
	}
	if err := files.Move(ctx, "/drafts/tea.md", "/tea.md"); err != nil {
		log.Fatal(err)
	}
	for file, err := range files.List(ctx, "/") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(file.Path, file.Size)
	}
	// Output: /tea.md 6
}
