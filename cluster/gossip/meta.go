package gossip

import (
	"errors"
	"fmt"
)

// MetaBytesMax bounds a node's encoded metadata. Packets have 1,400 bytes and carry
// several nodes.
const MetaBytesMax = 255

const metaVersion = 1

// fieldsLeast is the number of fields that every version sends.
const fieldsLeast = 5

// Meta is what a node says of itself. It is not authenticated: use it as a hint.
type Meta struct {
	RaftAddr string
	GRPCAddr string
	HTTPAddr string
	Version  string
	Timing   string // the named set of times that it was configured with; "" from nodes that do not tell
}

// card is everything that is sent with a node's name.
type card struct {
	Meta
	incarnation string
	leaving     bool // the node is about to leave in order
}

func (c *card) fields() []*string {
	return []*string{&c.incarnation, &c.RaftAddr, &c.GRPCAddr, &c.HTTPAddr, &c.Version, &c.Timing}
}

func (c card) encode() ([]byte, error) {
	raw := []byte{metaVersion, 0}
	if c.leaving {
		raw[1] = 1
	}
	for _, field := range c.fields() {
		if len(*field) > MetaBytesMax {
			return nil, fmt.Errorf("gossip metadata: a field has %d bytes, more than %d", len(*field), MetaBytesMax)
		}
		raw = append(raw, byte(len(*field)))
		raw = append(raw, *field...)
	}
	if len(raw) > MetaBytesMax {
		return nil, fmt.Errorf("gossip metadata has %d bytes, more than %d: shorten the addresses or the version", len(raw), MetaBytesMax)
	}
	return raw, nil
}

// decodeCard parses a card of another node. It ignores fields that a later version
// has added at the end.
func decodeCard(raw []byte) (card, error) {
	var c card
	if len(raw) < 2 || len(raw) > MetaBytesMax || raw[0] != metaVersion {
		return card{}, errors.New("gossip metadata has an unknown format")
	}
	c.leaving = raw[1]&1 != 0
	rest := raw[2:]
	for i, field := range c.fields() {
		if len(rest) == 0 && i >= fieldsLeast {
			break // an earlier version has sent it
		}
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return card{}, errors.New("gossip metadata is truncated")
		}
		*field, rest = string(rest[1:1+rest[0]]), rest[1+rest[0]:]
	}
	return c, nil
}
