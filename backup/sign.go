package backup

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// publicPrefix begins the text of a public key.
const publicPrefix = "dormpub_"

// signingContext begins what is signed, so that a signature has no meaning elsewhere.
const signingContext = "dormouse/backup/1\n"

// documentBytesMax bounds a signed document.
const documentBytesMax = 64 << 10

// ErrSignature is wrapped by the error of a document that another than the trusted keys has signed.
var ErrSignature = errors.New("not signed by a trusted key")

// EncodeKey returns the text of the public key of a signing key.
func EncodeKey(key ed25519.PublicKey) string {
	return publicPrefix + base64.RawURLEncoding.EncodeToString(key)
}

// ParseKey returns the public key that EncodeKey has written.
func ParseKey(text string) (ed25519.PublicKey, error) {
	body, ok := strings.CutPrefix(strings.TrimSpace(text), publicPrefix)
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%q is no public key of backups: it is a word that begins with %s, as \"dormctl backup ls\" shows", text, publicPrefix)
	}
	return raw, nil
}

// ParseKeys returns the public keys of their texts.
func ParseKeys(texts []string) ([]ed25519.PublicKey, error) {
	var all []ed25519.PublicKey
	for _, text := range texts {
		key, err := ParseKey(text)
		if err != nil {
			return nil, err
		}
		all = append(all, key)
	}
	return all, nil
}

// Trust are the keys whose signatures are accepted.
type Trust struct {
	Keys []ed25519.PublicKey
	// Anyone accepts each key. A signature then only shows that a document is not damaged.
	Anyone bool
}

// signed is a document and its signature.
type signed struct {
	Document  json.RawMessage `json:"document"`
	Key       string          `json:"key"` // as EncodeKey writes it
	Signature []byte          `json:"signature"`
}

// sign returns a document with its signature, on one line.
func sign(key ed25519.PrivateKey, document any) ([]byte, error) {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	public, _ := key.Public().(ed25519.PublicKey) // it always is
	line, err := json.Marshal(signed{
		Document: raw, Key: EncodeKey(public), Signature: ed25519.Sign(key, append([]byte(signingContext), raw...)),
	})
	if err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}

// open verifies a signed document and decodes it. It returns the signer's key.
func (t Trust) open(line []byte, into any) (string, error) {
	var s signed
	if err := strict(line, &s); err != nil {
		return "", fmt.Errorf("it is damaged: %w", err)
	}
	key, err := ParseKey(s.Key)
	if err != nil {
		return "", fmt.Errorf("it is damaged: %w", err)
	}
	if !ed25519.Verify(key, append([]byte(signingContext), s.Document...), s.Signature) {
		return "", errors.New("it is damaged or forged: its signature does not match")
	}
	if !t.Anyone && !slices.ContainsFunc(t.Keys, func(k ed25519.PublicKey) bool { return bytes.Equal(k, key) }) {
		return "", fmt.Errorf("%w: the key %s has signed it", ErrSignature, s.Key)
	}
	if err := strict(s.Document, into); err != nil {
		return "", fmt.Errorf("it was written by another version: %w", err)
	}
	return s.Key, nil
}

func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something follows its end")
	}
	return nil
}
