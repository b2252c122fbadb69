package gossip

import "testing"

// FuzzCard: what is decoded encodes to what decodes to the same.
func FuzzCard(f *testing.F) {
	for _, c := range []card{{}, {Meta: Meta{"r", "g", "h", "v"}, incarnation: "i", leaving: true}} {
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
