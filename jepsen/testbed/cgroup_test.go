package testbed

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dormouse/jepsen/testbed/packet"
)

func TestThePlaceOfControlGroups(t *testing.T) {
	const (
		one    = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
		two    = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n"
		hybrid = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
	)
	for _, c := range []struct {
		name, cgroups, mounts string
		mount, path           string
		version               cgroupVersion
	}{
		{"version 1", "5:cpu,cpuacct:/\n4:memory:/a/b\n1:name=systemd:/x\n", one, "/sys/fs/cgroup/memory", "/a/b", cgroupOne},
		{"version 2", "0::/user.slice/s.scope\n", "proc /proc proc rw 0 0\n" + two, "/sys/fs/cgroup", "/user.slice/s.scope", cgroupTwo},
		{"both, memory in version 1", "4:memory:/m\n0::/u\n", hybrid + one, "/sys/fs/cgroup/memory", "/m", cgroupOne},
		{"both, version 1 without memory", "5:cpu:/\n0::/u\n", "cgroup /c cgroup rw,cpu 0 0\n" + hybrid, "/sys/fs/cgroup/unified", "/u", cgroupTwo},
		{"none", "", "proc /proc proc rw 0 0\n", "", "", cgroupVersion{}},
		{"not mounted", "4:memory:/m\n", "", "", "", cgroupVersion{}},
		{"a path with colons", "0::/a:b\n", two, "/sys/fs/cgroup", "/a:b", cgroupTwo},
	} {
		mount, path, version, err := cgroupPlace(c.cgroups, c.mounts)
		if mount != c.mount || path != c.path || version != c.version || (err == nil) != (c.mount != "") {
			t.Errorf("%s: %q, %q, %v, %v", c.name, mount, path, version, err)
		}
	}
}

// TestTheKernelEndsAProcessOfAGroup starts a program that takes ever more memory.
func TestTheKernelEndsAProcessOfAGroup(t *testing.T) {
	if err := CanConfineMemory(); err != nil {
		t.Skip(err)
	}
	g, err := openCgroup("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.bound(32 << 20); err != nil {
		t.Fatal(err)
	}
	home, err := packet.Home()
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	cmd := exec.Command("tail", "-n", "1", "/dev/zero")
	g.begin(cmd)
	p, err := launch(home, filepath.Join(t.TempDir(), "log"), cmd, func(*process) {})
	if err != nil {
		t.Fatal(err)
	}
	<-p.exited
	if p.detail != "killed" || g.kills() != 1 {
		t.Errorf("it ended as %q, and the kernel counts %d kills", p.detail, g.kills())
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.dir); err == nil {
		t.Error("the group is still there")
	}
}

// TestALimitEndsWithItsGroup moves a process in and out.
func TestALimitEndsWithItsGroup(t *testing.T) {
	if err := CanConfineMemory(); err != nil {
		t.Skip(err)
	}
	g, err := openCgroup("test")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.enter(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil || g.kills() != 0 {
		t.Errorf("%v, %d kills", err, g.kills())
	}
}

// TestAGroupMayEndOnceItsProcessBegan ends a group as soon as await returns.
func TestAGroupMayEndOnceItsProcessBegan(t *testing.T) {
	if err := CanConfineMemory(); err != nil {
		t.Skip(err)
	}
	home, err := packet.Home()
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	for range 20 {
		g, err := openCgroup("test")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sleep", "0.01")
		g.begin(cmd)
		p, err := launch(home, filepath.Join(t.TempDir(), "log"), cmd, func(*process) {})
		if err != nil {
			t.Fatal(err)
		}
		g.await(p)
		if err := g.close(); err != nil {
			t.Error(err)
		}
		if <-p.exited; p.detail != "exit code 0" {
			t.Fatal(p.detail)
		}
	}
}

func TestGroupsOfEndedHarnessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, cgroupPrefix+"1-n1") // process 1 runs
	for _, name := range []string{mine, filepath.Join(dir, cgroupPrefix+"999999999-n1"), filepath.Join(dir, "other")} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	removeOrphans(dir)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != filepath.Base(mine) || left[1].Name() != "other" {
		t.Errorf("%v, %v are left", left, err)
	}
}
