package node

import (
	"net"
	"net/http"

	"dormouse/ui"
)

// console returns the handler of the console's pages; nil if the node serves none.
func console(n *Node) http.Handler {
	if !n.o.Config.HTTP.Console {
		return nil
	}
	return ui.Handler(func() []string { return peerOrigins(n) })
}

// pagePeers returns the function that names the nodes whose pages may call this one; nil if there are
// none.
func pagePeers(n *Node) func() []string {
	if !n.o.Config.HTTP.Console {
		return nil
	}
	return func() []string { return peerOrigins(n) }
}

// peerOrigins returns the origins at which browsers reach the other members. It assumes that all nodes
// use TLS if this one does.
func peerOrigins(n *Node) []string {
	scheme := "http://"
	if l := n.o.Config.HTTP.Listen(); l.TLS() || n.o.Config.Issued(l) {
		scheme = "https://"
	}
	var origins []string
	for _, m := range n.machine.Members() {
		if m.ID == n.o.Config.Node.ID || m.Host {
			continue
		}
		if _, _, err := net.SplitHostPort(m.HTTPAddr); err == nil {
			origins = append(origins, scheme+m.HTTPAddr)
		}
	}
	return origins
}
