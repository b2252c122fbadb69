package turn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"dormouse/agent"
)

// journalVersion is the version of journals. Other versions are refused.
const journalVersion = 1

// journal is the state that a turn needs to continue. A snapshot's turn state
// holds it.
type journal struct {
	Version int             `json:"version"`
	Effects []*effectRecord `json:"effects,omitempty"` // in the order of their first calls
	Passed  []string        `json:"passed,omitempty"`  // boundaries at which the turn has paused
	State   json.RawMessage `json:"state,omitempty"`
}

// effectRecord is one effect: its intent, and its outcome if known.
type effectRecord struct {
	ID     string          `json:"id"`
	Name   string          `json:"name,omitempty"`
	Class  Class           `json:"class"`
	Input  json.RawMessage `json:"input,omitempty"`  // from the function
	Edited json.RawMessage `json:"edited,omitempty"` // from a review
	Begun  bool            `json:"begun,omitempty"`  // a call may have been made
	Ended  bool            `json:"ended,omitempty"`  // the outcome is known: Result or Failure
	Result json.RawMessage `json:"result,omitempty"`
	// Failure is the text of the call's error; "" if it succeeded.
	Failure string `json:"failure,omitempty"`

	active bool // a call of Effect is using it
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

// encode returns the journal as JSON, without escapes for HTML.
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

// passBoundary records a boundary, and reports whether it is new.
func (j *journal) passBoundary(boundary string) bool {
	if slices.Contains(j.Passed, boundary) {
		return false
	}
	j.Passed = append(j.Passed, boundary)
	return true
}
