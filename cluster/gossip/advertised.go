package gossip

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
)

// lookupMax bounds one lookup of the advertised name.
const lookupMax = 10 * time.Second

// lookup returns the IP addresses of a host name, at least one.
type lookup func(ctx context.Context, host string) ([]net.IP, error)

// lookupIP is the lookup of the machine.
func lookupIP(ctx context.Context, host string) ([]net.IP, error) {
	return net.DefaultResolver.LookupIP(ctx, "ip", host)
}

// advertised is the host name that a node advertises as its gossip address. memberlist advertises an
// IP address, which it never changes: members refuse a live member that moves.
type advertised struct {
	name   string // "" if an IP address was configured, or none
	ip     net.IP // of the name when the node started
	local  bool   // this node listens on loopback only
	lookup lookup
	warned net.IP // of the newest warning
}

// advertise looks host up, which may be an IP address. An IPv4 address is preferred.
func advertise(host, bindHost string, find lookup) (advertised, error) {
	if ip := net.ParseIP(host); ip != nil {
		return advertised{ip: ip}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupMax)
	defer cancel()
	ips, err := find(ctx, host)
	if err != nil {
		return advertised{}, fmt.Errorf("advertised address: %w", err)
	}
	a := advertised{name: host, ip: ips[0], lookup: find}
	if at := slices.IndexFunc(ips, func(ip net.IP) bool { return ip.To4() != nil }); at > 0 {
		a.ip = ips[at]
	}
	bind := net.ParseIP(bindHost)
	a.local = bindHost == "localhost" || bind != nil && bind.IsLoopback()
	return a, nil
}

// check logs a warning if others do not reach this node at the address that it advertises: if the
// machine knows itself by a loopback address, or if the name has another address now. It warns once
// for each address. One goroutine may call it at a time.
func (a *advertised) check(ctx context.Context, log hclog.Logger) {
	if a.name == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupMax)
	defer cancel()
	now, err := a.lookup(ctx, a.name)
	if err != nil {
		log.Debug("could not look up the advertised name", "name", a.name, "error", err)
		return
	}
	moved := !slices.ContainsFunc(now, a.ip.Equal)
	switch {
	case a.warned != nil && slices.ContainsFunc(now, a.warned.Equal):
	case moved:
		log.Warn("the name in gossip.advertise has another address than when this node started: start the node again, so that it advertises the new one", "name", a.name, "was", a.ip, "is", now[0])
		a.warned = now[0]
	case a.ip.IsLoopback() && !a.local:
		log.Warn("the name in gossip.advertise has a loopback address on this machine, at which no other machine reaches this node: set an IP address, or change /etc/hosts", "name", a.name, "address", a.ip)
		a.warned = a.ip
	default:
		a.warned = nil
	}
}
