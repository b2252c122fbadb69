package instance

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
)

// attachmentsMax bounds those of one instance.
const attachmentsMax = 1024

// attachment is somebody's wish that the instance stay awake.
type attachment struct {
	name  string
	ttl   time.Duration
	until time.Duration // the host's time at which it lapses
}

// attach adds an attachment, or arms one anew. mu is held.
func (h *Host) attach(i *instance, a agent.Attach) (agent.Attached, error) {
	a.Name(rand.Text())
	if a.TTL == 0 {
		a.TTL = i.manager.config.AttachmentTTL()
	}
	h.expireAttachmentsNow(i)
	made := attachment{name: a.Attachment, ttl: a.TTL, until: h.now() + a.TTL}
	switch at := i.attachmentIndex(a.Attachment); {
	case at >= 0:
		i.attachments[at] = made
	case len(i.attachments) >= attachmentsMax:
		e := agent.Errorf(agent.CodeOverloaded, "%d are attached to the instance already", attachmentsMax)
		e.Limit = fmt.Sprintf("attachments_max=%d", attachmentsMax)
		return agent.Attached{}, e
	default:
		i.attachments = append(i.attachments, made)
	}
	h.recount(i, "")
	i.manager.idle.remove(i)
	h.markUsed(i)
	return agent.Attached{
		Instance: h.describe(i), Attachment: made.name, ExpiresAt: time.Now().Add(a.TTL).UnixMilli(),
	}, nil
}

// attachmentIndex is the place of an attachment; -1 where there is none of that name.
func (i *instance) attachmentIndex(name string) int {
	return slices.IndexFunc(i.attachments, func(a attachment) bool { return a.name == name })
}

// expireAttachments ends the attachments whose time has come. The last of them begins the
// idle timeout, from when it ended. mu is held.
func (i *instance) expireAttachments(now time.Duration) {
	last := time.Duration(0)
	i.attachments = slices.DeleteFunc(i.attachments, func(a attachment) bool {
		if a.until <= now {
			last = max(last, a.until)
			return true
		}
		return false
	})
	if len(i.attachments) == 0 {
		i.attachments = nil
		i.usedAt = max(i.usedAt, last)
	}
}

func (h *Host) expireAttachmentsNow(i *instance) {
	i.expireAttachments(h.now())
	h.recount(i, "")
}

// detach ends an attachment, if it is there. mu is held.
func (h *Host) detach(i *instance, name string) {
	if at := i.attachmentIndex(name); at >= 0 {
		i.attachments = slices.Delete(i.attachments, at, at+1)
		if len(i.attachments) == 0 {
			i.attachments = nil
		}
		h.recount(i, "")
		h.markUsed(i)
		h.markIdle(i)
	}
}

// touch arms an attachment anew; one that has lapsed is not_found. mu is held.
func (h *Host) touch(i *instance, name string) error {
	h.expireAttachmentsNow(i)
	if name != "" {
		at := i.attachmentIndex(name)
		if at < 0 {
			return agent.Errorf(agent.CodeNotFound, "nobody is attached under %q any more: attach again", name)
		}
		i.attachments[at].until = h.now() + i.attachments[at].ttl
	}
	if i.idle.listed { // the newest again
		i.manager.idle.remove(i)
		i.manager.idle.add(i)
	}
	h.markUsed(i)
	return nil
}
