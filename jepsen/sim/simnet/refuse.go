package simnet

// Refuse makes one host refuse the connections of another one, as a firewall with a rule to reject
// does, or ends that. It resets the open connections that from has made: what is on them is lost.
func (n *Network) Refuse(from, to string, refuses bool) {
	n.mu.Lock()
	n.refused[pair{from, to}] = refuses
	var reset []*conn
	for _, c := range n.conns {
		if refuses && c.made == (pair{from, to}) {
			reset = append(reset, c)
		}
	}
	n.mu.Unlock()
	n.trace.Note("refuse", from+">"+to, flag(refuses))
	for _, c := range reset {
		c.Reset()
	}
}
