package freeport

import (
	"net"
	"testing"
)

// The ports differ, are outside of the ephemeral range, and can be listened on.
func TestPortsAreFree(t *testing.T) {
	ports, err := Ports(20)
	if err != nil || len(ports) != 20 {
		t.Fatal(ports, err)
	}
	for _, port := range ports {
		if port < first || port >= first+count {
			t.Errorf("port %d", port)
		}
		l, err := net.Listen("tcp", Addr(port))
		if err != nil {
			t.Fatal(err) // a port twice is in use
		}
		defer l.Close() //nolint:errcheck // nothing was accepted
	}
}
