package transport

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"dormouse/cluster/keys"
)

// Both sides of a connection prove that they have the same secret before either
// acts on what the other says. A proof is an HMAC over the two hellos, which hold a
// random nonce each, and over the TLS connection, if there is one (tls-exporter,
// RFC 9266). So no proof can be replayed, reflected, or passed on.
//
// The weaker role decides which secret is proved: the cluster key between two
// nodes, the host key if one side is a host, the token's secret if the dialer joins.

const (
	nonceSize = 32
	// sealedMax bounds the message with the cluster key to a joiner.
	sealedMax = 4 << 10
	// bindingLabel names the secret of a TLS connection that proofs cover.
	bindingLabel = "EXPORTER-Channel-Binding"
)

// nonce returns a random string for a hello.
func nonce() string {
	b := make([]byte, nonceSize)
	_, _ = rand.Read(b) // it never fails
	return string(b)
}

// agreed returns the role whose secret both sides can have.
func agreed(a, b keys.Role) keys.Role {
	switch {
	case a == keys.Joiner || b == keys.Joiner:
		return keys.Joiner
	case a == keys.Host || b == keys.Host:
		return keys.Host
	}
	return keys.Node
}

// credential returns the role that two hellos agree on, and its secret. dialer is the
// hello of the dialer, which names the key.
func credential(of keys.Credentials, dialer, acceptor keys.Role, id string) (keys.Role, []byte, error) {
	role := agreed(dialer, acceptor)
	secret, err := of.Secret(role, id)
	return role, secret, err
}

// keyField returns the key field of a hello.
func keyField(role keys.Role, id string) string { return string(rune(role)) + id }

// parseKey returns the role and the name of the secret of a key field.
func parseKey(field string) (keys.Role, string) {
	if field == "" {
		return 0, ""
	}
	return keys.Role(field[0]), field[1:]
}

// transcript returns what both proofs of a connection cover.
func transcript(c net.Conn, dialer, acceptor hello) ([]byte, error) {
	sum := sha256.New()
	for _, part := range [][]byte{dialer.encode(), acceptor.encode()} {
		_, _ = sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))) // a hash takes all
		_, _ = sum.Write(part)
	}
	if t, ok := c.(*tls.Conn); ok {
		state := t.ConnectionState()
		binding, err := state.ExportKeyingMaterial(bindingLabel, nil, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: bind the TLS connection: %w", ErrHandshake, err)
		}
		_, _ = sum.Write(binding)
	}
	return sum.Sum(nil), nil
}

