package turn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"dormouse/agent"
)

// journalVersion is written into every journal. A journal of another version
// is refused, never guessed at.
const journalVersion = 1

// journal is what a turn has to know when it is taken up again: a snapshot's
// turn state.
type journal struct {
	Version int             `json:"version"`
	Effects []*effectRecord `json:"effects,omitempty"` // in the order in which they were begun
	Passed  []string        `json:"passed,omitempty"`  // boundaries that the turn has paused at
	State   json.RawMessage `json:"state,omitempty"`
}

// effectRecord is one effect. It has an intent, and perhaps how the call ended.
type effectRecord struct {
	ID     string          `json:"id"`
	Name   string          `json:"name,omitempty"`
	Class  Class           `json:"class"`
	Input  json.RawMessage `json:"input,omitempty"`  // as the function gave it
	Edited json.RawMessage `json:"edited,omitempty"` // as a review changed it
	Begun  bool            `json:"begun,omitempty"`  // a call may have been made
	Ended  bool            `json:"ended,omitempty"`  // it is known how it ended: by Result or Failure
	Result json.RawMessage `json:"result,omitempty"`
	// Failure is the text of the call's error; "" where it had none.
	Failure string `json:"failure,omitempty"`

	active bool // a call of Effect is about it now
}

func newJournal() *journal { return &journal{Version: journalVersion} }

func readJournal(state agent.JSON) (*journal, error) {
	j := &journal{}
	if err := json.Unmarshal(state, j); err != nil {
		return nil, fmt.Errorf("read the turn's journal: %w", err)
	}
	if j.Version != journalVersion {
		return nil, agent.Errorf(agent.CodeUnsupportedSchema, "the turn's journal has version %d, this runner reads %d", j.Version, journalVersion)
	}
	return j, nil
}

// encode keeps payloads as they are: nothing is escaped for HTML's sake.
func (j *journal) encode() (agent.JSON, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(j); err != nil {
		return nil, fmt.Errorf("write the turn's journal: %w", err)
	}
	return agent.JSON(bytes.TrimSpace(out.Bytes())), nil
}

func (j *journal) used() bool { return len(j.Effects)+len(j.Passed)+len(j.State) > 0 }

func (j *journal) find(id string) *effectRecord {
	for _, r := range j.Effects {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// passBoundary notes a boundary, and tells whether it is a new one.
func (j *journal) passBoundary(boundary string) bool {
	if slices.Contains(j.Passed, boundary) {
		return false
	}
	j.Passed = append(j.Passed, boundary)
	return true
}
