package keys

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// keyPrefix begins the text of a cluster key, so that scanners find leaked keys.
	keyPrefix = "dormkey_"
	// hostPrefix begins the text of a host key.
	hostPrefix = "dormhost_"
	secretSize = 32
	idSize     = 8
	// ringMax bounds the keys of a ring: the current one, and others while keys are
	// replaced.
	ringMax = 4
)

// ErrKey says that a text or a file holds no valid key.
var ErrKey = errors.New("invalid key")

// Key is a cluster key. The zero value is no key.
type Key struct{ secret [secretSize]byte }

// New returns a random key.
func New() Key {
	var k Key
	_, _ = rand.Read(k.secret[:]) // it never fails
	return k
}

// Parse returns the key that Encode has written. The error wraps ErrKey.
func Parse(text string) (Key, error) {
	var k Key
	raw, err := decode(keyPrefix, text, secretSize)
	if err != nil {
		return Key{}, fmt.Errorf("%w: want a line of %q and %d bytes in base64, as \"dormctl cluster-key\" prints", err, keyPrefix, secretSize)
	}
	copy(k.secret[:], raw)
	return k, nil
}

// Encode returns the secret as a line of text.
func (k Key) Encode() string { return keyPrefix + base64.RawURLEncoding.EncodeToString(k.secret[:]) }

// ID returns the public name of the key.
func (k Key) ID() string { return hex.EncodeToString(k.derive("id")[:idSize]) }

// String returns the public name, so that no log line shows the secret.
func (k Key) String() string { return "cluster key " + k.ID() }

// GoString is String.
func (k Key) GoString() string { return k.String() }

// Gossip returns the key that encrypts gossip, for AES-256.
func (k Key) Gossip() []byte { return k.derive("gossip") }

// Backup returns the key that signs backups and the shipped log.
func (k Key) Backup() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.derive("backup")) }

// BackupPublic returns the public key of Backup.
func (k Key) BackupPublic() ed25519.PublicKey {
	public, _ := k.Backup().Public().(ed25519.PublicKey) // it always is
	return public
}

// Audit returns the key of the macs of audit logs.
func (k Key) Audit() []byte { return k.derive("audit") }

// Host returns the key that the cluster's host processes prove.
func (k Key) Host() HostKey {
	h := HostKey{id: k.ID()}
	copy(h.secret[:], k.derive("host"))
	return h
}

// derive returns the secret of 32 bytes for one purpose.
func (k Key) derive(purpose string) []byte {
	out, err := hkdf.Key(sha256.New, k.secret[:], nil, "dormouse/"+purpose, secretSize)
	if err != nil {
		panic("keys: " + err.Error()) // only for lengths that HKDF cannot give
	}
	return out
}

// HostKey is the secret of a host process. It proves a host, never a node.
type HostKey struct {
	id     string // of the cluster key
	secret [secretSize]byte
}

// ParseHost returns the key that HostKey.Encode has written. The error wraps
// ErrKey.
func ParseHost(text string) (HostKey, error) {
	raw, err := decode(hostPrefix, text, idSize+secretSize)
	if err != nil {
		return HostKey{}, fmt.Errorf("%w: want the contents of a node's host.key", err)
	}
	h := HostKey{id: hex.EncodeToString(raw[:idSize])}
	copy(h.secret[:], raw[idSize:])
	return h, nil
}

// Encode returns the secret as a line of text.
func (h HostKey) Encode() string {
	id, _ := hex.DecodeString(h.id) // written by this package
	return hostPrefix + base64.RawURLEncoding.EncodeToString(slices.Concat(id, h.secret[:]))
}

// String returns the public name, so that no log line shows the secret.
func (h HostKey) String() string { return "host key " + h.id }

// GoString is String.
func (h HostKey) GoString() string { return h.String() }

// Credentials returns what a host proves and accepts.
func (h HostKey) Credentials() HostCredentials { return HostCredentials{h} }

// decode returns the size bytes that follow prefix in text.
func decode(prefix, text string, size int) ([]byte, error) {
	body, ok := strings.CutPrefix(strings.TrimSpace(text), prefix)
	if !ok {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrKey, prefix)
	}
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || len(raw) != size {
		return nil, fmt.Errorf("%w: it is damaged", ErrKey)
	}
	return raw, nil
}

// mac returns HMAC-SHA256 over data.
func mac(secret []byte, data ...[]byte) []byte {
	h := hmac.New(sha256.New, secret)
	for _, d := range data {
		h.Write(d)
	}
	return h.Sum(nil)
}
