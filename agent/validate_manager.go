package agent

import (
	"fmt"
	"net/url"
)

// managerOp judges an op on managers, or the answer to a signal.
func (t *tally) managerOp(op Op) error {
	switch o := op.(type) {
	case *PutManager:
		if err := o.Manager.settle(); err != nil {
			return within(err, "manager")
		}
		t.bytes += len(o.Manager.Name) + o.Manager.Size()
	case *DeleteManager:
		t.bytes += len(o.Name)
		return validManagerName("name", o.Name)
	case *AnswerSignal:
		if err := settle("reply", &o.Reply); err != nil {
			return err
		}
		if len(o.Reply) > SignalReplyBytesMax {
			return TooLarge("reply", "signal_reply_bytes_max", len(o.Reply), SignalReplyBytesMax)
		}
		t.bytes += len(o.Reply)
	}
	return nil
}

// settle judges a manager as its caller writes it, and fills in what its kind,
// version and keeping stand for.
func (m *Manager) settle() error {
	if m.Durability == "" {
		m.Durability = DurabilityTurn
	}
	if m.Storage == "" {
		m.Storage = KeepCluster
	}
	if m.Version == 0 {
		m.Version = 1
	}
	if m.Track && m.Untracked {
		return Invalid("track", "track and untracked exclude each other: set one")
	}
	if err := firstOf(
		validManagerName("name", m.Name),
		m.Handler.validate(),
		m.validLives(),
		m.validSkips(),
		settleSchedules(&m.Schedules),
		m.takesSchedules(),
		settleMetadata(&m.Metadata),
	); err != nil {
		return err
	}
	if m.Metadata == nil {
		m.Metadata = emptyObject
	}
	if size := m.Size(); size > MetadataBytesMax {
		return TooLarge("metadata", "metadata_bytes_max", size, MetadataBytesMax)
	}
	return nil
}

func validManagerName(field, name string) error {
	if len(name) > ManagerNameBytesMax {
		return TooLarge(field, "manager_name_bytes_max", len(name), ManagerNameBytesMax)
	}
	return ValidID(field, name)
}

func (h *Handler) validate() error {
	if err := firstOf(
		validText("handler.name", "id_bytes_max", h.Name, IDBytesMax),
		validText("handler.url", "handler_url_bytes_max", h.URL, HandlerURLBytesMax),
		validText("handler.key", "id_bytes_max", h.Key, IDBytesMax),
	); err != nil {
		return err
	}
	switch h.Kind {
	case HandlerDocument:
		if h.Name != "" || h.URL != "" || h.Key != "" {
			return Invalid("handler", "the document handler is built in: it takes no name, url or key")
		}
	case HandlerGo:
		if h.URL != "" || h.Key != "" {
			return Invalid("handler", "a go handler has no url or key: give the name that the program has registered")
		}
		return ValidID("handler.name", h.Name)
	case HandlerHTTP:
		if h.Name != "" {
			return Invalid("handler.name", "an http handler has no name: give its url")
		}
		return validHandlerURL(h.URL)
	default:
		return Invalid("handler.kind", "handler.kind = %q must be %s, %s or %s", h.Kind, HandlerDocument, HandlerGo, HandlerHTTP)
	}
	return nil
}

// validHandlerURL wants an address without secrets in it: keys are the nodes' to
// keep.
func validHandlerURL(text string) error {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return Invalid("handler.url", "handler.url is no URL: %v", err)
	case address.Scheme != "http" && address.Scheme != "https", address.Host == "":
		return Invalid("handler.url", "handler.url = %q must be http://host/path or https://host/path", text)
	case address.User != nil || address.Fragment != "":
		return Invalid("handler.url", "handler.url must hold neither a user nor a fragment: requests are signed with handler.key")
	}
	return nil
}

// validLives judges how long, how many and how durable.
func (m *Manager) validLives() error {
	switch {
	case m.Durability != DurabilityTurn && m.Durability != DurabilityIdle:
		return Invalid("durability", "durability = %q must be %s or %s", m.Durability, DurabilityTurn, DurabilityIdle)
	case m.Storage != KeepCluster && m.Storage != KeepNone:
		return Invalid("storage", "storage = %q must be %s or %s", m.Storage, KeepCluster, KeepNone)
	case m.MailboxMax < 0 || m.MailboxMax > MailboxMost:
		return Invalid("mailbox_max", "mailbox_max = %d must be from 1 to %d, or 0 for %d", m.MailboxMax, MailboxMost, MailboxDefault)
	case m.AwakeMax < 0 || m.AwakeMax > AwakeMost:
		return Invalid("awake_max", "awake_max = %d must be from 1 to %d, or 0 for no bound of its own", m.AwakeMax, AwakeMost)
	case m.AttachTTL != 0 && (m.AttachTTL < AttachmentTTLMin || m.AttachTTL > AttachmentTTLMax):
		return Invalid("attach_ttl", "attach_ttl = %v must be from %v to %v", m.AttachTTL, AttachmentTTLMin, AttachmentTTLMax)
	}
	return firstOf(validSpan("idle_timeout", m.IdleTimeout, TTLMax), validSpan("signal_ttl", m.SignalTTL, SignalTimeoutMax))
}

func (m *Manager) validSkips() error {
	if len(m.SkipsPersist) > ManagerSkipsMax {
		return TooLarge("skips_persist", "manager_skips_max", len(m.SkipsPersist), ManagerSkipsMax)
	}
	for i, field := range m.SkipsPersist {
		name := fmt.Sprintf("skips_persist[%d]", i)
		if field == "" {
			return Invalid(name, "%s is empty: name a field of the state", name)
		}
		if err := validText(name, "id_bytes_max", field, IDBytesMax); err != nil {
			return err
		}
	}
	return nil
}
