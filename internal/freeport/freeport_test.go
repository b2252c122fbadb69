package freeport

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// The ports differ, are outside of the ephemeral range, and can be listened on.
func TestPortsAreFree(t *testing.T) {
	ports, err := Ports(20)
	if err != nil || len(ports) != 20 {
		t.Fatal(ports, err)
	}
	for _, port := range ports {
		if port < first || port >= first+blocks*blockSize {
			t.Errorf("port %d", port)
		}
		l, err := net.Listen("tcp", Addr(port))
		if err != nil {
			t.Fatal(err) // a port twice is in use
		}
		defer l.Close() //nolint:errcheck // nothing was accepted
	}
}

// A port that no program listens on yet is not returned again while others are left.
func TestAPortComesAgainLast(t *testing.T) {
	seen := map[int]bool{}
	for range 80 {
		ports, err := Ports(5)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if seen[port] {
				t.Fatalf("port %d came twice in %d", port, len(seen))
			}
			seen[port] = true
		}
	}
	if _, err := Ports(blockSize); err == nil {
		t.Error("more ports than a block has")
	}
}

// Another process does not get the ports of this one, though nothing listens on them.
func TestProcessesGetDifferentPorts(t *testing.T) {
	const print = "DORMOUSE_PRINT_PORTS"
	if os.Getenv(print) != "" {
		ports, err := Ports(5)
		fmt.Println("ports", ports, err)
		return
	}
	mine, err := Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestProcessesGetDifferentPorts$") //nolint:gosec // this test
	c.Env = append(os.Environ(), print+"=1")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs [5]int
	at := max(0, bytes.Index(out, []byte("ports")))
	if _, err := fmt.Sscanf(string(out[at:]), "ports [%d %d %d %d %d]", &theirs[0], &theirs[1], &theirs[2], &theirs[3], &theirs[4]); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if slices.ContainsFunc(theirs[:], func(port int) bool { return (port-first)/blockSize == (mine[0]-first)/blockSize }) {
		t.Errorf("ports %v of the block of %d", theirs, mine[0])
	}
}
