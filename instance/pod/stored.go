package pod

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// storedPod is a pod's manager, and its stored slot or nil.
type storedPod struct {
	manager *agent.Manager
	slot    *Slot
}

// checkExists returns not_found if the pod does not exist.
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

// read reads a pod's manager and slot. A manager of other instances is invalid.
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

// ManagerOf returns the manager from a read of this name. It must be a manager
// of pods.
func ManagerOf(name string, a agent.Answer) (*agent.Manager, error) {
	manager, ok := a.Found.(*agent.Manager)
	switch {
	case !ok && a.Err != nil && a.Err.Code != agent.CodeNotFound:
		return nil, a.Err
	case !ok:
		return nil, agent.Errorf(agent.CodeNotFound, "there is no manager %q: put it first, with the handler go %q", name, HandlerName)
	case manager.Handler.Kind != agent.HandlerGo || manager.Handler.Name != HandlerName:
		return nil, agent.Invalid("manager", "manager %q is not a manager of pods: its handler must be go %q", name, HandlerName)
	case manager.Storage == agent.KeepNone:
		return nil, agent.Invalid("manager", "manager %q stores nothing, but pods must be stored", name)
	}
	return manager, nil
}

// TopologyOf returns the topology of a new pod: that of the call, or else that
// of the manager's metadata.
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
			return Topology{}, agent.Invalid("topology", "the pod does not exist yet, and neither the call nor the metadata of manager %q has a topology", manager.Name)
		}
	}
	t, err := Parse(raw)
	if err != nil {
		return Topology{}, err
	}
	_, err = t.Waves(t.names())
	return t, err
}
