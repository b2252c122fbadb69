// Package freeport finds ports of loopback for programs that are started soon.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports are below the ephemeral range of Linux, so that no outgoing connection takes one before
// its program listens, or while that is down.
const (
	first     = 10000
	blocks    = 40
	blockSize = 500
)

// own is the block of ports of this process. The process listens on the first port of its block for as long as
// it lives, so that no other process takes the block.
var own struct {
	sync.Mutex
	lock net.Listener
	from int
	next int // the port to look at next, as an offset from the block's first
}

// Ports returns n ports that are free on loopback for TCP and UDP. Another process that calls Ports gets other ports.
// A port is returned again only after all others of the block of this process. Ports is safe for concurrent use.
func Ports(n int) ([]int, error) {
	own.Lock()
	defer own.Unlock()
	if own.lock == nil {
		if err := reserve(); err != nil {
			return nil, err
		}
	}
	var ports []int
	for range blockSize - 1 {
		if len(ports) == n {
			break
		}
		if port := own.from + own.next; free(port) {
			ports = append(ports, port)
		}
		own.next = own.next%(blockSize-1) + 1
	}
	if len(ports) < n {
		return nil, fmt.Errorf("find %d free ports: ports %d to %d have %d", n, own.from+1, own.from+blockSize-1, len(ports))
	}
	return ports, nil
}

// reserve takes a block for this process. The caller holds own.
func reserve() error {
	for _, block := range rand.Perm(blocks) {
		from := first + block*blockSize
		l, err := net.Listen("tcp", Addr(from))
		if err == nil {
			own.lock, own.from, own.next = l, from, 1
			return nil
		}
	}
	return errors.New("find a free port: other processes hold all blocks of ports on loopback")
}

// Addr returns the address of a port on loopback.
func Addr(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func free(port int) bool {
	l, err := net.Listen("tcp", Addr(port))
	if err != nil {
		return false
	}
	defer l.Close() //nolint:errcheck // nothing was accepted
	p, err := net.ListenPacket("udp", Addr(port))
	if err != nil {
		return false
	}
	return p.Close() == nil
}
