package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// powered is a mounted ext4 file system on a sparse image, whose power can be
// cut.
type powered struct {
	image, dir string
	device     string // the loop device; "" while it is not mounted
	number     uint64 // of the loop device: what files in dir say they are on
}

const (
	// sizeDefault has room for a node's log, its state and its snapshots in a
	// run of some minutes; only what is written takes room outside.
	sizeDefault = 512 << 20

	// The shutdown of a file system, as XFS had it first, and the manner that
	// is a power cut: not even the journal is written.
	shutdownCall     = 0x8004587d // _IOR('X', 125, __u32)
	shutdownNoFlush  = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
	mkfs             = "mkfs.ext4"
	mountFlags       = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME
	mountNoLazyInit  = "noinit_itable" // no thread that writes on its own account
	formatSparse     = "lazy_itable_init=1,lazy_journal_init=1,nodiscard"
	formatInodesMany = "16384"
)

// CanCutPower says why this machine cannot have a powered disk, or nil.
func CanCutPower() error {
	if os.Geteuid() != 0 {
		return errors.New("power cuts need root, to mount loop images")
	}
	if _, err := os.Stat(loopControl); err != nil {
		return fmt.Errorf("power cuts need loop devices: %w", err)
	}
	_, err := findMkfs()
	return err
}

// findMkfs looks where root's tools are too, should PATH be a user's.
func findMkfs() (string, error) {
	for _, name := range []string{mkfs, "/usr/sbin/" + mkfs, "/sbin/" + mkfs} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("power cuts need %s: install e2fsprogs", mkfs)
}

// format makes an image of the size with an empty file system. An image that is
// there is a whole one, however this ends.
func format(ctx context.Context, image string, size int64) error {
	tool, err := findMkfs()
	if err != nil {
		return err
	}
	unfinished := image + ".new"
	file, err := os.OpenFile(unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, tool, "-q", "-F", "-m", "0", "-b", "4096", "-N", formatInodesMany, "-E", formatSparse, unfinished).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", mkfs, unfinished, err, bytes.TrimSpace(out))
	}
	return os.Rename(unfinished, image)
}

// mount puts the image into its directory, as it is.
func (p *powered) mount() error {
	device, err := attach(p.image)
	if err != nil {
		return err
	}
	defer func() { _ = device.Close() }() // the mount has it now, or nothing has
	var stat unix.Stat_t
	if err := unix.Fstat(int(device.Fd()), &stat); err != nil {
		return err
	}
	if err := unix.Mount(device.Name(), p.dir, "ext4", mountFlags, mountNoLazyInit); err != nil {
		return fmt.Errorf("mount %s (%s) on %s: %w", device.Name(), p.image, p.dir, err)
	}
	p.device, p.number = device.Name(), stat.Rdev
	return nil
}

// unmount takes the file system away and waits until its device is gone too.
// The image must not be mounted again while the old mount lives on behind
// somebody's open file: that could still write older blocks over newer ones.
func (p *powered) unmount(ctx context.Context) error {
	if p.device == "" {
		return nil
	}
	device := p.device
	p.device = ""
	if err := unmount(ctx, p.dir); err != nil {
		return err
	}
	return untilDone(ctx, func() error { return detached(device, p.image) })
}

// shutdown cuts the power: nothing that is not on the image by now gets there.
// Who still has files open finds them broken.
func (p *powered) shutdown() (err error) {
	if p.device == "" {
		return errors.New("it has no power: an earlier cut went wrong")
	}
	top, err := os.Open(p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, top.Close()) }()
	// The call shuts down whatever file system the directory is on. Should it
	// be another one, ours was unmounted behind our back, and the other may be
	// the machine's.
	var stat unix.Stat_t
	if err := unix.Fstat(int(top.Fd()), &stat); err != nil {
		return err
	}
	if stat.Dev != p.number {
		return fmt.Errorf("%s is no longer mounted there: nothing was done", p.device)
	}
	if err := unix.IoctlSetPointerInt(int(top.Fd()), shutdownCall, shutdownNoFlush); err != nil {
		return os.NewSyscallError("ext4 shutdown", err)
	}
	return nil
}
