package agent

import "bytes"

// Entry is the entry that d becomes at seq of a thread's incarnation, now
// being the log's time. Empty fields take their defaults.
func (d Draft) Entry(incarnation, seq uint64, now int64) Entry {
	e := Entry{ID: d.ID, Seq: seq, At: now, Kind: d.Kind, Payload: d.Payload, Refs: d.Refs}
	if e.ID == "" {
		e.ID = generatedID(incarnation, seq)
	}
	if d.At != nil {
		e.At = *d.At
	}
	if e.Kind == "" {
		e.Kind = KindNote
	}
	if isNull(e.Payload) {
		e.Payload = emptyObject
	}
	if isNull(e.Refs) {
		e.Refs = emptyObject
	}
	return e
}

// SameContent tells whether d, sent again, is what e records already. What d
// leaves empty matches what Entry would have filled in: any generated id, any
// time, the default kind, payload and refs. JSON is compared byte by byte.
func (d Draft) SameContent(e Entry) bool {
	if d.ID == "" {
		if _, _, generated := GeneratedID(e.ID); !generated {
			return false
		}
	} else if d.ID != e.ID {
		return false
	}
	if d.At != nil && *d.At != e.At {
		return false
	}
	filled := d.Entry(0, 0, 0)
	return filled.Kind == e.Kind && bytes.Equal(filled.Payload, e.Payload) && bytes.Equal(filled.Refs, e.Refs)
}
