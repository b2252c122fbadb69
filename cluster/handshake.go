package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// A handshake is one message each way, before anything else on a connection:
//
//	magic "DRMS" ‖ version ‖ kind or verdict ‖ cluster ‖ node ‖ incarnation ‖ run ‖ addr ‖ text
//
// where each of the last six is a length of two bytes, big-endian, and so many
// bytes. The dialer speaks first. The answer's text says why it refuses.
const (
	helloMagic   = "DRMS"
	helloVersion = 3
	helloBytes   = 1024 // the longest field; refused past it, before it is read

	kindRaft = 'R'
	kindPeer = 'P'

	verdictWelcome = 'W'
	verdictRefused = 'X'
	verdictRemoved = 'G' // the dialer is gone: it was removed from the cluster
	verdictForeign = 'F' // the two belong to different clusters
)

// hello is one side of a handshake.
type hello struct {
	kind        byte // or the verdict, in an answer
	cluster     string
	node        string
	incarnation string
	run         string // which process of that life
	addr        string // where others reach it
	text        string
}

// fields are the strings of h, in the order in which they travel.
func (h *hello) fields() []*string {
	return []*string{&h.cluster, &h.node, &h.incarnation, &h.run, &h.addr, &h.text}
}

// Identity says who is at the other end of a connection that has shaken hands.
// It is what that node says of itself; proof comes with mTLS.
type Identity struct {
	ClusterID   string // "" where it belongs to none yet
	Node        string
	Incarnation string
}

// IdentityOf says who is at the other end of a connection from PeerListener or
// DialPeer.
func IdentityOf(c net.Conn) (Identity, bool) {
	t, ok := c.(*conn)
	if !ok {
		return Identity{}, false
	}
	return t.peer, true
}

// ErrHandshake is wrapped by the errors of connections that were refused or
// did not speak our language.
var ErrHandshake = errors.New("handshake")

// errOtherCluster is wrapped where the other side belongs to another cluster.
var errOtherCluster = errors.New("another cluster")

// errNotRaftPort is wrapped where something answers that does not shake hands.
var errNotRaftPort = errors.New("this is not the Raft port of a node")

// portOf returns what kind of port answers with these first bytes.
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
		return hello{}, fmt.Errorf("%w: %w: %s", ErrHandshake, errNotRaftPort, portOf(head[:]))
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

// helloEnd ends a hello. An HTTP server that is dialled by mistake takes what comes
// before it for a request, and answers at once that it is none.
const helloEnd = '\n'

// judge decides on a dialer's hello: who may speak to whom.
func (id *identity) judge(h hello, removed func(incarnation string) bool) (verdict byte, why string) {
	mine := id.clusterID()
	switch {
	case h.kind != kindRaft && h.kind != kindPeer:
		return verdictRefused, "unknown kind of connection"
	case h.incarnation != "" && removed(h.incarnation):
		return verdictRemoved, fmt.Sprintf("node %s was removed from the cluster", h.node)
	case mine != "" && h.cluster != "" && mine != h.cluster:
		return verdictForeign, fmt.Sprintf("node %s belongs to cluster %s, but %s belongs to cluster %s: check the join addresses, or the data directory", id.node, mine, h.node, h.cluster)
	case h.kind == kindRaft && (mine == "" || h.cluster == ""):
		return verdictRefused, "a node without a cluster takes no part in raft"
	}
	return verdictWelcome, ""
}

// accept turns the other side's answer into an error, or nil.
func (id *identity) accept(kind byte, answer hello) error {
	switch mine := id.clusterID(); {
	case answer.kind == verdictRemoved:
		return fmt.Errorf("%w: %w", ErrHandshake, ErrRemoved)
	case answer.kind == verdictForeign:
		return fmt.Errorf("%w: %w: %s", ErrHandshake, errOtherCluster, answer.text)
	case answer.kind != verdictWelcome:
		return fmt.Errorf("%w: refused by %s: %s", ErrHandshake, answer.node, answer.text)
	case mine != "" && answer.cluster != "" && mine != answer.cluster:
		return fmt.Errorf("%w: %w: node %s belongs to cluster %s, but this node belongs to cluster %s", ErrHandshake, errOtherCluster, answer.node, answer.cluster, mine)
	case kind == kindRaft && (mine == "" || answer.cluster == ""):
		return fmt.Errorf("%w: a node without a cluster takes no part in raft", ErrHandshake)
	}
	return nil
}
