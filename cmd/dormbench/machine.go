package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dormouse/bench/report"
)

// commandLine returns the command line of this process, without the path of the
// program.
func commandLine() []string {
	return append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
}

// describe returns a description of this machine and of the disk of dir.
func describe(ctx context.Context, dir string) (report.Machine, error) {
	m := report.Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: fact("/proc/cpuinfo", "model name")}
	kib, _, _ := strings.Cut(fact("/proc/meminfo", "MemTotal"), " ")
	if n, err := strconv.ParseInt(kib, 10, 64); err == nil {
		m.Memory = n << 10
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	out, err := exec.CommandContext(ctx, "df", "--output=source,fstype", dir).Output()
	if err == nil {
		if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); len(lines) == 2 {
			m.Disk = strings.Join(strings.Fields(lines[1]), " ")
		}
	}
	flush, err := flushTime(dir)
	if err != nil {
		return m, err
	}
	m.Flush = flush.Round(time.Microsecond).String()
	return m, nil
}

// fact returns the first value of a name in a file of lines "name : value", or
// "unknown".
func fact(file, name string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// flushTime returns the median time of a write of 4 KiB into the middle of a file
// including its flush. This is the lower bound of all measured writes.
func flushTime(dir string) (time.Duration, error) {
	const block, blocks = 4 << 10, 200
	f, err := os.CreateTemp(dir, "dormbench-flush-")
	if err != nil {
		return 0, fmt.Errorf("time a flush: %w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if _, err := f.Write(make([]byte, block*blocks)); err != nil {
		return 0, fmt.Errorf("time a flush: %w", err)
	}
	if err := f.Sync(); err != nil {
		return 0, fmt.Errorf("time a flush: %w", err)
	}
	var took []float64
	data := make([]byte, block)
	for i := range blocks {
		began := time.Now()
		data[0] = byte(i)
		if _, err := f.WriteAt(data, int64(i)*block); err != nil {
			return 0, fmt.Errorf("time a flush: %w", err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return 0, fmt.Errorf("time a flush: %w", err)
		}
		took = append(took, float64(time.Since(began)))
	}
	return time.Duration(report.Median(took)), nil
}
