package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"dormouse/cluster/keys"
)

// Enrol returns the cluster's keys from a node that accepts the token. It asks the
// token's addresses, one after the other. Neither side needs a certificate: both
// prove the token, and the keys are encrypted with a secret that only the two have.
// The error wraps ErrHandshake if a node refused the token.
func Enrol(ctx context.Context, network Network, node string, token keys.Token) (keys.Ring, error) {
	var failed error
	for _, addr := range token.Addrs {
		ring, err := enrolAt(ctx, network, node, addr, token)
		if err == nil {
			return ring, nil
		}
		failed = errors.Join(failed, fmt.Errorf("ask %s for the cluster key: %w", addr, err))
	}
	return nil, failed
}

func enrolAt(ctx context.Context, network Network, node, addr string, token keys.Token) (keys.Ring, error) {
	ctx, cancel := context.WithTimeout(ctx, dialMax)
	defer cancel()
	c, err := network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // all was read
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	mine := hello{kind: kindEnrol, node: node, key: keyField(token.Own()), nonce: nonce()}
	answer, met, err := introduce(c, mine, token)
	if err != nil {
		return nil, err
	}
	if answer.kind != verdictWelcome {
		return nil, fmt.Errorf("%w: refused by %s: %s", ErrHandshake, answer.node, answer.text)
	}
	if err := met.finish(c); err != nil {
		return nil, err
	}
	return receiveKeys(c, met)
}

func receiveKeys(c net.Conn, met meeting) (keys.Ring, error) {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	n := binary.BigEndian.Uint16(size[:])
	if n > sealedMax {
		return nil, fmt.Errorf("%w: a message of %d bytes", ErrHandshake, n)
	}
	sealed := make([]byte, n)
	if _, err := io.ReadFull(c, sealed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	text, err := keys.Open(met.secret, met.covered, sealed)
	if err != nil {
		return nil, err
	}
	return keys.ParseRing(string(text))
}
