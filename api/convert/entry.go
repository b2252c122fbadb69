package convert

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/internal/protocode"
)

// thawedEntries is the number of the field of a message Thawed that has the entries.
const thawedEntries = 3

// errNotText is the error of a string of an entry.
var errNotText = errors.New("a string of an entry is not UTF-8")

// encodedEntries decodes the entries in encoded fields of a message Thawed: what entriesFromProto
// returns for them, without messages between. The entries share the memory of raw, which must not
// change afterwards. Other fields are ignored.
func encodedEntries(raw []byte) ([]agent.Entry, error) {
	count := 0
	f := protocode.Field{Mode: protocode.Shared}
	for rest := raw; len(rest) > 0; {
		var err error
		if rest, err = f.Next(rest); err != nil {
			return nil, fmt.Errorf("decode entries: %w", err)
		}
		if f.Number == thawedEntries {
			count++
		}
	}
	if count == 0 {
		return nil, nil
	}
	out, ids := make([]agent.Entry, count), ids{ends: make([]int, 0, count)}
	kind := ""
	for at, rest := 0, raw; at < count; {
		rest, _ = f.Next(rest) // succeeded above
		if f.Number != thawedEntries {
			continue
		}
		var one []byte
		err := f.Bytes(&one)
		if err == nil {
			err = ids.decode(&out[at], one, kind)
		}
		if err != nil {
			return nil, fmt.Errorf("decode entry %d of %d: %w", at, count, err)
		}
		kind = out[at].Kind
		at++
	}
	ids.give(out)
	return out, nil
}

// ids are those of entries that are decoded together: one allocation holds all.
type ids struct {
	text []byte
	ends []int // of each
}

// decode decodes an entry without its id, which n takes. before is the kind of the entry before it,
// whose memory it shares if it is the same.
func (n *ids) decode(e *agent.Entry, raw []byte, before string) error {
	var id, kind, payload, refs, contentType []byte
	f := protocode.Field{Mode: protocode.Shared}
	for len(raw) > 0 {
		if begin, end := protocode.ShortBytes(raw); end > 0 { // what most fields are
			value, known := raw[begin:end:end], true
			switch raw[0] >> 3 {
			case 1:
				id = value
			case 4:
				kind = value
			case 5:
				payload = value
			case 6:
				refs = value
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
			err = protocode.Int(&f, &e.Seq)
		case 3:
			err = protocode.Int(&f, &e.At)
		case 4:
			err = f.Bytes(&kind)
		case 5:
			err = f.Bytes(&payload)
		case 6:
			err = f.Bytes(&refs)
		case 290:
			err = f.Bytes(&contentType)
		case 291:
			err = f.Bytes(&e.Bytes)
		default: // of a newer version
		}
		if err != nil {
			return err //nolint:wrapcheck // names the field
		}
	}
	if !utf8.Valid(id) || !utf8.Valid(kind) || !utf8.Valid(contentType) {
		return errNotText
	}
	n.text = append(n.text, id...)
	n.ends = append(n.ends, len(n.text))
	if e.Kind = before; string(kind) != before {
		e.Kind = string(kind)
	}
	e.Payload, e.Refs, e.ContentType = ops.JSON(payload), ops.JSON(refs), string(contentType)
	return nil
}

// give sets the ids of the entries.
func (n *ids) give(entries []agent.Entry) {
	text, begin := string(n.text), 0
	for i, end := range n.ends {
		entries[i].ID = text[begin:end]
		begin = end
	}
}