// certified returns an error if the other side of a TLS connection says that it is a
// node which its certificate does not name.
func (s *Stream) certified(c net.Conn, role keys.Role, node string) error {
	t, ok := c.(*tls.Conn)
	if !ok || role != keys.Node {
		return nil
	}
	state := t.ConnectionState()
	certs := state.PeerCertificates
	if len(certs) == 0 {
		return fmt.Errorf("%w: node %s shows no certificate", ErrHandshake, node)
	}
	if s.o.Roots != nil {
		// A wrong clock must not split the cluster, so a certificate of the cluster's own
		// authority counts at any time: both sides prove the cluster key as well.
		at := certs[0].NotAfter
		if _, err := certs[0].Verify(x509.VerifyOptions{Roots: s.o.Roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
			return fmt.Errorf("%w: the certificate of node %s: %w", ErrHandshake, node, err)
		}
	}
	if named := keys.NodeOf(certs[0]); named != node {
		return fmt.Errorf("%w: node %q shows a certificate of node %q: its URI must end in \"/node/%s\", as \"dormctl certs node %s\" writes it", ErrHandshake, node, named, node, node)
	}
	return nil
}

// answer is the accepting side of a handshake.
func (s *Stream) answer(c *conn) (kind byte, err error) {
	if err := c.SetDeadline(time.Now().Add(handshakeMax)); err != nil {
		return 0, err
	}
	h, err := readHello(c)
	if err != nil {
		return 0, err
	}
	c.peer = h.identity(0)
	if h.cluster != "" && h.addr != "" && s.self.ClusterID() == "" {
		s.o.OnMet(h.addr) // not proved yet: it only makes this node ask that address before it founds a cluster
	}
	own, _ := s.o.Keys.Own()
	asked, id := parseKey(h.key)
	role, secret, err := credential(s.o.Keys, asked, own, id)
	if err != nil {
		refusal := hello{kind: verdictUnknownKey, node: s.self.Node, text: err.Error()}
		_, _ = c.Write(refusal.encode()) // the connection ends in any case
		return 0, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	verdict, why := s.self.judge(h, role, s.o.Removed)
	text := why
	if verdict == verdictWelcome && h.kind == kindRaft {
		text = s.accepts(h.text)
		c.encoding = encodingOf(text)
	}
	answer := s.hello(verdict, text, keyField(own, id))
	covered, err := transcript(c.Conn, h, answer)
	if err != nil {
		return 0, err
	}
	if _, err := c.Write(append(answer.encode(), keys.Proof(secret, keys.Acceptor, covered)...)); err != nil {
		return 0, err
	}
	if verdict != verdictWelcome {
		return 0, fmt.Errorf("%w: %s", ErrHandshake, why)
	}
	if err := s.verifyDialer(c, h, role, secret, covered); err != nil {
		return 0, err
	}
	c.peer = h.identity(role)
	return h.kind, c.SetDeadline(time.Time{})
}

// verifyDialer ends the accepting side of a handshake.
func (s *Stream) verifyDialer(c *conn, h hello, role keys.Role, secret, covered []byte) error {
	proof := make([]byte, keys.ProofSize)
	if _, err := io.ReadFull(c, proof); err != nil {
		return fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	err := s.certified(c.Conn, role, h.node)
	if !keys.Verify(proof, secret, keys.Dialer, covered) {
		err = fmt.Errorf("%w: %w: %s at %s says that it is a %s, and cannot prove it", ErrHandshake, ErrOtherKey, h.node, h.addr, role)
	}
	end := []byte{verdictWelcome}
	if err != nil {
		end[0] = verdictRefused
	}
	if role == keys.Joiner && err == nil {
		sealed, sealErr := s.sealKeys(secret, covered)
		if sealErr != nil {
			return sealErr
		}
		end = append(binary.BigEndian.AppendUint16(end, uint16(len(sealed))), sealed...)
	}
	_, writeErr := c.Write(end)
	return errors.Join(err, writeErr)
}

// sealKeys returns the cluster's keys, encrypted for a joiner.
func (s *Stream) sealKeys(secret, covered []byte) ([]byte, error) {
	ring, ok := s.o.Keys.(keys.Ring)
	if !ok {
		return nil, fmt.Errorf("%w: a host cannot admit a node", ErrHandshake)
	}
	return keys.Seal(secret, covered, []byte(ring.Encode()))
}

// hello returns what this node sends in a handshake.
func (s *Stream) hello(kind byte, text, key string) hello {
	return hello{
		kind: kind, cluster: s.self.ClusterID(), node: s.self.Node, incarnation: s.self.Incarnation, process: s.self.Process,
		addr: s.Addr(), text: text, key: key, nonce: nonce(),
	}
}

// introduce is the dialing side of a handshake.
func (s *Stream) introduce(c *conn, addr string, kind byte) error {
	own, id := s.o.Keys.Own()
	text := ""
	if kind == kindRaft {
		text = s.encodings
	}
	answer, met, err := introduce(c.Conn, s.hello(kind, text, keyField(own, id)), s.o.Keys)
	if err != nil {
		return err
	}
	if own == keys.Node && met.role != keys.Node && answer.kind != verdictWelcome {
		// Only nodes know who is a member: another process cannot say that this node was removed.
		return fmt.Errorf("%w: refused by %s, a %s: %s", ErrHandshake, answer.node, met.role, answer.text)
	}
	if err := s.self.check(kind, answer); err != nil {
		return err
	}
	want := s.o.Expect(addr)
	if kind == kindRaft && want != "" && want != answer.node {
		return fmt.Errorf("%w: %s is the address of node %s, but node %s answers there", ErrHandshake, addr, want, answer.node)
	}
	if met.role != keys.Node && own == keys.Node && (kind == kindRaft || want != "") {
		return fmt.Errorf("%w: %s is the address of a node, but %s answers there as a %s", ErrHandshake, addr, answer.node, met.role)
	}
	if err := s.certified(c.Conn, met.role, answer.node); err != nil {
		return err
	}
	if err := met.finish(c.Conn); err != nil {
		return err
	}
	c.peer = answer.identity(met.role)
	if kind == kindRaft {
		c.encoding = encodingOf(answer.text)
	}
	return c.SetDeadline(time.Time{})
}

// meeting is a handshake of a dialer that has verified the acceptor's proof.
type meeting struct {
	role            keys.Role
	secret, covered []byte
}

// introduce sends mine, and returns the acceptor's answer once its proof is verified.
func introduce(c net.Conn, mine hello, of keys.Credentials) (hello, meeting, error) {
	if err := c.SetDeadline(time.Now().Add(handshakeMax)); err != nil {
		return hello{}, meeting{}, err
	}
	if _, err := c.Write(mine.encode()); err != nil {
		return hello{}, meeting{}, err
	}
	answer, err := readHello(c)
	switch {
	case errors.Is(err, io.EOF): // a gossip port does not know the greeting, and hangs up
		return hello{}, meeting{}, fmt.Errorf("%w: %w: it closed the connection without an answer, as a gossip port does (a node's default is 7603); use the node's raft.advertise, by default port 7602", err, ErrNotRaftPort)
	case err != nil:
		return hello{}, meeting{}, err
	case answer.kind == verdictUnknownKey:
		return hello{}, meeting{}, fmt.Errorf("%w: %w: refused by node %s: %s", ErrHandshake, ErrOtherKey, answer.node, answer.text)
	}
	own, id := parseKey(mine.key)
	other, _ := parseKey(answer.key)
	var m meeting
	if m.role, m.secret, err = credential(of, own, other, id); err != nil {
		return hello{}, meeting{}, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	if m.covered, err = transcript(c, mine, answer); err != nil {
		return hello{}, meeting{}, err
	}
	proof := make([]byte, keys.ProofSize)
	if _, err := io.ReadFull(c, proof); err != nil {
		return hello{}, meeting{}, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	if !keys.Verify(proof, m.secret, keys.Acceptor, m.covered) {
		return hello{}, meeting{}, fmt.Errorf("%w: %w: %s cannot prove that it is a %s", ErrHandshake, ErrOtherKey, answer.node, m.role)
	}
	return answer, m, nil
}

// finish proves the dialer's own secret, and reads the end of the handshake.
func (m meeting) finish(c net.Conn) error {
	if _, err := c.Write(keys.Proof(m.secret, keys.Dialer, m.covered)); err != nil {
		return err
	}
	var end [1]byte
	if _, err := io.ReadFull(c, end[:]); err != nil {
		return fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	if end[0] != verdictWelcome {
		return fmt.Errorf("%w: the other side refused this side's proof or certificate", ErrHandshake)
	}
	return nil
}
