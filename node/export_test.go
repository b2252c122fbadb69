package node

// OnStep calls step before each step of the recovery. If it returns an error, the recovery ends there, as
// in a crash.
func (r *Recovery) OnStep(step func(name string) error) { r.step = step }
