package testbed

import (
	"os/exec"

	"dormouse/jepsen/testbed/packet"
)

// ReadMetrics reads a page of metrics.
func ReadMetrics(page string) map[string]float64 { return readMetrics([]byte(page)) }

// RunToEnd runs a command as a node is run, and tells how it ended.
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
