package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// parseCommit reads the body of POST /v1/commits.
func parseCommit(raw []byte) (agent.Commit, error) {
	var body struct {
		Fence *struct {
			Claim string `json:"claim"`
			Epoch uint64 `json:"epoch"`
		} `json:"fence"`
		Ops []jsontext.Value `json:"ops"`
	}
	if err := strict(raw, &body); err != nil {
		return agent.Commit{}, usagef("commit: %w", err)
	}
	if len(body.Ops) == 0 {
		return agent.Commit{}, usagef("commit: there are no ops in it")
	}
	var c agent.Commit
	if body.Fence != nil {
		c.Fence = &agent.Fence{Claim: body.Fence.Claim, Epoch: body.Fence.Epoch}
	}
	for i, raw := range body.Ops {
		op, err := parseOp(raw)
		if err != nil {
			return agent.Commit{}, usagef("commit, op %d: %w", i, err)
		}
		c.Ops = append(c.Ops, op)
	}
	return c, nil
}

// opDoc is one op as callers write it, apart from its name.
type opDoc interface{ op() (agent.Op, error) }

// opNames has a document for each op, but for those that nodes alone commit.
var opNames = map[string]func() opDoc{ // :: name → its members
	"put_value":          func() opDoc { return new(putValueDoc) },
	"delete_value":       func() opDoc { return new(deleteValueDoc) },
	"put_checkpoint":     func() opDoc { return new(putCheckpointDoc) },
	"patch_checkpoint":   func() opDoc { return new(patchCheckpointDoc) },
	"patch_cron":         func() opDoc { return new(patchCronDoc) },
	"delete_checkpoint":  func() opDoc { return new(deleteCheckpointDoc) },
	"append_thread":      func() opDoc { return new(appendThreadDoc) },
	"hibernate_thread":   func() opDoc { return new(hibernateThreadDoc) },
	"delete_thread":      func() opDoc { return new(deleteThreadDoc) },
	"compact_thread":     func() opDoc { return new(compactThreadDoc) },
	"fork_thread":        func() opDoc { return new(forkThreadDoc) },
	"take_claim":         func() opDoc { return new(takeClaimDoc) },
	"renew_claim":        func() opDoc { return new(renewClaimDoc) },
	"release_claim":      func() opDoc { return new(releaseClaimDoc) },
	"put_session":        func() opDoc { return new(putSessionDoc) },
	"claim_session":      func() opDoc { return new(claimSessionDoc) },
	"resume_session":     func() opDoc { return new(resumeSessionDoc) },
	"recover_session":    func() opDoc { return new(recoverSessionDoc) },
	"checkpoint_session": func() opDoc { return new(checkpointSessionDoc) },
	"commit_session":     func() opDoc { return new(commitSessionDoc) },
	"renew_session":      func() opDoc { return new(renewSessionDoc) },
	"cancel_session":     func() opDoc { return new(cancelSessionDoc) },
	"fork_session":       func() opDoc { return new(forkSessionDoc) },
	"delete_session":     func() opDoc { return new(deleteSessionDoc) },
	"decide_review":      func() opDoc { return new(decideReviewDoc) },
	"write_memory":       func() opDoc { return new(writeMemoryDoc) },
	"delete_memory":      func() opDoc { return new(deleteMemoryDoc) },
	"fork_agent":         func() opDoc { return new(forkAgentDoc) },
	"erase_agent":        func() opDoc { return new(eraseAgentDoc) },
	"set_ttl":            func() opDoc { return new(setTTLDoc) },
	"put_scope":          func() opDoc { return new(putScopeDoc) },

	"save_conversation":   func() opDoc { return new(saveConversationDoc) },
	"set_interrupted":     func() opDoc { return new(setInterruptedDoc) },
	"pend_message":        func() opDoc { return new(pendMessageDoc) },
	"save_messages":       func() opDoc { return new(saveMessagesDoc) },
	"update_message":      func() opDoc { return new(updateMessageDoc) },
	"delete_conversation": func() opDoc { return new(deleteConversationDoc) },
	"revise_value":        func() opDoc { return new(reviseValueDoc) },

	"put_manager":    func() opDoc { return new(putManagerDoc) },
	"delete_manager": func() opDoc { return new(deleteManagerDoc) },
	"put_timer":      func() opDoc { return new(putTimerDoc) },
	"delete_timer":   func() opDoc { return new(deleteTimerDoc) },
	"ack_timer":      func() opDoc { return new(ackTimerDoc) },

	"delete_scope": func() opDoc { return new(deleteScopeDoc) },
}

