package testbed

import (
	"os/exec"

	"dormouse/jepsen/testbed/packet"
)

// ReadMetrics parses a page of metrics.
func ReadMetrics(page string) map[string]float64 { return readMetrics([]byte(page)) }

// RunToEnd runs a command as a node is run, and returns how it ended.
func RunToEnd(logPath string, command ...string) (code int, detail string, err error) {
	home, err := packet.Home()
	if err != nil {
		return 0, "", err
	}
	defer home.Close()
	p, err := launch(home, logPath, exec.Command(command[0], command[1:]...), func(*process) {})
	if err != nil {
		return 0, "", err
	}
	<-p.exited
	return p.code, p.detail, nil
}

// ProgramBeside returns the command line of a program beside this number of nodes, and
// the names that Hosts and Programs return.
func ProgramBeside(nodes int, command ...string) (args, hosts, programs []string) {
	b := &Bed{}
	for n := range nodes + 1 {
		h := &Host{bed: b, place: place{loopback, loopbackFirst + n*portStride}}
		if n == nodes {
			h.program = command
		}
		h.name = b.hostName(h.program)
		h.node = h.name
		b.hosts = append(b.hosts, h)
	}
	for _, h := range b.Hosts() {
		hosts = append(hosts, h.Name())
	}
	for _, h := range b.Programs() {
		programs = append(programs, h.Name())
	}
	return b.Programs()[0].command().Args, hosts, programs
}

// Starve and Feed limit a process.
var (
	Starve = starve
	Feed   = feed
)
