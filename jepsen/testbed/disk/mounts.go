package disk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// busyMax bounds how long a mount may stay busy with processes that have just been
	// killed.
	busyMax = 5 * time.Second

	busyEvery = 10 * time.Millisecond
)

// unmount unmounts the file system at dir. If it stays busy, unmount detaches it and
// returns an error; files that are still open become invalid.
func unmount(ctx context.Context, dir string) error {
	err := untilDone(ctx, func() error { return unix.Unmount(dir, unix.UMOUNT_NOFOLLOW) })
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("unmount %s: %w: end the processes that use it first; it was detached", dir, err), detach(dir))
}

// detach unmounts the file system at dir even if it is busy.
func detach(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("detach %s: %w", dir, err)
	}
	return nil
}

// untilDone repeats do while it returns EBUSY, for at most busyMax.
func untilDone(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, busyMax)
	defer cancel()
	tick := time.NewTicker(busyEvery)
	defer tick.Stop()
	for {
		err := do()
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// sweep detaches the mounts below dir that an earlier process left, the innermost
// first. It leaves all other mounts alone.
func sweep(dir string) error {
	left, err := mountsBelow(dir)
	if err != nil {
		return err
	}
	var problems []error
	for _, m := range left {
		problems = append(problems, detach(m))
	}
	return errors.Join(problems...)
}

// mountsBelow returns the mounts below dir, the latest first.
func mountsBelow(dir string) ([]string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("look for mounts left below %s: %w", dir, err)
	}
	defer func() { _ = table.Close() }() // read only
	var below []string
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		if m := unescape(fields[4]); strings.HasPrefix(m, dir+"/") {
			below = append(below, m)
		}
	}
	slices.Reverse(below)
	return below, lines.Err()
}

// unescape decodes the \ooo escapes of mountinfo, for example of spaces.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if c, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
