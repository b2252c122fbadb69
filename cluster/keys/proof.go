package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
)

// ProofSize is the length of a proof.
const ProofSize = sha256.Size

// Side is the side of a connection that makes a proof. One side's proof never
// passes for the other's.
type Side byte

// The sides.
const (
	Acceptor Side = 'a'
	Dialer   Side = 'd'
)

// Proof returns a side's proof that it has secret, bound to one connection by its
// transcript.
func Proof(secret []byte, side Side, transcript []byte) []byte {
	return mac(secret, []byte("dormouse proof "), []byte{byte(side)}, transcript)
}

// Verify reports whether proof is the proof of side.
func Verify(proof, secret []byte, side Side, transcript []byte) bool {
	return hmac.Equal(proof, Proof(secret, side, transcript))
}

// Seal encrypts text for the other side of a connection, which has secret too. Use
// it once for a transcript.
func Seal(secret, transcript, text []byte) ([]byte, error) {
	aead, err := sealing(secret, transcript)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, make([]byte, aead.NonceSize()), text, nil), nil // the key is used once
}

// Open returns the text that Seal has encrypted. The error wraps ErrKey.
func Open(secret, transcript, sealed []byte) ([]byte, error) {
	aead, err := sealing(secret, transcript)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, make([]byte, aead.NonceSize()), sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: the other side's message is damaged", ErrKey)
	}
	return text, nil
}

func sealing(secret, transcript []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, transcript, "dormouse/seal", secretSize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
