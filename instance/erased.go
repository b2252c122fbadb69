package instance

import (
	"context"
	"errors"

	"dormouse/agent"
)

// isErased reports whether the store refused a commit because the instance was
// erased after it was read.
func isErased(err error) bool {
	var e *agent.Error
	return errors.As(err, &e) && e.Code == agent.CodeDeleted && e.Reason == agent.ReasonErased
}

// dropErased drops an instance whose agent was erased after it was read, and
// reports whether it did. It interrupts the current call and stores nothing.
// Callers get deleted.
func (h *Host) dropErased(ctx context.Context, ref agent.InstanceRef) (bool, error) {
	i, unlock, err := h.table.lockInstance(ref)
	unlock()
	if i == nil || err != nil {
		return false, err
	}
	answers, err := h.o.Service.Read(ctx, agent.Reads{Scope: ref.Scope, Reads: []agent.Read{&agent.GetErasure{Agent: ref.Checkpoint()}}})
	if err != nil {
		return false, unavailable(ctx, err)
	}
	receipt, ok := answers.Answers[0].Found.(*agent.Erasure)
	if !ok || receipt.Ending == 0 {
		return false, nil
	}
	i, unlock, err = h.table.lockInstance(ref)
	defer unlock()
	if i == nil || err != nil || h.table.serviceOf(i.manager) == h.o.Service && i.stored.since >= receipt.Ending {
		return false, err
	}
	erased := agent.Errorf(agent.CodeDeleted, "%s was erased at index %d: send the signal again to start a new instance", i, receipt.Ending)
	erased.Reason = agent.ReasonErased
	h.table.drop(i, erased)
	return true, nil
}
