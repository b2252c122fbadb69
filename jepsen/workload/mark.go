package workload

import (
	"encoding/json"
	"fmt"

	"dormouse/agent"
)

// mark is what an entry's payload or a checkpoint's state holds: the name of
// the write that made it, which is how readers tell what they see.
type mark struct {
	By string `json:"by"`
}

// writeName is the name of the nth write of a run, which p makes.
func writeName(p *Process, n int64) string { return fmt.Sprintf("%d.%d", p.ID, n) }

func markOf(name string) agent.JSON {
	content, err := json.Marshal(mark{name})
	if err != nil {
		panic(err) // a string
	}
	return content
}

// nameIn is the name of the write that left some content. Where that cannot be
// told it is the content itself: no write is called that, so the judge will
// say so.
func nameIn(content agent.JSON) string {
	var m mark
	if err := json.Unmarshal(content, &m); err != nil || m.By == "" {
		return string(content)
	}
	return m.By
}

// holderName is how a process holds a claim or a lease.
func holderName(process int) string { return fmt.Sprintf("p%d", process) }
