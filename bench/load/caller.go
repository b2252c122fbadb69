package load

import (
	"fmt"
	"math/rand/v2"
)

// caller is one caller. It must be used by one goroutine only.
type caller struct {
	number  int
	agents  []*Thread // written only by this caller; never empty
	random  *rand.Rand
	made    map[int][][]byte // :: size → payloads; shared by all callers, read only
	scratch [][]byte
}

// agentID returns the name of an agent.
func agentID(prefix string, n int) string { return fmt.Sprintf("%s-%08d", prefix, n) }

// newCallers returns callers, each with its share of the agents.
func newCallers(callers, agents int, prefix string) []*caller {
	made := map[int][][]byte{}
	for _, size := range []int{entryBytes, checkpointBytes, turnCheckpointBytes} {
		made[size] = payloads(size)
	}
	list := make([]*caller, callers)
	for i := range list {
		list[i] = &caller{number: i, random: rand.New(rand.NewPCG(2, uint64(i))), made: made}
	}
	for n := range max(agents, callers) {
		c := list[n%callers]
		c.agents = append(c.agents, &Thread{ID: agentID(prefix, n)})
	}
	return list
}

// pick returns one of the caller's agents.
func (c *caller) pick() *Thread { return c.agents[c.random.IntN(len(c.agents))] }

func (c *caller) payload(size int) []byte { return c.made[size][c.random.IntN(payloadsKept)] }

// entries returns n payloads for entries, valid until the next call.
func (c *caller) entries(n int) [][]byte {
	c.scratch = c.scratch[:0]
	for range n {
		c.scratch = append(c.scratch, c.payload(entryBytes))
	}
	return c.scratch
}
