// Package hooksign signs the requests that nodes make to endpoints of operators.
package hooksign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// Header is the name of the header with the signature.
const Header = "Dormouse-Signature"

// SecretMin is the least length of a secret, in bytes.
const SecretMin = 16

// Sign returns the signature of a body: "t=<unix seconds>,v1=<hex>". v1 is the HMAC-SHA256, under the
// secret, of the seconds, a full stop and the body.
func Sign(secret []byte, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
