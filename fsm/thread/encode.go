package thread

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/compactjson"
	"dormouse/internal/invariant"
	"dormouse/internal/protocode"
)

// writers holds unused writers, of at most scratchMax bytes.
var writers = sync.Pool{New: func() any { return new(kv.TailWriter) }}

const scratchMax = 256 << 10

// Encoded returns the entries between two seqs as agent.Thawed.Encoded has them. It calls add with
// the bytes that entries count for. The result is what decoding the rows and encoding the
// entries gives, without the objects between. It may share memory with the cache of tails, so it must
// not be changed.
func Encoded(r txn.Reader, j Journal, from, to uint64, add func(size int) error) ([]byte, error) {
	if from == to {
		return nil, nil
	}
	tail := cachedTail(r, j, from)
	if invariant.Enabled && from < tail.To {
		checkTail(r, j, tail, from, min(to, tail.To))
	}
	if to <= tail.To {
		encoded, counted := tail.Slice(from, to)
		return encoded, add(counted)
	}
	w := writers.Get().(*kv.TailWriter) //nolint:forcetypeassert // see writers
	w.Begin(j.Meta.Incarnation, from)
	if err := encode(w, r, j, tail, from, to, add); err != nil {
		return nil, err
	}
	if cap(w.Entries) > scratchMax {
		return w.Entries, nil
	}
	defer writers.Put(w)
	if r.Tails == nil || len(w.Entries) > kv.TailMax {
		return bytes.Clone(w.Entries), nil
	}
	key := kv.IDKey(kv.KindThread, r.Scope, j.Meta.Id)
	piece := w.End(key)
	r.Tails.KeepTail(key, piece)
	return piece[len(key):][:len(w.Entries):len(w.Entries)], nil
}

// cachedTail returns the journal's tail in the cache if it does not begin after a seq, and else an empty one.
func cachedTail(r txn.Reader, j Journal, from uint64) kv.Tail {
	if r.Tails == nil {
		return kv.Tail{}
	}
	tail, ok := r.Tails.Tail(kv.IDKey(kv.KindThread, r.Scope, j.Meta.Id))
	if !ok || tail.Incarnation != j.Meta.Incarnation || from < tail.From {
		return kv.Tail{}
	}
	return tail
}

// checkTail panics if a tail's entries between two seqs are not those of the rows.
func checkTail(r txn.Reader, j Journal, tail kv.Tail, from, to uint64) {
	var rows kv.TailWriter
	err := encode(&rows, r, j, kv.Tail{}, from, to, func(int) error { return nil })
	cached, _ := tail.Slice(from, to)
	invariant.Check(err != nil || bytes.Equal(cached, rows.Entries), "entries %d to %d of thread %q are others in memory", from, to, j.Meta.Id)
}

