package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/proposer"
)

// timedMachine measures how long the state machine takes for each entry.
type timedMachine struct {
	StateMachine
	metrics *proposer.Metrics
}

// Apply implements raft.FSM.
func (m timedMachine) Apply(entry *raft.Log) any {
	began := time.Now()
	decided := m.StateMachine.Apply(entry)
	m.metrics.Applied(time.Since(began))
	return decided
}
