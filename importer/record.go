package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// recordFormat is the version of what Record says.
const recordFormat = 1

// Record is one line of an export; exactly one of its members is there. The
// first line is an export, the last an end. A thread is followed by its
// entries, from its floor on.
//
// Payloads, states and metadata are written as they are stored, byte for byte.
// What an export does not hold: revisions, incarnations, times of writing,
// histories and seals.
type Record struct {
	Export     *ExportRecord     `json:"export,omitzero"`
	Value      *ValueRecord      `json:"value,omitzero"`
	Checkpoint *CheckpointRecord `json:"checkpoint,omitzero"`
	Thread     *ThreadRecord     `json:"thread,omitzero"`
	Entry      *EntryRecord      `json:"entry,omitzero"`
	End        *EndRecord        `json:"end,omitzero"`
}

// ExportRecord begins an export.
type ExportRecord struct {
	Format int    `json:"format"`
	Scope  string `json:"scope"`
}

// ValueRecord is a value.
type ValueRecord struct {
	Key         string `json:"key"`
	ContentType string `json:"content_type"`
	Bytes       []byte `json:"bytes"` // base64
	ExpiresAt   int64  `json:"expires_at,omitzero"`
}

// CheckpointRecord is a checkpoint.
type CheckpointRecord struct {
	Key       string         `json:"key"`
	Version   uint64         `json:"version"`
	State     jsontext.Value `json:"state"`
	Thread    *PointerRecord `json:"thread,omitzero"`
	Lifecycle string         `json:"lifecycle,omitzero"`
	Metadata  jsontext.Value `json:"metadata"`
	ExpiresAt int64          `json:"expires_at,omitzero"`
}

// PointerRecord is where a checkpoint points.
type PointerRecord struct {
	ID   string `json:"id"`
	Rev  uint64 `json:"rev"`
	Head string `json:"head"`
}

// ThreadRecord is a thread without its entries.
type ThreadRecord struct {
	ID       string         `json:"id"`
	Rev      uint64         `json:"rev"`
	Head     string         `json:"head"`
	Floor    uint64         `json:"floor,omitzero"`
	Summary  jsontext.Value `json:"summary,omitzero"`
	Metadata jsontext.Value `json:"metadata"`
}

// EntryRecord is an entry of the thread before it.
type EntryRecord struct {
	Seq     uint64         `json:"seq"`
	ID      string         `json:"id"`
	At      int64          `json:"at"`
	Kind    string         `json:"kind"`
	Payload jsontext.Value `json:"payload"`
	Refs    jsontext.Value `json:"refs"`
}

// EndRecord ends an export, and says how much there was.
type EndRecord struct {
	Values      int `json:"values"`
	Checkpoints int `json:"checkpoints"`
	Threads     int `json:"threads"`
	Entries     int `json:"entries"`
}

// count counts a record.
func (e *EndRecord) count(r Record) {
	switch {
	case r.Value != nil:
		e.Values++
	case r.Checkpoint != nil:
		e.Checkpoints++
	case r.Thread != nil:
		e.Threads++
	case r.Entry != nil:
		e.Entries++
	}
}

func checkpointRecord(c *agent.Checkpoint) *CheckpointRecord {
	r := &CheckpointRecord{
		Key: c.Key, Version: c.Version, State: jsontext.Value(c.State), Lifecycle: c.Lifecycle,
		Metadata: jsontext.Value(c.Metadata), ExpiresAt: c.ExpiresAt,
	}
	if p := c.Thread; p != nil {
		r.Thread = &PointerRecord{ID: p.Thread, Rev: p.Rev, Head: p.Head}
	}
	return r
}

func threadRecord(t agent.Thread) *ThreadRecord {
	return &ThreadRecord{
		ID: t.ID, Rev: t.Rev, Head: t.Head.String(), Floor: t.Floor,
		Summary: jsontext.Value(t.Summary), Metadata: jsontext.Value(t.Metadata),
	}
}

func entryRecord(e agent.Entry) *EntryRecord {
	return &EntryRecord{Seq: e.Seq, ID: e.ID, At: e.At, Kind: e.Kind, Payload: jsontext.Value(e.Payload), Refs: jsontext.Value(e.Refs)}
}

func (e *EntryRecord) draft() agent.Draft {
	return agent.Draft{ID: e.ID, At: &e.At, Kind: e.Kind, Payload: agent.JSON(e.Payload), Refs: agent.JSON(e.Refs)}
}

// remaining is how long something lives that expires at an instant; false
// where it is over already. 0 means for ever.
func remaining(expiresAt int64, now time.Time) (time.Duration, bool) {
	if expiresAt == 0 {
		return 0, true
	}
	left := time.UnixMilli(expiresAt).Sub(now).Truncate(time.Millisecond)
	return left, left > 0
}

// ReadRecords reads an export and hands each record between its first and its
// last line to handle. An error names the line; an export without its end is
// one.
func ReadRecords(r io.Reader, handle func(line int, record Record) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), lineBytesMax)
	var seen EndRecord
	var end *EndRecord
	n := 0
	for lines.Scan() {
		n++
		var record Record
		if err := json.Unmarshal(append([]byte(nil), lines.Bytes()...), &record, json.RejectUnknownMembers(true)); err != nil {
			return fmt.Errorf("line %d: not a record of an export: %w", n, err)
		}
		switch {
		case end != nil:
			return fmt.Errorf("line %d: something follows the end", n)
		case n == 1 && record.Export == nil:
			return errors.New("line 1: not an export: transcripts are imported without --raw")
		case n == 1 && record.Export.Format != recordFormat:
			return fmt.Errorf("line 1: the export has format %d, and this program reads format %d", record.Export.Format, recordFormat)
		case n == 1:
		case record.End != nil:
			end = record.End
		default:
			before := seen
			if seen.count(record); seen == before {
				return fmt.Errorf("line %d: an empty record", n)
			}
			if err := handle(n, record); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("after line %d: %w", n, err)
	}
	if end == nil {
		return fmt.Errorf("after line %d: the end is missing: the export was cut short", n)
	}
	if *end != seen {
		return fmt.Errorf("line %d: the export says that it holds %+v, but it holds %+v", n, *end, seen)
	}
	return nil
}
