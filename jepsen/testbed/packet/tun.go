package packet

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const (
	// mtu is large, because the cost of the switch is per packet, not per byte.
	mtu = 9000
	// txQueue is how many packets a device holds for the switch.
	txQueue = 2000
	device  = "eth0"
)

// openTUN makes the device of the host in the namespace. The device is removed when its
// descriptor is closed. Without a virtual header there are no offloads: packets have real
// checksums, and the size of the link.
func openTUN(ns *Namespace, addr netip.Prefix) (*os.File, error) {
	var file *os.File
	err := ns.Do(func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open /dev/net/tun: %w", err)
		}
		if err := bind(fd); err != nil {
			_ = unix.Close(fd)
			return fmt.Errorf("make a TUN device: %w", err)
		}
		file = os.NewFile(uintptr(fd), "/dev/net/tun")
		if err := configure(addr); err != nil {
			_ = file.Close()
			return fmt.Errorf("configure a TUN device: %w", err)
		}
		return nil
	})
	return file, err
}

func bind(fd int) error {
	request, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	return unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
}

// configure gives the device its address, and brings it and loopback up: a host reaches
// its own address through loopback.
func configure(addr netip.Prefix) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	ip := &net.IPNet{IP: addr.Addr().AsSlice(), Mask: net.CIDRMask(addr.Bits(), addr.Addr().BitLen())}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ip}); err != nil {
		return err
	}
	if err := netlink.LinkSetMTU(link, mtu); err != nil {
		return err
	}
	if err := netlink.LinkSetTxQLen(link, txQueue); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return err
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(loopback)
}
