package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// monitorSetting makes Go's monitor thread (sysmon in the runtime) look at the processors every 10 ms. The
// runtime reads it once, when the process begins. A trace of the scheduler, which is what the setting is
// for, would be a line each 24 days.
//
// Without it the thread sleeps while no goroutine is ready. As soon as one is ready the runtime wakes it,
// and it looks every 20 µs for a millisecond. A node waits for disks and other nodes some thousand times a
// second, so the thread looks every 20 µs nearly all the time: a tenth of the CPU of a write (ADR 54).
const monitorSetting = "schedtrace=2147483647"

// calmMonitor begins the program again, as the same process, with monitorSetting in its environment.
// It returns if that is not possible, or not wanted: if GODEBUG sets schedtrace already, or if there
// is one processor only, which the thread must take from system calls soon.
func calmMonitor(environ []string) {
	if runtime.GOMAXPROCS(0) == 1 {
		return
	}
	environ, changed := withMonitorSetting(environ)
	path, err := os.Executable()
	if !changed || err != nil {
		return
	}
	_ = syscall.Exec(path, os.Args, environ) // after an error the node runs as well, and takes more CPU
}

// withMonitorSetting returns an environment with monitorSetting, and whether it lacked one.
func withMonitorSetting(environ []string) (with []string, changed bool) {
	const name = "GODEBUG="
	settings := monitorSetting
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, name); ok && value != "" {
			if strings.Contains(value, "schedtrace=") {
				return environ, false
			}
			settings = value + "," + monitorSetting
		}
	}
	with = slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, name) })
	return append(with, name+settings), true
}
