package workload

import (
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// Owners judges the owners that answer for one instance. One epoch has one node, and a
// later answer has no lower epoch.
type Owners struct {
	key      string
	findings *Findings

	epochs []model.Placed       // Tag is the index in asked
	asked  []history.Op         // calls that an owner answered
	first  map[uint64]ownerSeen // :: epoch → the first call that an owner answered under it
}

// ownerSeen is a call that a node answered.
type ownerSeen struct {
	op   history.Op
	node string
}

// NewOwners returns owners of the instance key. Findings go to f.
func NewOwners(key string, f *Findings) *Owners {
	return &Owners{key: key, findings: f, first: map[uint64]ownerSeen{}}
}

// Answer records the node and the epoch that answered a call.
func (o *Owners) Answer(op history.Op, node string, epoch uint64) {
	at := model.Position{Version: epoch}
	o.epochs = append(o.epochs, model.Placed{Span: model.Span{Invoke: op.Invoke, Return: op.Return}, Before: at, After: at, Tag: len(o.asked)})
	o.asked = append(o.asked, op)
	first, known := o.first[epoch]
	if !known {
		o.first[epoch] = ownerSeen{op, node}
		return
	}
	if first.node != node {
		o.findings.Add("two owners of one epoch", o.key, []history.Op{first.op, op}, "call %d was answered by %s and call %d by %s, both under epoch %d",
			first.op.ID, first.node, op.ID, node, epoch)
	}
}

// Judge ends the judgement after all answers were added.
func (o *Owners) Judge() {
	for _, b := range model.GoneBack(o.epochs) {
		earlier, later := o.asked[b.Earlier.Tag], o.asked[b.Later.Tag]
		o.findings.Add("epoch ran backwards", o.key, []history.Op{earlier, later}, "call %d had returned under epoch %d, and call %d, invoked later, was answered under epoch %d",
			earlier.ID, b.Earlier.After.Version, later.ID, b.Later.Before.Version)
	}
}
