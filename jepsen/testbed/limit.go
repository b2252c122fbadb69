package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Starve takes descriptors and memory of the host's process away: it may have no more
// than the given number beside those that it uses now. A negative number means no limit.
// The next process of the host has its limits back.
func (h *Host) Starve(descriptors int, memory int64) error {
	pid := h.PID()
	if pid == 0 {
		return fmt.Errorf("%s does not run", h.name)
	}
	if err := starve(pid, descriptors, memory); err != nil {
		return fmt.Errorf("limit %s: %w", h.name, err)
	}
	return nil
}

// Feed ends the limits of Starve. It does nothing if no process runs.
func (h *Host) Feed() error {
	pid := h.PID()
	if pid == 0 {
		return nil
	}
	return feed(pid)
}

func starve(pid, descriptors int, memory int64) error {
	if descriptors >= 0 {
		most, err := boundary(pid, descriptors)
		if err != nil {
			return err
		}
		if err := limit(pid, unix.RLIMIT_NOFILE, most); err != nil {
			return err
		}
	}
	if memory < 0 {
		return nil
	}
	size, err := addressSpace(pid)
	if err != nil {
		return err
	}
	return limit(pid, unix.RLIMIT_AS, size+uint64(memory))
}

func feed(pid int) error {
	for _, what := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_AS} {
		var l unix.Rlimit
		if err := unix.Prlimit(pid, what, nil, &l); err != nil {
			return err
		}
		l.Cur = l.Max
		if err := unix.Prlimit(pid, what, &l, nil); err != nil {
			return err
		}
	}
	return nil
}

// boundary returns the limit under which a process can open so many more descriptors. A
// limit bounds the numbers of descriptors, and a new one gets the lowest free number.
func boundary(pid, more int) (uint64, error) {
	open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		return 0, err
	}
	used := map[string]bool{}
	for _, entry := range open {
		used[entry.Name()] = true
	}
	for n := 0; ; n++ {
		if used[strconv.Itoa(n)] {
			continue
		}
		if more == 0 {
			return uint64(n), nil
		}
		more--
	}
}

// limit sets the soft limit of a process.
func limit(pid, what int, most uint64) error {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, what, nil, &l); err != nil {
		return err
	}
	l.Cur = min(most, l.Max)
	return unix.Prlimit(pid, what, &l, nil)
}

// addressSpace returns how much address space a process has mapped, in bytes.
func addressSpace(pid int) (uint64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	pages, err := strconv.ParseUint(first, 10, 64)
	return pages * uint64(os.Getpagesize()), err
}
