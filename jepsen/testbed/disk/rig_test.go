package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dormouse/jepsen/testbed/disk"

	"golang.org/x/sys/unix"
)

// TestMain also runs the binary as the process that uses the disk: the process that
// serves a disk must not map its files, hang or be killed.
func TestMain(m *testing.M) {
	if what := os.Getenv("DISK_TEST_AS"); what != "" {
		if err := others[what](os.Args[len(os.Args)-1]); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println("done")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// others are the actions of the other process on a path.
var others = map[string]func(path string) error{
	// mapper maps the file, writes to it, and checks the mapping.
	"mapper": func(path string) error {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := file.Truncate(8192); err != nil {
			return err
		}
		mapped, err := unix.Mmap(int(file.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		if mapped[5000] != 0 {
			return errors.New("not empty")
		}
		if _, err := file.WriteAt([]byte("written"), 5000); err != nil {
			return err
		}
		if got := string(mapped[5000:5007]); got != "written" {
			return fmt.Errorf("the mapping shows %q", got)
		}
		return nil
	},
	// writer writes and syncs once.
	"writer": func(path string) error {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		fmt.Println("writing")
		_, err = file.WriteString("a line\n")
		return errors.Join(err, file.Sync(), file.Close())
	},
	// keeper keeps a file open until its input ends.
	"keeper": func(path string) error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the input ends
		return file.Close()
	},
	// owner opens a disk of both kinds and waits to be killed.
	"owner": func(path string) error {
		if _, err := disk.Open(context.Background(), disk.Options{Dir: path, Faulty: true, Powered: true, Size: 32 << 20}); err != nil {
			return err
		}
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the input ends
		return nil
	},
}

// process is another process, which is killed when the test ends.
type process struct {
	*exec.Cmd
	out   io.Reader
	input io.Closer
}

func start(t *testing.T, what, path string) *process {
	t.Helper()
	command := exec.Command(os.Args[0], path)
	command.Env = append(os.Environ(), "DISK_TEST_AS="+what)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: command, out: out, input: input}
	t.Cleanup(func() { p.kill(t) })
	return p
}

// says waits for a line of output.
func (p *process) says(t *testing.T, want string) {
	t.Helper()
	line := make([]byte, len(want)+1)
	n, err := io.ReadFull(p.out, line)
	if got := strings.TrimSpace(string(line[:n])); got != want {
		rest, _ := io.ReadAll(p.out)
		t.Fatalf("the other process says %q%q (%v), not %q", got, rest, err, want)
	}
}

// kill kills the process and waits for its end.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.Process.Kill() // it may have ended
	ended := make(chan struct{})
	go func() {
		_ = p.Wait() // the exit code does not matter
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Errorf("process %d cannot be killed", p.Process.Pid)
	}
}

func openFaulty(t *testing.T) *disk.Disk {
	t.Helper()
	if err := disk.CanFault(); err != nil {
		t.Skip(err)
	}
	return open(t, disk.Options{Dir: t.TempDir(), Faulty: true})
}

func openPowered(t *testing.T, o disk.Options) *disk.Disk {
	t.Helper()
	if err := disk.CanCutPower(); err != nil {
		t.Skip(err)
	}
	o.Dir, o.Powered, o.Size = t.TempDir(), true, 32<<20
	return open(t, o)
}

func open(t *testing.T, o disk.Options) *disk.Disk {
	t.Helper()
	if o.Faulty && disk.CanFault() != nil {
		t.Skip(disk.CanFault())
	}
	d, err := disk.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if left := mountsBelow(t, o.Dir); left != nil {
			t.Errorf("still mounted: %v", left)
		}
	})
	return d
}

// mountsBelow reads the table of mounts with other code than the package.
func mountsBelow(t *testing.T, dir string) []string {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var below []string
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); strings.HasPrefix(fields[1], dir+"/") {
			below = append(below, fields[1])
		}
	}
	return below
}

// write appends the content to a file. If sync is set it syncs the file and its
// directory.
func write(path, content string, sync bool) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.WriteString(content); err != nil {
		return err
	}
	if sync {
		return errors.Join(file.Sync(), syncDir(filepath.Dir(path)))
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Fatalf("%s holds %q (%v), want %q", filepath.Base(path), got, err, want)
	}
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for until := time.After(5 * time.Second); !so(); {
		select {
		case <-tick.C:
		case <-until:
			t.Fatalf("not after 5 s: %s", what)
		}
	}
}
