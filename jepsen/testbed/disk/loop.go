package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	loopControl = "/dev/loop-control"

	// loopTries bounds the retries when another process takes the free loop device.
	loopTries = 32
)

// attach creates a block device for an image. The device disappears when it is neither
// open nor mounted; the caller closes it once it is mounted.
func attach(image string) (device *os.File, err error) {
	file, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	control, err := os.OpenFile(loopControl, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, control.Close()) }()

	for range loopTries {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		device, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", number), os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		err = unix.IoctlLoopConfigure(int(device.Fd()), &unix.LoopConfig{
			Fd:   uint32(file.Fd()),
			Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR},
		})
		if err == nil {
			return device, nil
		}
		err = errors.Join(err, device.Close())
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("attach %s to a loop device: %w", image, err)
		}
	}
	return nil, fmt.Errorf("attach %s: other processes took every free loop device %d times", image, loopTries)
}

// detached returns nil if a loop device no longer uses an image, and an error with
// EBUSY if it still does. The device may already have another image.
func detached(device, image string) error {
	d, err := os.Open(device)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // read only
	has, err := unix.IoctlLoopGetStatus64(int(d.Fd()))
	if errors.Is(err, unix.ENXIO) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the status of %s: %w", device, err)
	}
	var ours unix.Stat_t
	if err := unix.Stat(image, &ours); err != nil {
		return err
	}
	if has.Inode == ours.Ino && has.Device == ours.Dev {
		return fmt.Errorf("%s still has its image: %w", device, unix.EBUSY)
	}
	return nil
}
