package turnsnap

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// envelope is the JSON of a portable string. The snapshot is decoded after the version
// is checked.
type envelope struct {
	SchemaVersion uint64         `json:"schema_version"`
	Snapshot      jsontext.Value `json:"snapshot"`
}

// snapshot is agent.SessionSnapshot with the field names of the API.
type snapshot struct {
	ID        string         `json:"snapshot_id"`
	AgentID   string         `json:"agent_id,omitzero"`
	RequestID string         `json:"request_id,omitzero"`
	Cursor    cursor         `json:"cursor"`
	TurnState jsontext.Value `json:"turn_state"`
	Metadata  jsontext.Value `json:"metadata"`
	At        int64          `json:"at,omitzero"`
}

type cursor struct {
	Phase     agent.CursorPhase `json:"phase"`
	LoopIndex uint64            `json:"loop_index"`
	Metadata  jsontext.Value    `json:"metadata"`
}

// encode returns the canonical JSON of a snapshot.
func encode(s agent.SessionSnapshot) ([]byte, error) {
	s, err := settled(s)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(snapshot{
		ID: s.ID, AgentID: s.Agent, RequestID: s.RequestID, TurnState: jsontext.Value(s.TurnState), Metadata: jsontext.Value(s.Metadata), At: s.At,
		Cursor: cursor{Phase: s.Cursor.Phase, LoopIndex: s.Cursor.LoopIndex, Metadata: jsontext.Value(s.Cursor.Metadata)},
	})
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "write the snapshot as JSON: %v", err)
	}
	whole, err := json.Marshal(envelope{SchemaVersion: SchemaVersionMax, Snapshot: body})
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "write the snapshot as JSON: %v", err)
	}
	return canonical(whole)
}

// decode returns the snapshot in a signed payload. The payload may be of a newer
// release, or of another program with the key.
func decode(payload []byte) (agent.SessionSnapshot, error) {
	var e envelope
	if err := json.Unmarshal(payload, &e); err != nil {
		return agent.SessionSnapshot{}, unreadable(err)
	}
	if e.SchemaVersion < 1 || e.SchemaVersion > SchemaVersionMax {
		err := agent.Errorf(CodeUnsupportedSchema, "the snapshot's schema_version is %d; this release reads 1 to %d: open it with the release that made it, or a newer one",
			e.SchemaVersion, SchemaVersionMax)
		err.Field = "schema_version"
		return agent.SessionSnapshot{}, err
	}
	var s snapshot
	if err := json.Unmarshal(e.Snapshot, &s, json.RejectUnknownMembers(true)); err != nil {
		return agent.SessionSnapshot{}, unreadable(err)
	}
	return settled(agent.SessionSnapshot{
		ID: s.ID, Agent: s.AgentID, RequestID: s.RequestID, TurnState: agent.JSON(s.TurnState), Metadata: agent.JSON(s.Metadata), At: s.At,
		Cursor: agent.Cursor{Phase: s.Cursor.Phase, LoopIndex: s.Cursor.LoopIndex, Metadata: agent.JSON(s.Cursor.Metadata)},
	})
}

// settled validates a snapshot and fills in its defaults, with the rules of the op
// that stores it.
func settled(s agent.SessionSnapshot) (agent.SessionSnapshot, error) {
	op := &agent.CheckpointSession{Session: "s", Snapshot: s}
	if err := (&agent.Commit{Ops: []agent.Op{op}}).Validate(); err != nil {
		return agent.SessionSnapshot{}, err
	}
	for _, object := range []*agent.JSON{&op.Snapshot.Cursor.Metadata, &op.Snapshot.TurnState, &op.Snapshot.Metadata} {
		if len(*object) == 0 {
			*object = agent.JSON("{}")
		}
	}
	return op.Snapshot, nil
}

// canonical sorts members and rewrites strings with the fewest escapes; number
// literals stay unchanged.
func canonical(raw []byte) ([]byte, error) {
	value := jsontext.Value(raw)
	if err := value.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false)); err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "canonicalize JSON: %v", err)
	}
	return value, nil
}

func unreadable(err error) *agent.Error {
	return agent.Errorf(CodeInvalidSerialization, "signed, but not a snapshot: %v", err)
}