// encode writes the entries between two seqs: those that the tail has, and then those of the rows.
func encode(w *kv.TailWriter, r txn.Reader, j Journal, tail kv.Tail, from, to uint64, add func(size int) error) error {
	if from < tail.To {
		_, counted := tail.Slice(from, tail.To)
		if err := add(counted); err != nil {
			return err
		}
		w.Copy(tail, from)
		from = tail.To
	}
	var e encodedEntry
	for _, s := range j.spans(from, to, false) {
		more, err := eachRow(r, j, s, false, func(stored storedRow, seq uint64) (bool, error) {
			raw, ok := stored.PinnedValue()
			if !ok {
				return false, nil // eachRow returns the error
			}
			if err := e.read(raw, s.incarnation, seq); err != nil {
				return false, fmt.Errorf("decode entry %d: %w", seq, err)
			}
			if err := add(e.bytes()); err != nil {
				return false, err
			}
			w.Entries = e.appendTo(w.Entries)
			w.Mark(e.bytes())
			return true, nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Numbers of fields in the API's messages. They never change.
const (
	thawedEntries = 3

	entryID          = 1
	entrySeq         = 2
	entryAt          = 3
	entryKind        = 4
	entryPayload     = 5
	entryRefs        = 6
	entryContentType = 290
	entryBytes       = 291
)

// encodedEntry is an entry whose fields share the memory of its row.
type encodedEntry struct {
	seq                                        uint64
	at                                         int64
	id, kind, payload, refs, contentType, data []byte

	room [64]byte // of a generated id
}

var (
	kindDefault        = []byte(agent.KindNote)
	contentTypeDefault = []byte(agent.DefaultContentType)
	emptyObject        = []byte("{}")
)

// read reads a row, and sets what it leaves out, as agent.Draft.Entry does. It decodes head and offset
// only to refuse a damaged row.
func (e *encodedEntry) read(raw []byte, incarnation, seq uint64) error {
	var id, kind, payload, refs, head []byte
	var offset uint64
	e.seq, e.at, e.contentType, e.data = seq, 0, nil, nil
	f := protocode.Field{Mode: protocode.Shared}
	for len(raw) > 0 {
		if begin, end := protocode.ShortBytes(raw); end > 0 { // what most fields are
			value, known := raw[begin:end], true
			switch raw[0] >> 3 { // fields of EntryRow
			case 1:
				id = value
			case 3:
				kind = value
			case 4:
				payload = value
			case 5:
				refs = value
			case 6:
				head = value
			default:
				known = false // a number of the wrong type, or a field of a newer version
			}
			if known {
				raw = raw[end:]
				continue
			}
		}
		var err error
		if raw, err = f.Next(raw); err != nil {
			return err //nolint:wrapcheck // names the field
		}
		switch f.Number {
		case 1:
			err = f.Bytes(&id)
		case 2:
			err = protocode.Int(&f, &e.at)
		case 3:
			err = f.Bytes(&kind)
		case 4:
			err = f.Bytes(&payload)
		case 5:
			err = f.Bytes(&refs)
		case 6:
			err = f.Bytes(&head)
		case 7:
			err = protocode.Int(&f, &offset)
		case 290:
			err = f.Bytes(&e.contentType)
		case 291:
			err = f.Bytes(&e.data)
		default: // the message has no such field
		}
		if err != nil {
			return err //nolint:wrapcheck // names the field
		}
	}
	e.id, e.kind, e.payload, e.refs = id, kind, payload, refs
	e.fill(incarnation)
	return nil
}

// fill sets what the row leaves out.
func (e *encodedEntry) fill(incarnation uint64) {
	if len(e.id) == 0 {
		e.id = agent.AppendGeneratedID(e.room[:0], incarnation, e.seq)
	}
	if len(e.kind) == 0 {
		e.kind = kindDefault
	}
	if compactjson.IsNull(e.payload) {
		e.payload = emptyObject
	}
	if compactjson.IsNull(e.refs) {
		e.refs = emptyObject
	}
	if len(e.contentType) == 0 && len(e.data) > 0 {
		e.contentType = contentTypeDefault
	}
}

// bytes returns what EntryBytes returns for the entry.
func (e *encodedEntry) bytes() int {
	return len(e.id) + len(e.kind) + len(e.payload) + len(e.refs) + len(e.contentType) + len(e.data)
}

// appendTo appends the entry as a field of a message Thawed.
func (e *encodedEntry) appendTo(buffer []byte) []byte {
	size := protocode.SizeText(entryID, e.id) + protocode.SizeInt(entrySeq, e.seq) + protocode.SizeInt(entryAt, e.at) +
		protocode.SizeText(entryKind, e.kind) + protocode.SizeText(entryPayload, e.payload) + protocode.SizeText(entryRefs, e.refs) +
		protocode.SizeText(entryContentType, e.contentType) + protocode.SizeText(entryBytes, e.data)
	n := protocode.SizeMessage(thawedEntries, size)
	buffer = slices.Grow(buffer, n)
	buffer = buffer[:len(buffer)+n]
	i := len(buffer)
	i = protocode.PutText(buffer, i, entryBytes, e.data)
	i = protocode.PutText(buffer, i, entryContentType, e.contentType)
	i = protocode.PutText(buffer, i, entryRefs, e.refs)
	i = protocode.PutText(buffer, i, entryPayload, e.payload)
	i = protocode.PutText(buffer, i, entryKind, e.kind)
	i = protocode.PutInt(buffer, i, entryAt, e.at)
	i = protocode.PutInt(buffer, i, entrySeq, e.seq)
	i = protocode.PutText(buffer, i, entryID, e.id)
	protocode.PutMessage(buffer, i, len(buffer), thawedEntries)
	return buffer
}
