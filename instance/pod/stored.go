package pod

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// storedPod is what is stored of a pod: its manager, and its slot or nil.
type storedPod struct {
	manager *agent.Manager
	slot    *Slot
}

// checkExists refuses what is no pod.
func (p Pods) checkExists(ctx context.Context, ref *agent.InstanceRef) error {
	found, err := p.read(ctx, ref)
	if err == nil && found.slot == nil {
		err = errNoPod(*ref)
	}
	return err
}

func errNoPod(ref agent.InstanceRef) error {
	return agent.Errorf(agent.CodeNotFound, "there is no pod %q of manager %q: get it first", ref.Key, ref.Manager)
}

// read reads what is stored of a pod. A manager that keeps no pods is invalid.
func (p Pods) read(ctx context.Context, ref *agent.InstanceRef) (storedPod, error) {
	if ref.Scope == "" {
		ref.Scope = p.Scope
	}
	if err := ref.Validate(); err != nil {
		return storedPod{}, err
	}
	answers, err := p.Service.Read(ctx, agent.Reads{Scope: ref.Scope, Reads: []agent.Read{
		&agent.GetManager{Name: ref.Manager}, &agent.GetCheckpoint{Key: ref.Checkpoint()},
	}})
	if err != nil {
		return storedPod{}, err
	}
	manager, err := ManagerOf(ref.Manager, answers.Answers[0])
	if err != nil {
		return storedPod{}, err
	}
	out := storedPod{manager: manager}
	if c, ok := answers.Answers[1].Found.(*agent.Checkpoint); ok {
		slot, ok, err := ReadSlot(c.State)
		if err != nil {
			return storedPod{}, err
		}
		if ok {
			out.slot = &slot
		}
	} else if e := answers.Answers[1].Err; e != nil && e.Code != agent.CodeNotFound {
		return storedPod{}, e
	}
	return out, nil
}

func (f storedPod) topology(open Open) (Topology, error) { return TopologyOf(*f.manager, open) }

// ManagerOf is the manager that was read under a name, which must keep pods.
func ManagerOf(name string, a agent.Answer) (*agent.Manager, error) {
	manager, ok := a.Found.(*agent.Manager)
	switch {
	case !ok && a.Err != nil && a.Err.Code != agent.CodeNotFound:
		return nil, a.Err
	case !ok:
		return nil, agent.Errorf(agent.CodeNotFound, "there is no manager %q: put it first, with the handler go %q", name, HandlerName)
	case manager.Handler.Kind != agent.HandlerGo || manager.Handler.Name != HandlerName:
		return nil, agent.Invalid("manager", "manager %q keeps no pods: its handler must be go %q", name, HandlerName)
	case manager.Storage == agent.KeepNone:
		return nil, agent.Invalid("manager", "manager %q stores nothing: pods must be stored", name)
	}
	return manager, nil
}

// TopologyOf is what a new pod of a manager consists of: what is asked for, or
// what the manager's metadata says.
func TopologyOf(manager agent.Manager, open Open) (Topology, error) {
	raw := agent.JSON(open.Topology)
	if raw == nil {
		var metadata struct {
			Topology jsontext.Value `json:"topology"`
		}
		if len(manager.Metadata) > 0 {
			if err := json.Unmarshal(manager.Metadata, &metadata); err != nil {
				return Topology{}, agent.Invalid("topology", "the metadata of manager %q: %v", manager.Name, err)
			}
		}
		if raw = agent.JSON(metadata.Topology); raw == nil {
			return Topology{}, agent.Invalid("topology", "there is no such pod yet, and neither the call nor the metadata of manager %q has a topology", manager.Name)
		}
	}
	t, err := Parse(raw)
	if err != nil {
		return Topology{}, err
	}
	_, err = t.Waves(t.names())
	return t, err
}
