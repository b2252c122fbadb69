package turnsnap_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/agent/turnsnap"
)

// key returns a key with a known secret.
func key(id string) turnsnap.Key {
	return turnsnap.Key{ID: id, Secret: bytes.Repeat([]byte(id+"."), turnsnap.SecretBytesMin)}
}

func ring(tb testing.TB, newest string, older ...string) *turnsnap.Ring {
	tb.Helper()
	var keys []turnsnap.Key
	for _, id := range older {
		keys = append(keys, key(id))
	}
	r, err := turnsnap.NewRing(key(newest), keys...)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// full returns a snapshot with all fields set, in canonical form.
func full() agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: "snap_1", Agent: "a", RequestID: "r", At: 1700000000000,
		Cursor:    agent.Cursor{Phase: agent.PhaseBeforeEffect, LoopIndex: 1 << 60, Metadata: agent.JSON(`{"effect":"e"}`)},
		TurnState: agent.JSON(`{"a":9007199254740993,"b":[1.50,"é\u0000",{"c":null}]}`), Metadata: agent.JSON(`{"m":true}`),
	}
}

func sign(tb testing.TB, r *turnsnap.Ring, s agent.SessionSnapshot) string {
	tb.Helper()
	portable, err := r.Sign(s)
	if err != nil {
		tb.Fatal(err)
	}
	return portable
}

