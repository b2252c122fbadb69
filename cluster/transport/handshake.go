package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"dormouse/cluster/keys"
)

// A handshake comes before anything else on a connection:
//
//	dialer → acceptor: hello
//	acceptor → dialer: hello, and the acceptor's proof
//	dialer → acceptor: the dialer's proof
//	acceptor → dialer: the end, 'W'
//
// A hello is
//
//	magic "DRMS" ‖ version ‖ kind or verdict ‖ cluster ‖ node ‖ incarnation ‖ process ‖ addr ‖ text ‖ key ‖ nonce
//
// Each of the last eight is a length of two bytes, big-endian, and that many bytes.
// The answer's text says why it refuses. In a handshake for Raft that succeeds, the
// texts agree on the encoding of calls (encoding.go). If the acceptor does not know
// the dialer's key, its verdict is verdictUnknownKey, and the handshake ends there:
// nothing of the answer is proved. See proof.go for the proofs.
const (
	helloMagic   = "DRMS"
	helloVersion = 4
	helloBytes   = 1024 // the longest field; refused past it, before it is read

	kindRaft  = 'R'
	kindPeer  = 'P'
	kindEnrol = 'E' // the dialer asks for the cluster key, with a join token

	verdictWelcome    = 'W'
	verdictRefused    = 'X'
	verdictRemoved    = 'G' // the dialer was removed from the cluster
	verdictForeign    = 'F' // the two belong to different clusters
	verdictUnknownKey = 'K' // the acceptor does not know the dialer's key
)

// hello is one side of a handshake.
type hello struct {
	kind        byte // or the verdict, in an answer
	cluster     string
	node        string
	incarnation string
	process     string
	addr        string // that others reach it at
	text        string
	key         string // role and name of the secret that this side proves
	nonce       string // random
}

// identity returns the identity that h claims, with the role that is proved.
func (h *hello) identity(role keys.Role) Identity {
	return Identity{Role: role, ClusterID: h.cluster, Node: h.node, Incarnation: h.incarnation, Process: h.process}
}

// fields returns the strings of h in the order of the encoding.
func (h *hello) fields() []*string {
	return []*string{&h.cluster, &h.node, &h.incarnation, &h.process, &h.addr, &h.text, &h.key, &h.nonce}
}

// Identity is the identity of the other side of a connection. The role is proved;
// over TLS with certificates the name of a node is proved too. The rest is what
// the other side says.
type Identity struct {
	Role        keys.Role
	ClusterID   string // "" if it belongs to none yet
	Node        string
	Incarnation string
	Process     string
}

// IdentityOf returns the identity of the other side of a connection from
// PeerListener or DialPeer. It returns false for other connections.
func IdentityOf(c net.Conn) (Identity, bool) {
	t, ok := c.(*conn)
	if !ok {
		return Identity{}, false
	}
	return t.peer, true
}

var (
	// ErrHandshake says that the other side refused the connection or did not
	// answer the handshake correctly.
	ErrHandshake = errors.New("handshake")

	// ErrOtherCluster says that the other side belongs to another cluster.
	ErrOtherCluster = errors.New("another cluster")

	// ErrOtherKey says that the other side has another cluster key, or none.
	ErrOtherKey = errors.New("another cluster key")

	// ErrNotRaftPort says that the other side does not know the handshake.
	ErrNotRaftPort = errors.New("this is not the Raft port of a node")
)

// portOf says what kind of port answers with these first bytes.
func portOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("HTTP")):
		return "it is an HTTP port (a node's default is 7600); use the node's raft.advertise, by default port 7602"
	case len(head) > 3 && head[0] == 0 && head[3] == 4: // an HTTP/2 SETTINGS frame
		return "it is a gRPC port (a node's default is 7601); use the node's raft.advertise, by default port 7602"
	default:
		return "the other side is no Dormouse node"
	}
}

func (h hello) encode() []byte {
	b := append([]byte(helloMagic), helloVersion, h.kind)
	for _, field := range h.fields() {
		s := (*field)[:min(len(*field), helloBytes)]
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		b = append(b, s...)
	}
	return append(b, helloEnd)
}