func parseOp(raw []byte) (agent.Op, error) {
	var named opName
	if err := json.Unmarshal(raw, &named); err != nil {
		return nil, err
	}
	document, ok := opNames[named.Op]
	if !ok {
		return nil, usagef("there is no op %q: use one of %s", named.Op, strings.Join(slices.Sorted(maps.Keys(opNames)), ", "))
	}
	into := document()
	if err := strict(raw, into); err != nil {
		return nil, err
	}
	return into.op()
}

// opName is the member that says which op it is.
type opName struct {
	Op string `json:"op"`
}

// guardDoc is the conditions that most ops can have.
type guardDoc struct {
	IfIncarnation uint64 `json:"if_incarnation"`
}

// milliseconds is a duration as documents write it.
type milliseconds uint64

func (m milliseconds) span() time.Duration {
	if m > milliseconds(agent.TTLMax/time.Millisecond) {
		return agent.TTLMax + time.Millisecond // refused at the door, which names the bound
	}
	return time.Duration(m) * time.Millisecond
}

type putValueDoc struct {
	opName
	guardDoc
	Key         string       `json:"key"`
	ContentType string       `json:"content_type"`
	Bytes       []byte       `json:"bytes"` // base64
	TTL         milliseconds `json:"ttl_ms"`
	IfRevision  *uint64      `json:"if_revision"`
	IfBytes     *[]byte      `json:"if_bytes"` // base64
}

func (d *putValueDoc) op() (agent.Op, error) {
	return &agent.PutValue{
		Key: d.Key, ContentType: d.ContentType, Bytes: d.Bytes, TTL: d.TTL.span(),
		IfRevision: d.IfRevision, IfBytes: d.IfBytes, IfIncarnation: d.IfIncarnation,
	}, nil
}

type deleteValueDoc struct {
	opName
	guardDoc
	Key        string       `json:"key"`
	IfRevision *uint64      `json:"if_revision"`
	IfBytes    *[]byte      `json:"if_bytes"`
	Seal       milliseconds `json:"seal_ms"`
}

func (d *deleteValueDoc) op() (agent.Op, error) {
	return &agent.DeleteValue{
		Key: d.Key, IfRevision: d.IfRevision, IfBytes: d.IfBytes, IfIncarnation: d.IfIncarnation, Seal: d.Seal.span(),
	}, nil
}

type putCheckpointDoc struct {
	opName
	guardDoc
	Key        string         `json:"key"`
	Version    uint64         `json:"version"`
	State      jsontext.Value `json:"state"`
	Thread     *pointerDoc    `json:"thread"`
	Lifecycle  string         `json:"lifecycle"`
	Metadata   jsontext.Value `json:"metadata"`
	TTL        milliseconds   `json:"ttl_ms"`
	IfRevision *uint64        `json:"if_revision"`
}

func (d *putCheckpointDoc) op() (agent.Op, error) {
	op := &agent.PutCheckpoint{
		Key: d.Key, Version: d.Version, State: agent.JSON(d.State), Lifecycle: d.Lifecycle, Metadata: agent.JSON(d.Metadata),
		TTL: d.TTL.span(), IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation,
	}
	if d.State == nil {
		return nil, errors.New("put_checkpoint needs a state: a JSON object")
	}
	if p := d.Thread; p != nil {
		op.Thread = &agent.Pointer{Thread: p.ID, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
	}
	return op, nil
}

type patchCheckpointDoc struct {
	opName
	guardDoc
	Key        string         `json:"key"`
	Patch      jsontext.Value `json:"patch"`
	IfRevision *uint64        `json:"if_revision"`
}

func (d *patchCheckpointDoc) op() (agent.Op, error) {
	return &agent.PatchCheckpoint{Key: d.Key, Patch: agent.JSON(d.Patch), IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation}, nil
}

type patchCronDoc struct {
	opName
	guardDoc
	Key        string         `json:"key"`
	Specs      jsontext.Value `json:"specs"`
	IfRevision *uint64        `json:"if_revision"`
}

func (d *patchCronDoc) op() (agent.Op, error) {
	return &agent.PatchCron{Key: d.Key, Specs: agent.JSON(d.Specs), IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation}, nil
}

type deleteCheckpointDoc struct {
	opName
	guardDoc
	Key        string       `json:"key"`
	IfRevision *uint64      `json:"if_revision"`
	Seal       milliseconds `json:"seal_ms"`
}

func (d *deleteCheckpointDoc) op() (agent.Op, error) {
	return &agent.DeleteCheckpoint{Key: d.Key, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: d.Seal.span()}, nil
}

// draftsDoc is one entry or several.
type draftsDoc []draftDoc

// UnmarshalJSONFrom takes an object for an array of one.
func (d *draftsDoc) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	if decoder.PeekKind() != '{' {
		return json.UnmarshalDecode(decoder, (*[]draftDoc)(d))
	}
	*d = make(draftsDoc, 1)
	return json.UnmarshalDecode(decoder, &(*d)[0])
}

