package workload

import (
	"encoding/json"
	"fmt"

	"dormouse/agent"
)

// Mark is what an entry's payload or a checkpoint's state holds: the name of
// the write that made it, which is how readers tell what they see.
type Mark struct {
	By string `json:"by"`
}

// WriteName is the name of the nth write of a run, which p makes.
func WriteName(p *Process, n int64) string { return fmt.Sprintf("%d.%d", p.ID, n) }

// MarkOf returns the content that a write of a name leaves.
func MarkOf(name string) agent.JSON {
	content, err := json.Marshal(Mark{name})
	if err != nil {
		panic(err) // a string
	}
	return content
}

// NameIn is the name of the write that left some content. Where that cannot be
// told it is the content itself: no write is called that, so the judge will
// say so.
func NameIn(content agent.JSON) string {
	var m Mark
	if err := json.Unmarshal(content, &m); err != nil || m.By == "" {
		return string(content)
	}
	return m.By
}

// HolderName is how a process holds a claim or a lease.
func HolderName(process int) string { return fmt.Sprintf("p%d", process) }
