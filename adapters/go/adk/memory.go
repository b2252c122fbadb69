package adk

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// FoundMax is how many memories a search returns if NewMemories was given no number.
const FoundMax = 20

// Bounds of one commit of memories.
const (
	memoriesOfCommitMax = 64
	memoryKind          = "adk.event"
)

// Memories is a memory.Service. Its methods may be called concurrently.
type Memories struct {
	scope client.Scope
	limit uint64
}

var _ memory.Service = (*Memories)(nil)

// NewMemories returns a memory service in a scope. A search returns the best limit
// memories; 0 means FoundMax, and at most agent.RecallLimitMax.
func NewMemories(scope client.Scope, limit int) *Memories {
	if limit <= 0 {
		limit = FoundMax
	}
	return &Memories{scope, uint64(min(limit, agent.RecallLimitMax))}
}

// remembered is the data of a memory.
type remembered struct {
	Event    string         `json:"event"`
	Author   string         `json:"author"`
	Time     time.Time      `json:"time"`
	Content  *genai.Content `json:"content"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// ownerOf returns the agent of the memories of a user of an app.
func ownerOf(app, user string) string { return keyOf("adk", app, user) }

// AddSessionToMemory remembers the events of a session that have text. Events that are
// remembered already stay as they are, so a session may be added again as it grows.
func (m *Memories) AddSessionToMemory(ctx context.Context, s session.Session) error {
	owner, prefix := ownerOf(s.AppName(), s.UserID()), url.PathEscape(s.ID())+"/"
	known, err := m.known(ctx, owner, prefix)
	if err != nil {
		return fmt.Errorf("add session %s to memory: %w", s.ID(), err)
	}
	var ops []agent.Op
	i := -1
	for event := range s.Events().All() {
		i++
		id := event.ID
		if id == "" {
			id = strconv.Itoa(i)
		}
		if text := textOf(event); text == "" || known[prefix+id] {
			continue
		}
		op, err := memoryOf(owner, prefix+id, s.ID(), event)
		if err != nil {
			return fmt.Errorf("add event %s of session %s to memory: %w", id, s.ID(), err)
		}
		if ops = append(ops, op); len(ops) == memoriesOfCommitMax {
			if err := m.write(ctx, s.ID(), ops); err != nil {
				return err
			}
			ops = nil
		}
	}
	return m.write(ctx, s.ID(), ops)
}

func (m *Memories) write(ctx context.Context, id string, ops []agent.Op) error {
	// A commit takes agent.CommitBytesMax, and a memory less than a quarter of that.
	for len(ops) > 0 {
		n, size := 0, 0
		for n < len(ops) {
			size += ops[n].(*agent.WriteMemory).Size()
			if n > 0 && size > agent.CommitBytesMax/2 {
				break
			}
			n++
		}
		if _, err := m.scope.Apply(ctx, ops[:n]...); err != nil {
			return fmt.Errorf("add session %s to memory: %w", id, err)
		}
		ops = ops[n:]
	}
	return nil
}

// known returns the ids of the memories of a session.
func (m *Memories) known(ctx context.Context, owner, prefix string) (map[string]bool, error) {
	ids := make(map[string]bool)
	page := agent.Page{Prefix: prefix, Limit: agent.ListLimitMax}
	for {
		found, err := m.scope.ListMemories(ctx, owner, page)
		if err != nil {
			return nil, err
		}
		for _, one := range found.Items {
			ids[one.ID] = true
		}
		if found.Next == "" {
			return ids, nil
		}
		page.After = found.Next
	}
}

// memoryOf returns the op that remembers an event.
func memoryOf(owner, id, sessionID string, event *session.Event) (*agent.WriteMemory, error) {
	data, err := json.Marshal(remembered{event.ID, event.Author, event.Timestamp, textsOnly(event.Content), event.CustomMetadata})
	if err != nil {
		return nil, err
	}
	op := &agent.WriteMemory{
		Agent: owner, ID: id, Session: sessionID, Kind: memoryKind, Content: textOf(event), Data: data, Source: event.Author,
	}
	if at := event.Timestamp.UnixMilli(); at > 0 {
		op.ObservedAt = &at
	}
	return op, nil
}

// textOf returns the text of an event, or "" if it has none.
func textOf(event *session.Event) string {
	if event.Content == nil {
		return ""
	}
	var texts []string
	for _, part := range event.Content.Parts {
		if strings.TrimSpace(part.Text) != "" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// textsOnly returns content without the bytes of files, which are no part of a memory.
func textsOnly(content *genai.Content) *genai.Content {
	kept := &genai.Content{Role: content.Role}
	for _, part := range content.Parts {
		if part.InlineData == nil {
			kept.Parts = append(kept.Parts, part)
		}
	}
	return kept
}

// SearchMemory returns the memories of a user of an app, of all sessions, that match the
// words of the query, best first. Of a longer query, such as a whole message, it takes the
// first agent.RecallQueryBytesMax bytes.
func (m *Memories) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	response := &memory.SearchResponse{Memories: []memory.Entry{}}
	if strings.TrimSpace(req.Query) == "" {
		return response, nil
	}
	found, err := m.scope.Recall(ctx, agent.Recall{
		Agent: ownerOf(req.AppName, req.UserID), Within: agent.WithinAll, Mode: agent.ModeText, Query: queryOf(req.Query), Limit: m.limit,
		Filter: agent.MemoryFilter{Kinds: []string{memoryKind}},
	})
	if err != nil {
		return nil, fmt.Errorf("search the memory of user %s: %w", req.UserID, err)
	}
	for _, item := range found.Items {
		var data remembered
		if err := json.Unmarshal(item.Memory.Data, &data); err != nil {
			return nil, fmt.Errorf("decode memory %s: %w", item.Memory.ID, err)
		}
		response.Memories = append(response.Memories, memory.Entry{
			ID: data.Event, Content: data.Content, Author: data.Author, Timestamp: data.Time, CustomMetadata: data.Metadata,
		})
	}
	return response, nil
}

// queryOf returns the beginning of a text that is a valid query.
func queryOf(text string) string {
	text = strings.ToValidUTF8(text, " ")
	if len(text) <= agent.RecallQueryBytesMax {
		return text
	}
	return strings.ToValidUTF8(text[:agent.RecallQueryBytesMax], "") // without half of a character
}
