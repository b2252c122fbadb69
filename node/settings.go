package node

import "dormouse/api/document"

// settings returns what tells this node's settings.
func settings(n *Node) func() []document.Setting {
	return func() []document.Setting {
		all := n.o.Config.Settings()
		out := make([]document.Setting, len(all))
		for i, s := range all {
			out[i] = document.Setting(s)
		}
		return out
	}
}
