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

// powered is a mounted ext4 file system on a sparse image whose power can be cut.
type powered struct {
	image, dir string
	device     string // the loop device; "" if not mounted
	number     uint64 // device number of the loop device, which files in dir report
}

const (
	// sizeDefault suffices for a node's log, state and snapshots in a run of some
	// minutes. The image is sparse, so only written blocks use space.
	sizeDefault = 512 << 20

	// The ioctl that shuts down a file system, introduced by XFS, and its mode for a
	// power cut, which does not even write the journal.
	shutdownCall     = 0x8004587d // _IOR('X', 125, __u32)
	shutdownNoFlush  = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
	mkfs             = "mkfs.ext4"
	mountFlags       = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME
	mountNoLazyInit  = "noinit_itable" // no kernel thread that writes in the background
	formatSparse     = "lazy_itable_init=1,lazy_journal_init=1,nodiscard"
	formatInodesMany = "16384"
)

// CanCutPower returns why this machine cannot have a powered disk, or nil.
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

// findMkfs also searches root's directories, because PATH may be a user's.
func findMkfs() (string, error) {
	for _, name := range []string{mkfs, "/usr/sbin/" + mkfs, "/sbin/" + mkfs} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("power cuts need %s: install e2fsprogs", mkfs)
}

// format creates an image with an empty file system. The image only exists under its
// name once it is complete.
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

// mount mounts the image at its directory, unchanged.
func (p *powered) mount() error {
	device, err := attach(p.image)
	if err != nil {
		return err
	}
	defer func() { _ = device.Close() }() // the mount holds the device now, or it is unused
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

// unmount unmounts the file system and waits until its device is gone too. The image
// must not be mounted again while an open file keeps the old mount alive: that mount
// could write older blocks over newer ones.
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

// shutdown cuts the power: from now on nothing more is written to the image. Files
// that are still open become invalid.
func (p *powered) shutdown() (err error) {
	if p.device == "" {
		return errors.New("the disk has no power: an earlier power cut failed")
	}
	top, err := os.Open(p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, top.Close()) }()
	// The call shuts down the file system of the directory, whichever it is. If that
	// is not ours, then ours was unmounted by another process, and the call would shut
	// down the machine's file system.
	var stat unix.Stat_t
	if err := unix.Fstat(int(top.Fd()), &stat); err != nil {
		return err
	}
	if stat.Dev != p.number {
		return fmt.Errorf("%s is no longer mounted there: power not cut", p.device)
	}
	if err := unix.IoctlSetPointerInt(int(top.Fd()), shutdownCall, shutdownNoFlush); err != nil {
		return os.NewSyscallError("ext4 shutdown", err)
	}
	return nil
}
