package turnsnap

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"dormouse/agent"
)

// Key is a secret and its id, which is part of the strings that it signs.
type Key struct {
	ID     string // 1 to KeyIDBytesMax letters, digits, "-" and "_"; never reused for another secret
	Secret []byte // at least SecretBytesMin random bytes
}

// Ring signs with its newest key and opens strings signed with any of its keys. To
// rotate keys, first give the new key to all programs that open strings. Then make it
// the newest key of all programs that sign. Drop the old key when no string signed
// with it is left. All methods may be called concurrently.
type Ring struct {
	newest  string
	secrets map[string][]byte // by key id
}

// NewRing returns a ring. A missing or short secret is
// missing_snapshot_signing_secret; a malformed or duplicate id is invalid.
func NewRing(newest Key, older ...Key) (*Ring, error) {
	r := &Ring{newest: newest.ID, secrets: map[string][]byte{}}
	for _, key := range append([]Key{newest}, older...) {
		if !validKeyID(key.ID) {
			return nil, agent.Invalid("key_id", "the key id %q must be 1 to %d letters, digits, - and _", key.ID, KeyIDBytesMax)
		}
		if len(key.Secret) < SecretBytesMin {
			return nil, agent.Errorf(CodeMissingSecret, "the secret of key %s has %d bytes: give it at least %d random ones",
				key.ID, len(key.Secret), SecretBytesMin)
		}
		if _, taken := r.secrets[key.ID]; taken {
			return nil, agent.Invalid("key_id", "two keys have the id %s: ids must be unique", key.ID)
		}
		r.secrets[key.ID] = append([]byte(nil), key.Secret...)
	}
	return r, nil
}

func validKeyID(id string) bool {
	return len(id) >= 1 && len(id) <= KeyIDBytesMax && strings.Trim(id, alphabet) == ""
}

// alphabet is the alphabet of base64url.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// Sign returns the portable string of a snapshot. A snapshot that CheckpointSession
// refuses is refused with the same error.
func (r *Ring) Sign(s agent.SessionSnapshot) (string, error) {
	secret, ok := r.secrets[r.newest]
	if !ok {
		return "", agent.Errorf(CodeMissingSecret, "the ring has no key: make it with NewRing")
	}
	payload, err := encode(s)
	if err != nil {
		return "", err
	}
	signed := Prefix + base64.RawURLEncoding.EncodeToString(payload) + "." + r.newest
	return signed + "." + signature(secret, signed), nil
}

// Open returns the signed snapshot, with its JSON in canonical form. It refuses all
// strings that Sign did not make with a key of the ring.
func (r *Ring) Open(portable string) (agent.SessionSnapshot, error) {
	body, err := r.verified(portable)
	if err != nil {
		return agent.SessionSnapshot{}, err
	}
	payload, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil { // signed nevertheless: another program has the key
		return agent.SessionSnapshot{}, agent.Errorf(CodeInvalidSerialization, "signed, but not base64url: %v", err)
	}
	return decode(payload)
}

// verified returns the base64url between the prefix and the key id, after checking the
// signature. Nothing is decoded before that.
func (r *Ring) verified(portable string) (string, error) {
	if len(portable) > PortableBytesMax {
		return "", agent.TooLarge("snapshot", "portable_snapshot_bytes_max", len(portable), PortableBytesMax)
	}
	rest, ours := strings.CutPrefix(portable, Prefix)
	if !ours {
		return "", foreign(portable)
	}
	body, tail, dotted := strings.Cut(rest, ".")
	keyID, given, whole := strings.Cut(tail, ".")
	if !dotted || !whole || given == "" {
		return "", agent.Errorf(CodeUnsafeInput, "the snapshot is not signed, or was truncated: pass the string exactly as it was exported")
	}
	secret, known := r.secrets[keyID]
	if !known {
		return "", agent.Errorf(CodeInvalidSignature, "the ring has no key %.*q: add the key that it was signed with, or export the snapshot again", KeyIDBytesMax, keyID)
	}
	want := signature(secret, portable[:len(portable)-len(given)-1])
	// The texts are compared, not their decoded bytes: a signature has one spelling.
	if !hmac.Equal([]byte(given), []byte(want)) {
		return "", agent.Errorf(CodeInvalidSignature, "the snapshot was changed after key %s signed it, or the secret of that key differs: export the snapshot again", keyID)
	}
	return body, nil
}

// foreign returns the error of a string without Prefix.
func foreign(portable string) *agent.Error {
	if version, ours := strings.CutPrefix(portable, prefixOfAll); ours && version != "" {
		version, _, _ = strings.Cut(version, ":")
		return agent.Errorf(CodeUnsupportedSchema, "a portable snapshot of version %.16q; this release reads v1: open it with the release that made it, or a newer one", version)
	}
	if trimmed := strings.TrimLeft(portable, " \t\r\n"); strings.HasPrefix(trimmed, "{") {
		return agent.Errorf(CodeUnsafeInput, "a snapshot as plain JSON is not signed: sign it with Ring.Sign before exporting it")
	}
	return agent.Errorf(CodeInvalidSerialization, "not a portable snapshot: it begins with %.24q instead of %q", portable, Prefix)
}

// signature returns the signature of signed, as base64url.
func signature(secret []byte, signed string) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(signed)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
