package turn

import (
	"encoding/json"
	"strings"

	"dormouse/agent"
	"dormouse/internal/clip"
)

// Memory configures how a loop uses its agent's memories. The zero Memory does
// nothing.
type Memory struct {
	Capture    string // one of the Capture constants; "" means CaptureOff
	Inject     string // one of the Inject constants; "" means none
	Session    bool   // memories belong to the session instead of the agent
	EntriesMax uint64 // memories in a prompt; 0 means agent.RecallLimitDefault
}

// The kinds of memories that a turn writes.
const (
	CaptureOff          = "off"
	CaptureManual       = "manual"       // only those that the function commits
	CaptureConversation = "conversation" // the request and the answer, as one memory
)

// The place of recalled memories in the prompt.
const (
	InjectInstructions = "instructions" // in Prompt.Instructions, one line each
	InjectContext      = "context"      // in Prompt.Memories
)

func (m Memory) valid() error {
	switch m.Capture {
	case "", CaptureOff, CaptureManual, CaptureConversation:
	default:
		return agent.Invalid("capture", "there is no capture %q", m.Capture)
	}
	switch m.Inject {
	case "", InjectInstructions, InjectContext:
		return nil
	default:
		return agent.Invalid("inject", "there is no injection %q", m.Inject)
	}
}

// inject recalls memories that match the request.
func (m Memory) inject(t *Turn, p *Prompt) error {
	if err := m.valid(); err != nil {
		return err
	}
	query := clip.Text(text(t.request.Input), agent.RecallQueryBytesMax)
	if m.Inject == "" || strings.TrimSpace(query) == "" {
		return nil
	}
	within := agent.WithinAgent
	if m.Session {
		within = agent.WithinSession
	}
	answers, err := t.Read(&agent.Recall{
		Agent: t.initial.Agent, Session: t.session, Within: within, Query: query, Limit: m.EntriesMax,
	})
	if err != nil {
		return err
	}
	recalled, ok := answers[0].Found.(*agent.Recalled)
	if !ok {
		return errUnexpected(answers[0])
	}
	if m.Inject == InjectContext {
		p.Memories = recalled.Items
		return nil
	}
	lines := []string{p.Instructions}
	for _, item := range recalled.Items {
		lines = append(lines, "- "+item.Memory.Content)
	}
	p.Instructions = strings.TrimSpace(strings.Join(lines, "\n"))
	return nil
}

// capturedBytesMax bounds the text of a captured conversation. The kind of a memory and its empty data
// count in agent.MemoryBytesMax too.
const capturedBytesMax = agent.MemoryBytesMax - 1<<10

// capture adds the turn's memory to its last commit. Of a long conversation it has the beginning.
func (m Memory) capture(t *Turn, reply Reply) {
	if m.Capture != CaptureConversation {
		return
	}
	content := agent.ConversationText(text(t.request.Input), reply.Content)
	write := &agent.WriteMemory{Agent: t.initial.Agent, Kind: "conversation", Content: clip.Text(content, capturedBytesMax)}
	if m.Session {
		write.Session = t.session
	}
	t.Commit(write)
}

// text returns a request's input as text: the value of a string, or the JSON.
func text(input agent.JSON) string {
	var s string
	if json.Unmarshal(input, &s) == nil {
		return s
	}
	return string(input)
}
