package instance

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
)

// attachmentsMax is the maximum number of attachments of one instance.
const attachmentsMax = 1024

// attachment is a client's request to keep the instance awake.
type attachment struct {
	name  string
	ttl   time.Duration
	until time.Duration // the host's time at which it expires
}

// attach adds an attachment, or renews the existing one of that name. The
// caller holds mu.
func (tb *table) attach(i *instance, a agent.Attach) (agent.Attached, error) {
	a.Name(rand.Text())
	if a.TTL == 0 {
		a.TTL = i.manager.config.AttachmentTTL()
	}
	tb.expireAttachmentsNow(i)
	added := attachment{name: a.Attachment, ttl: a.TTL, until: tb.now() + a.TTL}
	switch at := i.attachmentIndex(a.Attachment); {
	case at >= 0:
		i.attachments[at] = added
	case len(i.attachments) >= attachmentsMax:
		e := agent.Errorf(agent.CodeOverloaded, "the instance has %d attachments, which is the maximum", attachmentsMax)
		e.Limit = fmt.Sprintf("attachments_max=%d", attachmentsMax)
		return agent.Attached{}, e
	default:
		i.attachments = append(i.attachments, added)
	}
	tb.recount(i, "")
	i.manager.idle.remove(i)
	tb.markUsed(i)
	return agent.Attached{
		Instance: tb.describe(i), Attachment: added.name, ExpiresAt: time.Now().Add(a.TTL).UnixMilli(),
	}, nil
}

// attachmentIndex returns the index of the attachment of that name, or -1.
func (i *instance) attachmentIndex(name string) int {
	return slices.IndexFunc(i.attachments, func(a attachment) bool { return a.name == name })
}

// expireAttachments removes the attachments whose ttl has ended. The idle
// timeout starts at the end of the last attachment. The caller holds mu.
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

func (tb *table) expireAttachmentsNow(i *instance) {
	i.expireAttachments(tb.now())
	tb.recount(i, "")
}

// detach removes an attachment, if it exists. The caller holds mu.
func (tb *table) detach(i *instance, name string) {
	if at := i.attachmentIndex(name); at >= 0 {
		i.attachments = slices.Delete(i.attachments, at, at+1)
		if len(i.attachments) == 0 {
			i.attachments = nil
		}
		tb.recount(i, "")
		tb.markUsed(i)
		tb.markIdle(i)
	}
}

// touch restarts the instance's idle timeout, and renews the attachment if name
// is not empty. An attachment that has expired is not_found. The caller holds
// mu.
func (tb *table) touch(i *instance, name string) error {
	tb.expireAttachmentsNow(i)
	if name != "" {
		at := i.attachmentIndex(name)
		if at < 0 {
			return agent.Errorf(agent.CodeNotFound, "attachment %q does not exist or has expired: attach again", name)
		}
		i.attachments[at].until = tb.now() + i.attachments[at].ttl
	}
	if i.idle.listed { // move it to the new end
		i.manager.idle.remove(i)
		i.manager.idle.add(i)
	}
	tb.markUsed(i)
	return nil
}
