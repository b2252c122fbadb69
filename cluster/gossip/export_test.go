package gossip

import (
	"context"
	"net"
	"testing"
)

// FuzzCard: what is decoded encodes to what decodes to the same.
func FuzzCard(f *testing.F) {
	for _, c := range []card{{}, {Meta: Meta{"r", "g", "h", "v", "lan"}, incarnation: "i", leaving: true}} {
		raw, err := c.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := decodeCard(raw)
		if err != nil {
			return
		}
		again, err := c.encode()
		if err != nil {
			t.Fatalf("encode %+v: %v", c, err)
		}
		if d, err := decodeCard(again); err != nil || d != c {
			t.Fatalf("got %+v, %v; want %+v", d, err, c)
		}
	})
}

// CardOfEarlierVersion checks that the metadata of a node that does not tell its timing is read.
func CardOfEarlierVersion(t *testing.T) {
	t.Helper()
	raw, err := card{Meta: Meta{"r", "g", "h", "v", ""}, incarnation: "i"}.encode()
	if err != nil {
		t.Fatal(err)
	}
	before := raw[:len(raw)-1] // without the length of the last field
	got, err := decodeCard(before)
	if want := (card{Meta: Meta{"r", "g", "h", "v", ""}, incarnation: "i"}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := decodeCard(before[:len(before)-1]); err == nil {
		t.Error("metadata without the end of a field was read")
	}
}

// SetAdvertised makes g believe that it advertises a name, which find looks up. It is called before Run.
func SetAdvertised(g *Gossip, name string, find func(context.Context, string) ([]net.IP, error)) (err error) {
	g.advertised, err = advertise(name, "", find)
	return err
}
