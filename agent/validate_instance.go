package agent

import (
	"crypto/sha256"
	"encoding/binary"
)

// Validate judges which instance is meant, and fills in the default scope.
func (r *InstanceRef) Validate() error {
	if r.Scope == "" {
		r.Scope = DefaultScope
	}
	if err := firstOf(
		ValidID("scope", r.Scope),
		validManagerName("manager", r.Manager),
		ValidID("key", r.Key),
	); err != nil {
		return err
	}
	if size := len(r.Checkpoint()); size > IDBytesMax {
		return TooLarge("key", "id_bytes_max", size, IDBytesMax)
	}
	return nil
}

// Validate judges what an instance is to begin with, and compacts it.
func (s *StartInstance) Validate() error {
	if err := settle("initial_state", &s.InitialState); err != nil {
		return err
	}
	if len(s.InitialState) > CheckpointBytesMax {
		return TooLarge("initial_state", "checkpoint_bytes_max", len(s.InitialState), CheckpointBytesMax)
	}
	return nil
}

// Validate judges an attachment.
func (a *Attach) Validate() error {
	if a.Attachment != "" {
		if err := ValidID("attachment", a.Attachment); err != nil {
			return err
		}
	}
	if a.TTL != 0 && (a.TTL < AttachmentTTLMin || a.TTL > AttachmentTTLMax) {
		return Invalid("ttl", "ttl = %v must be from %v to %v", a.TTL, AttachmentTTLMin, AttachmentTTLMax)
	}
	return nil
}

// Validate judges a signal, and compacts its data.
func (s *Signal) Validate() error {
	if s.Type == "" {
		return Invalid("type", "type is missing: say what is asked of the handler")
	}
	if err := firstOf(
		s.Request.validate(),
		validText("type", "kind_bytes_max", s.Type, KindBytesMax),
		settle("data", &s.Data),
	); err != nil {
		return err
	}
	if len(s.Data) > SignalBytesMax {
		return TooLarge("data", "signal_bytes_max", len(s.Data), SignalBytesMax)
	}
	return nil
}

// Hash tells a validated signal to an instance from another under the same
// request: the same words to another instance are another signal, which the
// first one's answer is none to. Where the key orders of equal data differ, so
// do the hashes.
func (s *Signal) Hash(to InstanceRef) uint64 {
	h := sha256.New()
	h.Write([]byte(s.Type))
	h.Write([]byte{0}) // no JSON begins with it
	if s.Data != nil {
		h.Write(s.Data)
	} else {
		h.Write(emptyObject)
	}
	h.Write([]byte{0}) // none holds it either
	h.Write([]byte(to.Checkpoint()))
	return binary.BigEndian.Uint64(h.Sum(nil))
}
