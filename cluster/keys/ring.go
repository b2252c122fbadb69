package keys

import (
	"fmt"
	"strings"
	"time"
)

// Role is what one side of a connection proves to be.
type Role byte

// The roles.
const (
	Node   Role = 'n' // has the cluster key
	Host   Role = 'h' // has the host key
	Joiner Role = 'j' // has a join token, and may only receive the cluster key
)

// String returns the role's name.
func (r Role) String() string {
	switch r {
	case Node:
		return "node"
	case Host:
		return "host"
	case Joiner:
		return "joiner"
	}
	return fmt.Sprintf("role %d", byte(r))
}

// Credentials are the secrets that a process can prove and verify. They do not
// change; the methods may be called concurrently.
type Credentials interface {
	// Own returns this process's role and the name of the secret that it proves.
	Own() (role Role, id string)
	// Secret returns the secret of a role by its name, or an error that says why
	// this process does not know or does not accept it.
	Secret(role Role, id string) ([]byte, error)
}

// Ring is the keys of a node, the current one first. The others are accepted too,
// while an operator replaces the key.
type Ring []Key

// ParseRing returns the keys of a file, a line each. Empty lines and lines that
// begin with # do not count. The error wraps ErrKey.
func ParseRing(text string) (Ring, error) {
	var r Ring
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, err := Parse(line)
		if err != nil {
			return nil, err
		}
		r = append(r, k)
	}
	switch {
	case len(r) == 0:
		return nil, fmt.Errorf("%w: the file is empty", ErrKey)
	case len(r) > ringMax:
		return nil, fmt.Errorf("%w: %d keys: use at most %d", ErrKey, len(r), ringMax)
	}
	return r, nil
}

// Encode returns the keys as ParseRing reads them.
func (r Ring) Encode() string {
	var b strings.Builder
	for _, k := range r {
		b.WriteString(k.Encode())
		b.WriteByte('\n')
	}
	return b.String()
}

// Current returns the key that this node proves.
func (r Ring) Current() Key { return r[0] }

// Own implements Credentials.
func (r Ring) Own() (Role, string) { return Node, r.Current().ID() }

// Secret implements Credentials.
func (r Ring) Secret(role Role, id string) ([]byte, error) {
	if role == Joiner {
		return r.tokenSecret(id, time.Now())
	}
	for _, k := range r {
		if purpose := role.String(); k.ID() == id && (role == Node || role == Host) {
			return k.derive(purpose), nil
		}
	}
	return nil, fmt.Errorf("%w: this node has cluster key %s, the other side has %q: give all nodes of a cluster the same cluster.key_file, or a join token", ErrKey, r.Current().ID(), id)
}

// HostCredentials are the Credentials of a host.
type HostCredentials struct{ key HostKey }

// Own implements Credentials.
func (h HostCredentials) Own() (Role, string) { return Host, h.key.id }

// Secret implements Credentials.
func (h HostCredentials) Secret(role Role, id string) ([]byte, error) {
	if role != Host || id != h.key.id {
		return nil, fmt.Errorf("%w: this host has host key %s of a cluster; the other side proves %s %q: copy host.key from a node of the same cluster", ErrKey, h.key.id, role, id)
	}
	return h.key.secret[:], nil
}
