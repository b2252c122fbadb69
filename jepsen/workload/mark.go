package workload

import (
	"encoding/json"
	"fmt"

	"dormouse/agent"
)

// Mark is the content of an entry's payload or a checkpoint's state: the name of the
// write that made it, which readers see.
type Mark struct {
	By string `json:"by"`
}

// WriteName returns the name of the nth write of process p.
func WriteName(p *Process, n int64) string { return fmt.Sprintf("%d.%d", p.ID, n) }

// MarkOf returns the content of a write with a name.
func MarkOf(name string) agent.JSON {
	content, err := json.Marshal(Mark{name})
	if err != nil {
		panic(err) // a string
	}
	return content
}

// NameIn returns the name of the write that made some content. If the content has no
// name NameIn returns the content itself: no write has that name, so the checker
// reports it.
func NameIn(content agent.JSON) string {
	var m Mark
	if err := json.Unmarshal(content, &m); err != nil || m.By == "" {
		return string(content)
	}
	return m.By
}

// HolderName returns the name under which a process holds a claim or a lease.
func HolderName(process int) string { return fmt.Sprintf("p%d", process) }
