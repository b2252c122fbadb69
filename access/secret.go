package access

import (
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"strings"

	"dormouse/agent"
)

// A secret is a prefix, 256 random bits, and a checksum, both in base 62:
//
//	dorm_ ‖ 43 digits ‖ 6 digits of the CRC-32 (IEEE) of all before it
//
// So a scanner for leaked secrets finds one without a false alarm.
const (
	secretPrefix   = "dorm_"
	secretBytes    = 32
	secretDigits   = 43
	checksumDigits = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewSecret returns the secret of a new token.
func NewSecret() string {
	var random [secretBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	secret := secretPrefix + digits(new(big.Int).SetBytes(random[:]), secretDigits)
	return secret + checksum(secret)
}

// CheckSecret returns an error if text is not a well-formed secret. The error does not contain it.
func CheckSecret(text string) error {
	body, ok := strings.CutPrefix(text, secretPrefix)
	switch {
	case !ok:
		return agent.Errorf(agent.CodeUnauthenticated, "the token does not begin with %s", secretPrefix)
	case len(body) != secretDigits+checksumDigits:
		return agent.Errorf(agent.CodeUnauthenticated, "the token has %d characters after %s, not %d: it is incomplete or of another kind", len(body), secretPrefix, secretDigits+checksumDigits)
	case strings.Trim(body, base62) != "":
		return agent.Errorf(agent.CodeUnauthenticated, "the token has characters that are neither letters nor digits")
	}
	end := len(text) - checksumDigits
	if checksum(text[:end]) != text[end:] {
		return agent.Errorf(agent.CodeUnauthenticated, "the checksum of the token is wrong: copy it again")
	}
	return nil
}

// CheckBearer returns an error if text is neither a well-formed secret nor has the form of a JWT. The error does
// not contain it.
func CheckBearer(text string) error {
	parts := strings.Split(text, ".")
	if strings.HasPrefix(text, secretPrefix) || len(parts) != 3 || len(text) > bearerBytes {
		return CheckSecret(text)
	}
	for _, part := range parts {
		if part == "" || strings.Trim(part, base62+"-_") != "" {
			return agent.Errorf(agent.CodeUnauthenticated, "the token looks like a JWT, and has a part that is empty or not base64: copy it again")
		}
	}
	return nil
}

func checksum(text string) string {
	return digits(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(text)))), checksumDigits)
}

// digits returns n in base 62, with leading zeros.
func digits(n *big.Int, width int) string {
	out := make([]byte, width)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