// forge signs any payload with a key, as another program with the key could.
func forge(k turnsnap.Key, payload string) string {
	signed := turnsnap.Prefix + payload + "." + k.ID
	mac := hmac.New(sha256.New, k.Secret)
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestWhatIsSignedOpensAsItWas(t *testing.T) {
	r := ring(t, "k1")
	got, err := r.Open(sign(t, r, full()))
	if err != nil || !reflect.DeepEqual(got, full()) {
		t.Errorf("opened: %v, %+v", err, got)
	}
	least := agent.SessionSnapshot{ID: "s", Cursor: agent.Cursor{Phase: agent.PhaseStart}}
	got, err = r.Open(sign(t, r, least))
	least.Cursor.Metadata, least.TurnState, least.Metadata = agent.JSON("{}"), agent.JSON("{}"), agent.JSON("{}")
	if err != nil || !reflect.DeepEqual(got, least) {
		t.Errorf("the least one opened: %v, %+v", err, got)
	}
}

func TestOneSnapshotHasOneString(t *testing.T) {
	r := ring(t, "k1")
	other := full()
	other.TurnState = agent.JSON("{ \"b\": [1.50, \"\\u00e9\\u0000\", {\"c\": null}], \"a\": 9007199254740993 }")
	first, second := sign(t, r, full()), sign(t, r, other)
	if first != second {
		t.Errorf("two strings of one snapshot:\n%s\n%s", first, second)
	}
	opened, err := r.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	if again := sign(t, r, opened); again != first {
		t.Errorf("opened and signed again it is\n%s, was\n%s", again, first)
	}
}

func TestKeysAreRotated(t *testing.T) {
	before, between, after := ring(t, "k1"), ring(t, "k2", "k1"), ring(t, "k2")
	old, fresh := sign(t, before, full()), sign(t, between, full())
	if !strings.Contains(fresh, ".k2.") {
		t.Errorf("not signed with the newest key: %s", fresh)
	}
	for name, c := range map[string]struct {
		ring *turnsnap.Ring
		text string
		want agent.Code
	}{
		"the old key's, while it is in the ring": {between, old, ""},
		"the new key's":                          {between, fresh, ""},
		"the new key's, without the old one":     {after, fresh, ""},
		"the old key's, once it is gone":         {after, old, turnsnap.CodeInvalidSignature},
		"the new key's, before it came":          {before, fresh, turnsnap.CodeInvalidSignature},
	} {
		if _, err := c.ring.Open(c.text); agent.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	reused, err := turnsnap.NewRing(turnsnap.Key{ID: "k1", Secret: key("k9").Secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reused.Open(old); agent.CodeOf(err) != turnsnap.CodeInvalidSignature {
		t.Errorf("under an id that another secret had: %v", err)
	}
}

func TestARingNeedsWholeKeys(t *testing.T) {
	for name, c := range map[string]struct {
		keys []turnsnap.Key
		want agent.Code
	}{
		"no secret":          {[]turnsnap.Key{{ID: "k"}}, turnsnap.CodeMissingSecret},
		"31 bytes":           {[]turnsnap.Key{{ID: "k", Secret: make([]byte, 31)}}, turnsnap.CodeMissingSecret},
		"32 bytes":           {[]turnsnap.Key{{ID: "k", Secret: make([]byte, 32)}}, ""},
		"an older one short": {[]turnsnap.Key{key("k"), {ID: "j", Secret: make([]byte, 31)}}, turnsnap.CodeMissingSecret},
		"no id":              {[]turnsnap.Key{key("")}, agent.CodeInvalid},
		"a dot in the id":    {[]turnsnap.Key{key("a.b")}, agent.CodeInvalid},
		"a long id":          {[]turnsnap.Key{key(strings.Repeat("k", 65))}, agent.CodeInvalid},
		"one id twice":       {[]turnsnap.Key{key("k"), key("k")}, agent.CodeInvalid},
	} {
		if _, err := turnsnap.NewRing(c.keys[0], c.keys[1:]...); agent.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := new(turnsnap.Ring).Sign(full()); agent.CodeOf(err) != turnsnap.CodeMissingSecret {
		t.Errorf("a ring without keys signs: %v", err)
	}
}

// NewRing copies the caller's secret: later changes of it have no effect.
func TestARingKeepsItsOwnSecrets(t *testing.T) {
	k := key("k")
	r, err := turnsnap.NewRing(k)
	if err != nil {
		t.Fatal(err)
	}
	portable := sign(t, r, full())
	clear(k.Secret)
	if _, err := r.Open(portable); err != nil {
		t.Error(err)
	}
}

func TestUnsignedStringsAreRefused(t *testing.T) {
	r, k := ring(t, "k1"), key("k1")
	good := sign(t, r, full())
	parts := strings.Split(strings.TrimPrefix(good, turnsnap.Prefix), ".")
	enc := base64.RawURLEncoding.EncodeToString
	refused := map[string]struct {
		text, says string
		want       agent.Code
	}{
		"nothing":             {"", "not a portable snapshot", turnsnap.CodeInvalidSerialization},
		"another system's":    {"jidoka:snapshot:v1:" + parts[0] + "." + parts[2], "begins with", turnsnap.CodeInvalidSerialization},
		"plain JSON":          {` {"snapshot_id":"s"}`, "sign it", turnsnap.CodeUnsafeInput},
		"no signature":        {turnsnap.Prefix + parts[0], "not signed", turnsnap.CodeUnsafeInput},
		"a key id alone":      {turnsnap.Prefix + parts[0] + ".k1", "not signed", turnsnap.CodeUnsafeInput},
		"an empty signature":  {turnsnap.Prefix + parts[0] + ".k1.", "not signed", turnsnap.CodeUnsafeInput},
		"a later outer form":  {"dormouse:snapshot:v2:" + parts[0], "newer", turnsnap.CodeUnsupportedSchema},
		"another body":        {turnsnap.Prefix + enc([]byte("{}")) + ".k1." + parts[2], "changed", turnsnap.CodeInvalidSignature},
		"half a signature":    {good[:len(good)-20], "changed", turnsnap.CodeInvalidSignature},
		"more at the end":     {good + "\n", "changed", turnsnap.CodeInvalidSignature},
		"padding":             {good + "=", "changed", turnsnap.CodeInvalidSignature},
		"an unknown key":      {turnsnap.Prefix + parts[0] + ".k2." + parts[2], "add the key", turnsnap.CodeInvalidSignature},
		"another key's":       {strings.Replace(sign(t, ring(t, "k2"), full()), ".k2.", ".k1.", 1), "changed", turnsnap.CodeInvalidSignature},
		"oversized":           {turnsnap.Prefix + strings.Repeat("A", turnsnap.PortableBytesMax), "more than portable_snapshot_bytes_max", agent.CodeTooLarge},
		"signed, not base64":  {forge(k, "!!"), "base64", turnsnap.CodeInvalidSerialization},
		"signed, not JSON":    {forge(k, enc([]byte("{"))), "not a snapshot", turnsnap.CodeInvalidSerialization},
		"signed, no snapshot": {forge(k, enc([]byte(`{"schema_version":1,"snapshot":7}`))), "not a snapshot", turnsnap.CodeInvalidSerialization},
		"signed, more in it":  {forge(k, enc([]byte(`{"schema_version":1,"snapshot":{"snapshot_id":"s","x":1}}`))), "not a snapshot", turnsnap.CodeInvalidSerialization},
		"signed, no phase":    {forge(k, enc([]byte(`{"schema_version":1,"snapshot":{"snapshot_id":"s"}}`))), "phase", agent.CodeInvalid},
		"a newer schema":      {forge(k, enc([]byte(`{"schema_version":2,"snapshot":{"new":1},"more":{}}`))), "reads 1 to 1", turnsnap.CodeUnsupportedSchema},
		"no schema":           {forge(k, enc([]byte(`{"snapshot":{}}`))), "schema_version is 0", turnsnap.CodeUnsupportedSchema},
	}
	for name, c := range refused {
		got, err := r.Open(c.text)
		if agent.CodeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s that says %q", name, err, c.want, c.says)
		}
		if !reflect.DeepEqual(got, agent.SessionSnapshot{}) {
			t.Errorf("%s: something was handed out: %+v", name, got)
		}
		if agent.OutcomeOf(err) != agent.Refused {
			t.Errorf("%s: not a refusal", name)
		}
	}
}

func TestWhatASessionRefusesIsNotSigned(t *testing.T) {
	r := ring(t, "k1")
	for field, change := range map[string]func(*agent.SessionSnapshot){
		"snapshot.snapshot_id":     func(s *agent.SessionSnapshot) { s.ID = "" },
		"snapshot.cursor.phase":    func(s *agent.SessionSnapshot) { s.Cursor.Phase = "later" },
		"snapshot.turn_state":      func(s *agent.SessionSnapshot) { s.TurnState = agent.JSON(`[]`) },
		"snapshot.metadata":        func(s *agent.SessionSnapshot) { s.Metadata = agent.JSON(`{"a":1,"a":2}`) },
		"snapshot.cursor.metadata": func(s *agent.SessionSnapshot) { s.Cursor.Metadata = agent.JSON(`{`) },
	} {
		s := full()
		change(&s)
		_, err := r.Sign(s)
		var e *agent.Error
		if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	s := full()
	s.TurnState = agent.JSON(`{"t":"` + strings.Repeat("x", agent.SessionSnapshotBytesMax) + `"}`)
	if _, err := r.Sign(s); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("oversized: %v", err)
	}
}

// The largest snapshot that a session accepts can be signed: ids whose bytes are all
// escaped, and contents at the limit.
func TestTheLargestSnapshotTravels(t *testing.T) {
	r := ring(t, strings.Repeat("k", turnsnap.KeyIDBytesMax))
	id := strings.Repeat(`"`, agent.IDBytesMax)
	s := agent.SessionSnapshot{ID: id, Agent: id, RequestID: id, At: 1 << 60, Cursor: agent.Cursor{Phase: agent.PhaseBeforeEffect, LoopIndex: 1 << 63}}
	s.Cursor.Metadata, s.Metadata = agent.JSON("{}"), agent.JSON("{}")
	s.TurnState = agent.JSON(`{"t":"` + strings.Repeat(`\u0001`, (agent.SessionSnapshotBytesMax-12)/6) + `"}`)
	got, err := r.Open(sign(t, r, s))
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v; equal: %v", err, err == nil)
	}
}
