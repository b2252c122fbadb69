// Package freeport finds ports of loopback for programs that are started soon.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports are below the ephemeral range of Linux, so that no outgoing connection takes one before
// its program listens, or while that is down.
const (
	first = 10000
	count = 20000
)

// Ports returns n ports that are free on loopback for TCP and UDP. Programs that look at the same time
// begin at random ports, so that they hardly get the same.
func Ports(n int) ([]int, error) {
	var ports []int
	from := rand.IntN(count)
	for i := range count {
		if len(ports) == n {
			return ports, nil
		}
		if port := first + (from+i)%count; free(port) {
			ports = append(ports, port)
		}
	}
	return nil, errors.New("find a free port: none is free on loopback")
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
