package main

import (
	"errors"
	"fmt"
	"strings"

	"dormouse/config"
)

// The exit codes. Package node uses the numbers of its faults; the table below is their only
// description.
const (
	exitOK          = 0
	exitFailed      = 1
	exitConfig      = 2
	exitForeignData = 3
	exitLocked      = 4
	exitDamaged     = 5
	exitListen      = 6
	exitRemoved     = 7
	exitDisk        = 8
)

// exits describes each code, and what to do if the error does not say so.
var exits = []struct {
	code          int
	meaning, hint string
}{
	{exitOK, "stopped as requested", ""},
	{exitFailed, "another failure", ""},
	{exitConfig, "wrong usage or configuration", "see dormoused --help; --print-config shows the effective settings"},
	{exitForeignData, "the data directory belongs to another cluster or a newer format", "name another --data-dir, or start the version that wrote this one"},
	{exitLocked, "the data directory is in use by another process", "stop that process, or name another --data-dir"},
	{exitDamaged, "a file of the data directory is damaged or gone", "keep a copy of the data directory until the node has recovered"},
	{exitListen, "cannot listen on an address", "stop what listens there, or choose another --http-addr, --grpc-addr, --raft-addr or --gossip-addr"},
	{exitRemoved, "the node was removed from its cluster, or is refused by it", ""},
	{exitDisk, "the disk failed, hung or is full", "nothing acknowledged is lost; repair the disk or free space, then start the node again"},
}

// coded is implemented by node's errors: they have an exit code.
type coded interface {
	error
	ExitCode() int
}

// usageError is an invalid command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func exitCode(err error) int {
	var problems *config.Error
	var usage *usageError
	var fault coded
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &problems), errors.As(err, &usage):
		return exitConfig
	case errors.As(err, &fault):
		return fault.ExitCode()
	default:
		return exitFailed
	}
}

// exitHint returns what to do about err.
func exitHint(err error, code int) string {
	for _, e := range exits {
		if e.code == code && !strings.Contains(err.Error(), e.hint) {
			return e.hint
		}
	}
	return ""
}

// exitTable returns the table of exit codes, for --help.
func exitTable() string {
	var b strings.Builder
	for _, e := range exits {
		fmt.Fprintf(&b, "  %d  %s\n", e.code, e.meaning)
	}
	b.WriteString("  130, 143  SIGINT or SIGTERM interrupted a command, or a second one ended the node at once\n")
	return b.String()
}
