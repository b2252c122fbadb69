package keys

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"
)

const (
	tokenPrefix = "dormjoin_"
	tokenIDSize = idSize + 8 + 16 // the key's id, the expiry, random bytes
	// TokenTTL is how long a join token is valid unless the operator says otherwise.
	TokenTTL = time.Hour
	// tokenAddrsMax bounds the addresses in a token.
	tokenAddrsMax = 16
)

// Token is a join token: with it, a node that has no cluster key receives the key.
// The token's secret follows from the cluster key and the token's id, which holds
// the expiry. So every node verifies tokens, and none keeps a record of them.
type Token struct {
	Addrs  []string // Raft addresses of nodes that accept it
	id     []byte
	secret []byte
}

// NewToken returns a token that is valid until expires, rounded up to a second. It
// names the first 16 of addrs.
func (r Ring) NewToken(expires time.Time, addrs []string) Token {
	id, _ := hex.DecodeString(r.Current().ID()) // written by this package
	id = binary.BigEndian.AppendUint64(id, uint64(max(expires.Add(time.Second-1).Unix(), 0)))
	id = append(id, make([]byte, tokenIDSize-len(id))...)
	_, _ = rand.Read(id[idSize+8:]) // it never fails
	return Token{Addrs: addrs[:min(len(addrs), tokenAddrsMax)], id: id, secret: r.Current().tokenSecret(id)}
}

// ParseToken returns the token that Encode has written. The error wraps ErrKey.
func ParseToken(text string) (Token, error) {
	body, addrs, ok := strings.Cut(strings.TrimSpace(text), "@")
	raw, err := decode(tokenPrefix, body, tokenIDSize+secretSize)
	if err != nil || !ok {
		return Token{}, fmt.Errorf("%w: it is no join token, such as \"dormctl join-token create\" prints", ErrKey)
	}
	t := Token{Addrs: strings.Split(addrs, ","), id: raw[:tokenIDSize], secret: raw[tokenIDSize:]}
	if len(t.Addrs) > tokenAddrsMax {
		return Token{}, fmt.Errorf("%w: the join token names %d addresses, at most %d", ErrKey, len(t.Addrs), tokenAddrsMax)
	}
	for _, addr := range t.Addrs {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return Token{}, fmt.Errorf("%w: the join token names %q, which is no address", ErrKey, addr)
		}
	}
	return t, nil
}

// Encode returns the token as a line of text.
func (t Token) Encode() string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(slices.Concat(t.id, t.secret)) + "@" + strings.Join(t.Addrs, ",")
}

// String returns the public part, so that no log line shows the secret.
func (t Token) String() string { return "join token " + hex.EncodeToString(t.id[idSize+8:]) }

// GoString is String.
func (t Token) GoString() string { return t.String() }

// Expires returns when the token ends.
func (t Token) Expires() time.Time { return expiry(t.id) }

// Own implements Credentials.
func (t Token) Own() (Role, string) { return Joiner, hex.EncodeToString(t.id) }

// Secret implements Credentials: a joiner verifies only its own token.
func (t Token) Secret(role Role, id string) ([]byte, error) {
	if role != Joiner || id != hex.EncodeToString(t.id) {
		return nil, fmt.Errorf("%w: the node does not accept this join token", ErrKey)
	}
	return t.secret, nil
}

func expiry(id []byte) time.Time {
	return time.Unix(int64(min(binary.BigEndian.Uint64(id[idSize:]), math.MaxInt32*16)), 0)
}

func (k Key) tokenSecret(id []byte) []byte { return mac(k.derive("join"), id) }

// tokenSecret returns the secret of the token with a hexadecimal id.
func (r Ring) tokenSecret(hexID string, now time.Time) ([]byte, error) {
	id, err := hex.DecodeString(hexID)
	if err != nil || len(id) != tokenIDSize {
		return nil, fmt.Errorf("%w: it is no join token", ErrKey)
	}
	if at := expiry(id); !now.Before(at) {
		return nil, fmt.Errorf("%w: the join token expired at %s: create another one with \"dormctl join-token create\"", ErrKey, at.UTC().Format(time.RFC3339))
	}
	for _, k := range r {
		if k.ID() == hex.EncodeToString(id[:idSize]) {
			return k.tokenSecret(id), nil
		}
	}
	return nil, fmt.Errorf("%w: the join token is one of another cluster", ErrKey)
}
