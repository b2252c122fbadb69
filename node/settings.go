package node

import (
	"strconv"

	"dormouse/api/document"
	"dormouse/internal/memory"
)

// settings returns what tells this node's settings: of those that follow from the machine, what is in
// force.
func settings(n *Node) func() []document.Setting {
	return func() []document.Setting {
		all := n.o.Config.Settings()
		out := make([]document.Setting, len(all))
		for i, s := range all {
			out[i] = document.Setting(s)
			if found := derived(n.memory, s.Name); found != "" && s.Value == s.Default {
				out[i].Value, out[i].Default = found, found
			}
		}
		return out
	}
}

// derived returns the value of a setting that is derived from the machine unless it is set; "" for
// other settings.
func derived(p memory.Plan, name string) string {
	switch name {
	case "storage.memory":
		return p.String()
	case "storage.cache_bytes":
		return strconv.FormatInt(p.Engine, 10)
	default:
		return ""
	}
}
