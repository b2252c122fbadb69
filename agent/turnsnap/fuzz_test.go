package turnsnap_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/agent/turnsnap"
)

// Each string with one flipped bit is refused.
func TestAnyBitFlipIsRefused(t *testing.T) {
	r := ring(t, "k1", "k0", "j1")
	good := []byte(sign(t, r, full()))
	for i := range len(good) * 8 {
		good[i/8] ^= 1 << (i % 8)
		if _, err := r.Open(string(good)); agent.OutcomeOf(err) != agent.Refused {
			t.Errorf("bit %d of byte %d: %v", i%8, i/8, err)
		}
		good[i/8] ^= 1 << (i % 8)
	}
	if _, err := r.Open(string(good)); err != nil {
		t.Fatal(err)
	}
}

// Open never panics, and opens only strings that Sign would produce again, byte for
// byte.
func FuzzOpen(f *testing.F) {
	r := ring(f, "k1", "k0")
	f.Add(sign(f, r, full()))
	f.Add(turnsnap.Prefix + "e30.k1.AAAA")
	f.Add("dormouse:snapshot:v9:")
	f.Add("{}")
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := r.Open(text)
		if err == nil && sign(t, r, s) != text {
			t.Errorf("opened, though it is not what is signed: %q", text)
		}
		if err != nil && agent.OutcomeOf(err) != agent.Refused {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// A signed payload may come from another program: Open does not panic on it, and an
// opened snapshot can be signed.
func FuzzOpenSigned(f *testing.F) {
	r, k := ring(f, "k1"), key("k1")
	for _, payload := range []string{
		`{"schema_version":1,"snapshot":{"snapshot_id":"s","cursor":{"phase":"wait"}}}`,
		`{"schema_version":2,"snapshot":{}}`, `{"schema_version":-1}`, `{"schema_version":1,"snapshot":null}`, `[]`, "",
	} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, err := r.Open(forge(k, base64url(payload)))
		if err == nil {
			sign(t, r, s)
		} else if agent.OutcomeOf(err) != agent.Refused {
			t.Errorf("%q: %v", payload, err)
		}
	})
}

// Any JSON of a turn opens as the same JSON, and signing it again gives the same
// bytes.
func FuzzRoundTrip(f *testing.F) {
	r := ring(f, "k1")
	f.Add("snap_1", "a", uint64(1), []byte(`{"b":1,"a":[1e400,-0.0,"\ud83d\ude00"]}`), []byte(`{}`))
	f.Add("s", "", uint64(0), []byte(nil), []byte(`null`))
	f.Fuzz(func(t *testing.T, id, agentID string, loop uint64, state, metadata []byte) {
		s := agent.SessionSnapshot{
			ID: id, Agent: agentID, Cursor: agent.Cursor{Phase: agent.PhaseWait, LoopIndex: loop}, TurnState: state, Metadata: metadata,
		}
		portable, err := r.Sign(s)
		if err != nil {
			if agent.CodeOf(err) == agent.CodeInternal {
				t.Error(err)
			}
			return
		}
		opened, err := r.Open(portable)
		if err != nil || opened.ID != id || opened.Agent != agentID || opened.Cursor.LoopIndex != loop {
			t.Fatalf("%v: %+v", err, opened)
		}
		if !sameJSON(t, state, opened.TurnState) || !sameJSON(t, metadata, opened.Metadata) {
			t.Errorf("other JSON: %s %s, was %s %s", opened.TurnState, opened.Metadata, state, metadata)
		}
		if sign(t, r, opened) != portable {
			t.Error("signed again it is another string")
		}
	})
}
