package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A cgroup is a control group that bounds the memory of the processes in it, those pages of files included that
// they use first. The kernel ends one that needs more.
type cgroup struct {
	dir     string
	version cgroupVersion
}

// cgroupVersion has the names of the files of a version of control groups.
type cgroupVersion struct {
	limit, swap, kills string
}

var (
	cgroupOne = cgroupVersion{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"}
	cgroupTwo = cgroupVersion{"memory.max", "memory.swap.max", "memory.events"}
)

// cgroupPlace returns where the control groups for memory of this machine are mounted, and the path of a process
// below it. cgroups and mounts are the contents of /proc/PID/cgroup and /proc/mounts.
func cgroupPlace(cgroups, mounts string) (mount, path string, version cgroupVersion, err error) {
	paths := map[bool]string{} // :: version 2 → the process's path
	for line := range strings.Lines(cgroups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		if two := parts[1] == ""; two || slices.Contains(strings.Split(parts[1], ","), "memory") {
			paths[two] = parts[2]
		}
	}
	found := map[bool]string{} // :: version 2 → the mount
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 4:
		case fields[2] == "cgroup2":
			found[true] = fields[1]
		case fields[2] == "cgroup" && slices.Contains(strings.Split(fields[3], ","), "memory"):
			found[false] = fields[1]
		}
	}
	// A machine with both versions has the controller of memory in one of them: the first, where that is mounted.
	for _, two := range []bool{false, true} {
		if found[two] != "" && paths[two] != "" {
			return found[two], paths[two], map[bool]cgroupVersion{false: cgroupOne, true: cgroupTwo}[two], nil
		}
	}
	return "", "", cgroupVersion{}, errors.New("there are no control groups for memory")
}

// cgroupPrefix begins the name of a control group of a harness, whose process id follows.
const cgroupPrefix = "dormjepsen-"

// openCgroup makes a control group without a limit, below that of this process or one above it. It first removes those that a
// harness left behind that was killed.
func openCgroup(name string) (*cgroup, error) {
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return nil, err
	}
	mount, path, version, err := cgroupPlace(string(cgroups), string(mounts))
	if err != nil {
		return nil, err
	}
	for {
		parent := filepath.Join(mount, path)
		if _, err = os.Stat(parent); err == nil { // it may be outside of what a container sees
			removeOrphans(parent)
			g := &cgroup{filepath.Join(parent, fmt.Sprintf("%s%d-%s", cgroupPrefix, os.Getpid(), name)), version}
			if err = g.make(); err == nil {
				return g, nil
			}
		}
		if path == "/" || path == "." {
			return nil, fmt.Errorf("no control group for memory can be made: %w", err)
		}
		path = filepath.Dir(path)
	}
}

// make makes the directory, and removes it again if it cannot bound memory.
func (g *cgroup) make() error {
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(g.file(g.version.limit)); err != nil {
		return errors.Join(err, os.Remove(g.dir))
	}
	return nil
}

// removeOrphans removes the control groups of harnesses that have ended.
func removeOrphans(parent string) {
	entries, _ := os.ReadDir(parent) // what cannot be read has no orphans to remove
	for _, e := range entries {
		rest, is := strings.CutPrefix(e.Name(), cgroupPrefix)
		pid, _, _ := strings.Cut(rest, "-")
		if _, err := os.Stat("/proc/" + pid); is && errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(filepath.Join(parent, e.Name())) // a process may still be in it
		}
	}
}

func (g *cgroup) file(name string) string { return filepath.Join(g.dir, name) }

// bound sets the limit, in bytes.
func (g *cgroup) bound(limit int64) error {
	if err := os.WriteFile(g.file(g.version.limit), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		return err
	}
	swap := limit // version 1 bounds memory and swap together
	if g.version == cgroupTwo {
		swap = 0
	}
	_ = os.WriteFile(g.file(g.version.swap), []byte(strconv.FormatInt(swap, 10)), 0o600) // a kernel without swap has no such file
	return nil
}

// enter moves a process into the group. What it has already stays with the group that it leaves.
func (g *cgroup) enter(pid int) error { return enter(g.dir, pid) }

func enter(dir string, pid int) error {
	return os.WriteFile(filepath.Join(dir, procsFile), []byte(strconv.Itoa(pid)), 0o600)
}

const procsFile = "cgroup.procs"

// begin changes a command that was not started so that its process begins in the group.
func (g *cgroup) begin(cmd *exec.Cmd) {
	shell := exec.Command("/bin/sh", append([]string{"-c", `echo $$ >"$0" && exec "$@"`, g.file(procsFile), cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path, cmd.Args = shell.Path, shell.Args
}

// await waits until a process that begins in the group is in it: until then the group must stay.
func (g *cgroup) await(p *process) {
	for end := time.Now().Add(dieMax); p.running() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(g.file(procsFile))
		if err != nil || slices.Contains(strings.Fields(string(text)), strconv.Itoa(p.cmd.Process.Pid)) {
			return
		}
	}
}

// kills returns how many processes the kernel has ended for their memory.
func (g *cgroup) kills() int {
	text, _ := os.ReadFile(g.file(g.version.kills)) // it is only told
	for line := range strings.Lines(string(text)) {
		if n, is := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); is {
			count, _ := strconv.Atoi(n)
			return count
		}
	}
	return 0
}

// close moves the group's processes to its parent, and removes it.
func (g *cgroup) close() error {
	text, err := os.ReadFile(g.file(procsFile))
	for pid := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = enter(filepath.Dir(g.dir), n) // it may have ended
		}
	}
	return errors.Join(err, os.Remove(g.dir))
}

// CanConfineMemory returns why this machine cannot bound the memory of a process by a control group; nil if it can.
func CanConfineMemory() error {
	g, err := openCgroup("trial")
	if err != nil {
		return err
	}
	return errors.Join(g.bound(1<<30), g.close())
}

// Confine bounds the memory of a host's process, and of its next ones, by a control group, until Unconfine. It bounds all of what
// a process that starts in it uses, and what one that runs already uses more than it has.
func Confine(h *Host, memory int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.group != nil {
		return fmt.Errorf("%s is confined already", h.name)
	}
	g, err := openCgroup(h.name)
	if err != nil {
		return err
	}
	if err := g.bound(memory); err != nil {
		return errors.Join(err, g.close())
	}
	h.group = g
	if p := h.process; p != nil && p.running() {
		return g.enter(p.cmd.Process.Pid)
	}
	return nil
}

// Unconfine ends what Confine began. It returns how many processes the kernel has ended for their memory; it waits for their end.
func Unconfine(h *Host) (kills int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.group == nil {
		return 0, nil
	}
	if kills = h.group.kills(); kills > 0 && h.process != nil {
		select {
		case <-h.process.exited: // it may be about to end
		case <-time.After(dieMax):
		}
	}
	err = h.group.close()
	h.group = nil
	return kills, err
}
