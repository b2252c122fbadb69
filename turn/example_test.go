package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"dormouse/agent"
	"dormouse/turn"
)

// exampleNode replaces client.Dial(client.Options{}), which connects to a node
// on this machine. The node has session support-123 with the thread "chat".
func exampleNode() (agent.Service, func()) {
	service, stop, err := openNode()
	if err != nil {
		log.Fatal(err)
	}
	_, err = service.Commit(context.Background(), agent.Commit{Ops: []agent.Op{
		&agent.PutSession{Session: "support-123", Agent: "support", SessionSettings: agent.SessionSettings{Thread: "chat"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	return service, func() {
		if err := stop(); err != nil {
			log.Fatal(err)
		}
	}
}

// A turn appends to the thread and saves the agent's state in one commit.
func ExampleRunner_Turn() {
	service, closeAll := exampleNode() // a *client.Client
	defer closeAll()
	r := turn.Runner{Service: service, Owner: "worker-1"}
	request := agent.SessionRequest{ID: "req-1", Input: agent.JSON(`"hello"`)}

	row, err := r.Turn(context.Background(), "support-123", request, func(t *turn.Turn) error {
		t.Append("chat", 0, agent.Draft{Kind: agent.KindMessage, Payload: agent.JSON(`{"role":"assistant","content":"hi"}`)})
		t.Commit(&agent.PutCheckpoint{Key: "support", State: agent.JSON(`{"turns":1}`), Thread: &agent.Pointer{Thread: "chat", Rev: 1}})
		return t.SetResult(agent.JSON(`"hi"`))
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(row.Status)
	// Output: finished
}

// pay replaces a call of a bank that detects repeats by the key.
func pay(key, amount string) (agent.JSON, error) {
	if key == "" {
		return nil, errors.New("there is no key")
	}
	return agent.JSON(`"` + amount + `"`), nil
}

// A loop answers a request with a model and tools. A refund needs a person's
// approval. The session waits for it without a running process, and is then
// resumed.
func ExampleLoop_Chat() {
	service, closeAll := exampleNode()
	defer closeAll()
	ctx := context.Background()
	r := turn.Runner{Service: service, Owner: "worker-1"}
	l := turn.Loop{
		Model: func(_ context.Context, p turn.Prompt) (turn.Reply, error) { // a real one calls a provider
			if len(p.Steps) == 0 {
				return turn.Reply{Calls: []turn.ToolCall{{Tool: "refund", Input: json.RawMessage(`{"order":"A1001"}`)}}}, nil
			}
			return turn.Reply{Content: "Refunded: " + string(p.Steps[0].Results[0].Result)}, nil
		},
		Tools: map[string]turn.Tool{"refund": {
			Class: turn.UnsafeOnce,
			Call: func(_ context.Context, c turn.Call) (agent.JSON, error) {
				return pay(c.Key, "25.00")
			},
			Review: func(agent.JSON) *agent.ReviewDraft { return &agent.ReviewDraft{Reason: "money leaves the house"} },
		}},
	}
	_, err := l.Chat(ctx, r, "support-123", "req-1", "Refund order A1001")
	fmt.Println(err)

	answers, err := service.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.ListReviews{}}})
	if err != nil {
		log.Fatal(err)
	}
	review := answers.Answers[0].Found.(*agent.ReviewList).Items[0]
	_, err = service.Commit(ctx, agent.Commit{Ops: []agent.Op{
		&agent.DecideReview{Review: review.ID, Decision: agent.DecideApprove, By: "eve"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	reply, row, err := l.Resume(ctx, r, "support-123")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(row.Status, reply.Content)
	// Output:
	// the turn pauses: the session is waiting
	// finished Refunded: "25.00"
}
