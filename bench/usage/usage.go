// Package usage reads what processes have used, from /proc.
package usage

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what processes have used since they began.
type Usage struct {
	CPU     time.Duration
	Written int64 // bytes that went, or are to go, to a disk
	Memory  int64 // bytes resident now; of several processes, what they share counts once
}

// Less is what was used since before. Memory stays what it is now.
func (u Usage) Less(before Usage) Usage {
	return Usage{CPU: u.CPU - before.CPU, Written: u.Written - before.Written, Memory: u.Memory}
}

// Tree is what a process and all its descendants have used. Of children that
// have ended the CPU time counts, as their parents were told of it.
func Tree(pid int) (Usage, error) {
	children, err := parents()
	if err != nil {
		return Usage{}, err
	}
	sum, err := of(pid, len(children[pid]) > 0)
	if err != nil {
		return Usage{}, err
	}
	for list := children[pid]; len(list) > 0; list = list[1:] {
		one, err := of(list[0], true)
		if err != nil {
			continue // it has ended since
		}
		sum.CPU += one.CPU
		sum.Written += one.Written
		sum.Memory += one.Memory
		list = append(list, children[list[0]]...)
	}
	return sum, nil
}

// Peak returns the most bytes that the process has had resident at once since it
// started.
func Peak(pid int) (int64, error) {
	status, err := fields(pid, "status")
	return status["VmHWM"] << 10, err
}

// Self is the CPU time of this process.
func Self() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("read what this process has used: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// tick is the unit of CPU time in /proc, which Linux has fixed.
const tick = 10 * time.Millisecond

// of is what one process has used. Of what it shares with others it has but a
// part where they are counted too.
func of(pid int, shares bool) (Usage, error) {
	s, err := readStat(pid)
	if err != nil {
		return Usage{}, err
	}
	io, err := fields(pid, "io")
	if err != nil {
		return Usage{}, err
	}
	memory, err := fields(pid, "smaps_rollup")
	if err != nil {
		return Usage{}, err
	}
	resident := memory["Rss"]
	if shares {
		resident = memory["Pss"]
	}
	return Usage{CPU: s.cpu, Written: io["write_bytes"], Memory: resident << 10}, nil
}

// stat is what is of use in /proc/PID/stat.
type stat struct {
	parent int
	cpu    time.Duration // own, and of children that were waited for
}

func readStat(pid int) (stat, error) {
	raw, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return stat{}, fmt.Errorf("read what process %d has used: %w", pid, err)
	}
	return parseStat(string(raw))
}

// parseStat takes the line apart. The second field is the program's name in
// parentheses, and may hold anything.
func parseStat(line string) (stat, error) {
	rest := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const parent, cpuFirst, cpuLast = 1, 11, 14 // counted from the third field
	if len(rest) <= cpuLast {
		return stat{}, fmt.Errorf("%q is no line of /proc/PID/stat", line)
	}
	var s stat
	var err error
	if s.parent, err = strconv.Atoi(rest[parent]); err != nil {
		return stat{}, fmt.Errorf("parent in /proc/PID/stat: %w", err)
	}
	for _, field := range rest[cpuFirst : cpuLast+1] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("CPU time in /proc/PID/stat: %w", err)
		}
		s.cpu += time.Duration(ticks) * tick
	}
	return s, nil
}

// fields reads the lines "name: number" of a file about a process.
func fields(pid int, file string) (map[string]int64, error) {
	raw, err := os.ReadFile(proc(pid, file))
	if err != nil {
		return nil, fmt.Errorf("read what process %d has used: %w", pid, err)
	}
	found := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			found[name] = n
		}
	}
	return found, nil
}

// parents lists the children of every process.
func parents() (map[int][]int, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	children := map[int][]int{} // :: parent → children
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil { // else it has ended since
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	return children, nil
}

func proc(pid int, file string) string { return fmt.Sprintf("/proc/%d/%s", pid, file) }
