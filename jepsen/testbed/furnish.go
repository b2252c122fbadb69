package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dormouse/jepsen/testbed/clock"
	"dormouse/jepsen/testbed/disk"
	"dormouse/jepsen/testbed/packet"
)

// survey determines which requested capabilities this machine has, except for the
// network: it must be created to know.
func (b *Bed) survey() {
	if b.options.Disk&Faulty != 0 {
		b.grant(CanDisk, disk.CanFault(), "disks do not fail, fill up or hang")
	}
	if b.options.Disk&Powered != 0 {
		b.grant(CanPower, disk.CanCutPower(), "power is not cut")
	}
	b.can[CanMix] = b.options.Previous != ""
	b.can[CanLimit], b.can[CanBackup] = true, b.options.Backups
	if b.options.Confine {
		b.grant(CanConfine, CanConfineMemory(), "no control group bounds memory")
	}
	if b.options.Clock {
		var err error
		if b.options.Binary == "" { // otherwise checkClock decides
			err = clock.CanBuild()
		}
		b.grant(CanClock, err, "clocks stay right")
	}
}

// checkClock checks whether the given binary reads the clock of its host.
func (b *Bed) checkClock(h *Host) {
	if b.can[CanClock] && h.clock.Reader() != h.PID() {
		b.grant(CanClock, fmt.Errorf("%s was built without the clock overlay", b.binary), "clocks stay right")
	}
}

// grant records a capability, or why it is missing and what happens instead.
func (b *Bed) grant(c Capability, err error, instead string) {
	b.can[c] = err == nil
	if err != nil {
		line := fmt.Sprintf("%s: %v: %s", c, err, instead)
		b.missing = append(b.missing, line)
		b.options.Logf("%s", line)
	}
}

// furnish creates the resources that the hosts share.
func (b *Bed) furnish() (err error) {
	if b.base, err = freePorts(); err != nil {
		return err
	}
	if b.options.Net {
		b.net, err = openNet()
		if err != nil {
			err = fmt.Errorf("network faults need root and /dev/net/tun (%w)", err)
		}
		b.grant(CanPartition, err, "the nodes share loopback, which is not cut, slowed or garbled")
	}
	return nil
}

// newHost creates host number n.
func (b *Bed) newHost(ctx context.Context, n int, program []string) (_ *Host, err error) {
	name := b.hostName(program)
	h := &Host{bed: b, name: name, node: name, program: program, dir: filepath.Join(b.options.Dir, name)}
	h.old = b.options.Previous != "" && program == nil && n%2 == 1
	defer func() {
		if err != nil {
			err = errors.Join(err, h.dismantle())
		}
	}()
	if b.net != nil {
		h.place = place{hostAddr(n), portBase}
		h.space, err = b.net.attach(name, h.place.ip)
	} else {
		h.place = place{loopback, b.base + (n-1)*portStride}
		h.space, err = packet.Home()
	}
	if err != nil {
		return nil, err
	}
	h.web = observer(h.space, b.TLS())
	if program == nil {
		err = h.equip(ctx)
	}
	return h, err
}

// equip gives the host the disk and the clock of a node.
func (h *Host) equip(ctx context.Context) (err error) {
	b := h.bed
	h.data = filepath.Join(h.dir, "data")
	if err := os.MkdirAll(h.data, 0o755); err != nil {
		return err
	}
	if b.can[CanDisk] || b.can[CanPower] {
		h.disk, err = disk.Open(ctx, disk.Options{Dir: h.dir, Faulty: b.can[CanDisk], Powered: b.can[CanPower]})
		if err != nil {
			return err
		}
		h.data = h.disk.Dir()
	}
	if b.can[CanClock] {
		if h.clock, err = clock.Open(filepath.Join(h.dir, "clock")); err != nil {
			return err
		}
	}
	return nil
}

// dismantle removes a host's resources. Its process has been killed.
func (h *Host) dismantle() error {
	_, confined := Unconfine(h)
	errs := []error{confined}
	if h.disk != nil {
		errs = append(errs, h.disk.Close())
	}
	if h.clock != nil {
		errs = append(errs, h.clock.Close())
	}
	if h.space != nil {
		h.space.Close()
	}
	return errors.Join(errs...)
}
