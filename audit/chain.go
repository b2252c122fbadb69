package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// A line is the JSON object of a record, with two more members at its end:
//
//	{…,"hash":"<64 hex digits>","mac":"<64 hex digits>"}
//
// hash is the SHA-256 of the hash of the line before, as 32 bytes, and of the object without both
// members. mac is the HMAC-SHA256 of the hash, as 32 bytes, under the key of the log. A log without a
// key has no mac.
const (
	hashMember = `,"hash":"`
	macMember  = `","mac":"`
	lineEnd    = `"}`
	hexDigits  = 2 * sha256.Size
	suffixSize = len(hashMember) + hexDigits + len(lineEnd)
	macSize    = len(macMember) + hexDigits
)

type hash [sha256.Size]byte

// String returns the hash in hex.
func (h hash) String() string { return hex.EncodeToString(h[:]) }

// parseHash returns the hash in lower-case hex.
func parseHash(text []byte) (h hash, ok bool) {
	if len(text) != hexDigits || !bytes.Equal(text, bytes.ToLower(text)) {
		return h, false
	}
	_, err := hex.Decode(h[:], text)
	return h, err == nil
}

// next returns the hash of the line with a body, after the line with hash h.
func (h hash) next(body []byte) hash {
	sum := sha256.New()
	sum.Write(h[:])
	sum.Write(body)
	return hash(sum.Sum(nil))
}

// mac returns the HMAC of h under a key.
func (h hash) mac(key []byte) hash {
	m := hmac.New(sha256.New, key)
	m.Write(h[:])
	return hash(m.Sum(nil))
}

// seal returns the line of a body, with its newline, after the line with hash prev. A nil key means no
// mac.
func seal(prev hash, body, key []byte) (line []byte, h hash) {
	h = prev.next(body)
	line = make([]byte, 0, len(body)+suffixSize+macSize)
	line = append(line, body[:len(body)-1]...)
	line = append(line, hashMember...)
	line = hex.AppendEncode(line, h[:])
	if key != nil {
		mac := h.mac(key)
		line = append(line, macMember...)
		line = hex.AppendEncode(line, mac[:])
	}
	line = append(line, lineEnd...)
	return append(line, '\n'), h
}

// A link is a line that was read.
type link struct {
	body []byte // the object without hash and mac
	hash hash
	mac  hash
	has  bool // it has a mac
	rec  Record
}

var errNoLink = errors.New("the line is not a record of an audit log")

// parse returns the parts of a line without its newline. It checks neither the hash nor the mac.
func parse(line []byte) (l link, err error) {
	rest, ok := bytes.CutSuffix(line, []byte(lineEnd))
	if !ok {
		return l, errNoLink
	}
	if at := len(rest) - macSize; at >= 0 && bytes.HasPrefix(rest[at:], []byte(macMember)) {
		if l.mac, l.has = parseHash(rest[at+len(macMember):]); !l.has {
			return l, errNoLink
		}
		rest = rest[:at]
	}
	at := len(rest) - len(hashMember) - hexDigits
	if at < 1 || !bytes.HasPrefix(rest[at:], []byte(hashMember)) {
		return l, errNoLink
	}
	if l.hash, ok = parseHash(rest[at+len(hashMember):]); !ok {
		return l, errNoLink
	}
	l.body = append(bytes.Clone(rest[:at]), '}')
	if err := json.Unmarshal(l.body, &l.rec); err != nil {
		return l, errNoLink
	}
	return l, nil
}