func readHello(r io.Reader) (hello, error) {
	var head [len(helloMagic) + 2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return hello{}, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	if string(head[:len(helloMagic)]) != helloMagic {
		return hello{}, fmt.Errorf("%w: %w: %s", ErrHandshake, ErrNotRaftPort, portOf(head[:]))
	}
	if v := head[len(helloMagic)]; v != helloVersion {
		return hello{}, fmt.Errorf("%w: the other side speaks version %d, this node %d", ErrHandshake, v, helloVersion)
	}
	h := hello{kind: head[len(helloMagic)+1]}
	for _, field := range h.fields() {
		var size [2]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return hello{}, fmt.Errorf("%w: %w", ErrHandshake, err)
		}
		n := binary.BigEndian.Uint16(size[:])
		if n > helloBytes {
			return hello{}, fmt.Errorf("%w: a field of %d bytes", ErrHandshake, n)
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return hello{}, fmt.Errorf("%w: %w", ErrHandshake, err)
		}
		*field = string(b)
	}
	var end [1]byte
	if _, err := io.ReadFull(r, end[:]); err != nil {
		return hello{}, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	if end[0] != helloEnd {
		return hello{}, fmt.Errorf("%w: the greeting does not end where it should", ErrHandshake)
	}
	return h, nil
}

// helloEnd ends a hello. An HTTP server that is dialed by mistake reads what comes
// before it as a malformed request line, and answers at once.
const helloEnd = '\n'

// judge decides whether the sender of h may connect to this node. If not, why is
// the reason.
func (s *Self) judge(h hello, role keys.Role, removed func(incarnation string) bool) (verdict byte, why string) {
	mine := s.ClusterID()
	switch {
	case h.kind != kindRaft && h.kind != kindPeer && h.kind != kindEnrol:
		return verdictRefused, "unknown kind of connection"
	case (h.kind == kindEnrol) != (role == keys.Joiner), h.kind == kindRaft && role != keys.Node:
		return verdictRefused, fmt.Sprintf("a %s may not open this kind of connection", role)
	case h.incarnation != "" && removed(h.incarnation):
		return verdictRemoved, fmt.Sprintf("node %s was removed from the cluster", h.node)
	case mine != "" && h.cluster != "" && mine != h.cluster:
		return verdictForeign, fmt.Sprintf("node %s belongs to cluster %s, but %s belongs to cluster %s: check the join addresses, or the data directory", s.Node, mine, h.node, h.cluster)
	case h.kind == kindRaft && (mine == "" || h.cluster == ""):
		return verdictRefused, "a node without a cluster takes no part in raft"
	case h.kind == kindEnrol && mine == "":
		return verdictRefused, fmt.Sprintf("node %s belongs to no cluster yet", s.Node)
	}
	return verdictWelcome, ""
}

// check returns an error unless answer lets this node connect.
func (s *Self) check(kind byte, answer hello) error {
	switch mine := s.ClusterID(); {
	case answer.kind == verdictUnknownKey:
		return fmt.Errorf("%w: %w: refused by node %s: %s", ErrHandshake, ErrOtherKey, answer.node, answer.text)
	case answer.kind == verdictRemoved:
		return fmt.Errorf("%w: %w", ErrHandshake, ErrRemoved)
	case answer.kind == verdictForeign:
		return fmt.Errorf("%w: %w: %s", ErrHandshake, ErrOtherCluster, answer.text)
	case answer.kind != verdictWelcome:
		return fmt.Errorf("%w: refused by %s: %s", ErrHandshake, answer.node, answer.text)
	case mine != "" && answer.cluster != "" && mine != answer.cluster:
		return fmt.Errorf("%w: %w: node %s belongs to cluster %s, but this node belongs to cluster %s", ErrHandshake, ErrOtherCluster, answer.node, answer.cluster, mine)
	case kind == kindRaft && (mine == "" || answer.cluster == ""):
		return fmt.Errorf("%w: a node without a cluster takes no part in raft", ErrHandshake)
	}
	return nil
}