func (d draftsDoc) drafts() []agent.Draft {
	out := make([]agent.Draft, len(d))
	for i, document := range d {
		out[i] = document.draft()
	}
	return out
}

type appendThreadDoc struct {
	opName
	guardDoc
	Thread       string         `json:"thread"`
	Entries      draftsDoc      `json:"entries"`
	ExpectedRev  *uint64        `json:"expected_rev"`
	ExpectedHead string         `json:"expected_head"`
	Metadata     jsontext.Value `json:"metadata"`
}

func (d *appendThreadDoc) op() (agent.Op, error) {
	return &agent.AppendThread{
		Thread: d.Thread, Entries: d.Entries.drafts(), ExpectedRev: d.ExpectedRev, ExpectedHead: d.ExpectedHead,
		Metadata: agent.JSON(d.Metadata), IfIncarnation: d.IfIncarnation,
	}, nil
}

type hibernateThreadDoc struct {
	opName
	guardDoc
	Thread   string         `json:"thread"`
	Rev      *uint64        `json:"rev"`
	FromSeq  uint64         `json:"from_seq"`
	Entries  draftsDoc      `json:"entries"`
	Metadata jsontext.Value `json:"metadata"`
}

func (d *hibernateThreadDoc) op() (agent.Op, error) {
	rev := d.FromSeq + uint64(len(d.Entries))
	if d.Rev != nil {
		rev = *d.Rev
	}
	return &agent.HibernateThread{
		Thread: d.Thread, Rev: rev, FromSeq: d.FromSeq, Entries: d.Entries.drafts(),
		Metadata: agent.JSON(d.Metadata), IfIncarnation: d.IfIncarnation,
	}, nil
}

type deleteThreadDoc struct {
	opName
	guardDoc
	Thread string       `json:"thread"`
	Seal   milliseconds `json:"seal_ms"`
}

func (d *deleteThreadDoc) op() (agent.Op, error) {
	return &agent.DeleteThread{Thread: d.Thread, IfIncarnation: d.IfIncarnation, Seal: d.Seal.span()}, nil
}

type compactThreadDoc struct {
	opName
	guardDoc
	Thread    string         `json:"thread"`
	BeforeSeq uint64         `json:"before_seq"`
	Summary   jsontext.Value `json:"summary"`
}

func (d *compactThreadDoc) op() (agent.Op, error) {
	return &agent.CompactThread{Thread: d.Thread, BeforeSeq: d.BeforeSeq, Summary: agent.JSON(d.Summary), IfIncarnation: d.IfIncarnation}, nil
}

type forkThreadDoc struct {
	opName
	guardDoc
	Thread string  `json:"thread"`
	ID     string  `json:"id"`
	AtRev  *uint64 `json:"at_rev"`
}

func (d *forkThreadDoc) op() (agent.Op, error) {
	return &agent.ForkThread{Thread: d.Thread, NewThread: d.ID, AtRev: d.AtRev, IfIncarnation: d.IfIncarnation}, nil
}

type putScopeDoc struct {
	opName
	policyDoc
}

func (d *putScopeDoc) op() (agent.Op, error) {
	return &agent.PutScope{Policy: agent.Policy(d.policyDoc)}, nil
}

type deleteScopeDoc struct{ opName }

func (*deleteScopeDoc) op() (agent.Op, error) { return &agent.DeleteScope{}, nil }

type takeClaimDoc struct {
	opName
	Claim  string       `json:"claim"`
	Holder string       `json:"holder"`
	TTL    milliseconds `json:"ttl_ms"`
}

func (d *takeClaimDoc) op() (agent.Op, error) {
	return &agent.TakeClaim{Claim: d.Claim, Holder: d.Holder, TTL: d.TTL.span()}, nil
}

type renewClaimDoc struct {
	takeClaimDoc
	Epoch uint64 `json:"epoch"`
}

func (d *renewClaimDoc) op() (agent.Op, error) {
	return &agent.RenewClaim{Claim: d.Claim, Holder: d.Holder, Epoch: d.Epoch, TTL: d.TTL.span()}, nil
}

type releaseClaimDoc struct {
	renewClaimDoc
	To string `json:"to"`
}

func (d *releaseClaimDoc) op() (agent.Op, error) {
	return &agent.ReleaseClaim{Claim: d.Claim, Holder: d.Holder, Epoch: d.Epoch, To: d.To, TTL: d.TTL.span()}, nil
}
