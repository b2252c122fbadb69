package listener

import (
	"net"
	"sync"

	"dormouse/internal/budget"
)

// Unproved holds the accepted connections that have not proved yet who they are. It is
// bounded. A new connection is always let in: if the bound is reached, the oldest one of
// the caller with the most connections is closed. So connections that send nothing cannot
// keep out those that prove themselves in milliseconds. Its methods may be called
// concurrently.
type Unproved struct {
	max int

	mu    sync.Mutex
	conns []net.Conn // the oldest first; guarded by mu
}

// NewUnproved returns an Unproved that holds up to max connections.
func NewUnproved(max int) *Unproved { return &Unproved{max: max} }

// Add adds c, and returns the connection that must be closed for it, or nil.
func (u *Unproved) Add(c net.Conn) (victim net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.conns) >= u.max {
		i := u.mostOf()
		victim = u.conns[i]
		u.conns = append(u.conns[:i], u.conns[i+1:]...)
	}
	u.conns = append(u.conns, c)
	return victim
}

// mostOf returns the index of the oldest connection of the caller with the most. u.mu is
// held.
func (u *Unproved) mostOf() int {
	first, count := map[string]int{}, map[string]int{}
	most := ""
	for i, c := range u.conns {
		caller := budget.Caller(c.RemoteAddr().String())
		if count[caller]++; count[caller] == 1 {
			first[caller] = i
		}
		if count[caller] > count[most] {
			most = caller
		}
	}
	return first[most]
}

// Remove removes c, if it is there: it has proved who it is, or has ended.
func (u *Unproved) Remove(c net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, other := range u.conns {
		if other == c {
			u.conns = append(u.conns[:i], u.conns[i+1:]...)
			return
		}
	}
}
