package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/report"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/workload/catalog"
)

// listing is the output of list.
type listing struct {
	Workloads []listed `json:"workloads"`
	Nemeses   []listed `json:"nemeses"`
}

type listed struct {
	Name     string   `json:"name"`
	About    string   `json:"about"`
	Variants []string `json:"variants,omitempty"`
	Lacks    []string `json:"lacks,omitempty"` // why this machine cannot do it
}

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the workloads and the nemeses, and what this machine cannot do", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			l, err := list()
			if err != nil {
				return err
			}
			return a.print(l, l.table())
		},
	}
}

func list() (listing, error) {
	var l listing
	for _, name := range catalog.Names() {
		w, err := catalog.New(name)
		if err != nil {
			return l, err
		}
		l.Workloads = append(l.Workloads, listed{Name: name, About: w.About()})
	}
	for _, name := range nemesis.Names() {
		about, err := nemesis.About(name)
		if err != nil {
			return l, err
		}
		n := listed{Name: name, About: about, Variants: nemesis.Variants(name, nodesMax)}
		for _, c := range nemesis.Needs(name) {
			if lack := lacks(c); lack != "" {
				n.Lacks = append(n.Lacks, lack)
			}
		}
		l.Nemeses = append(l.Nemeses, n)
	}
	return l, nil
}

func (l listing) table() string {
	var rows [][]string
	for _, w := range l.Workloads {
		rows = append(rows, []string{w.Name, w.About})
	}
	text := report.Table([]string{"workload", "about"}, rows)
	rows = nil
	for _, n := range l.Nemeses {
		about := n.About
		if n.Variants != nil {
			about += "\n  " + wrapped(n.Variants)
		}
		for _, lack := range n.Lacks {
			about += "\n  not available: " + lack
		}
		rows = append(rows, []string{n.Name, about})
	}
	return text + "\n" + report.Table([]string{"nemesis", "about"}, rows)
}

// wrapped returns a list of names on lines that fit a terminal.
func wrapped(names []string) string {
	const most = 90
	text, column := "", 0
	for i, name := range names {
		if i > 0 {
			text += ", "
			column += 2
		}
		if column+len(name) > most {
			text, column = strings.TrimRight(text, " ")+"\n  ", 0
		}
		text += name
		column += len(name)
	}
	return text
}

// lacks returns why this machine lacks a capability, or "" if it has it. The testbed
// may still fail to provide it.
func lacks(c testbed.Capability) string {
	switch c {
	case testbed.CanPartition:
		return firstOf(notRoot(), noDevice("/dev/net/tun"))
	case testbed.CanDisk:
		return firstOf(notRoot(), noDevice("/dev/fuse"))
	case testbed.CanPower:
		return firstOf(notRoot(), noDevice("/dev/loop-control"), noProgram("mkfs.ext4"))
	case testbed.CanClock:
		return noProgram("go")
	default:
		return ""
	}
}

func firstOf(lacks ...string) string {
	for _, lack := range lacks {
		if lack != "" {
			return lack
		}
	}
	return ""
}

func notRoot() string {
	if os.Geteuid() != 0 {
		return "this needs root"
	}
	return ""
}

func noDevice(path string) string {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Sprintf("%s cannot be opened", path)
	}
	_ = f.Close() // nothing was done with it
	return ""
}

func noProgram(name string) string {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Sprintf("there is no %s on the PATH", name)
	}
	return ""
}
