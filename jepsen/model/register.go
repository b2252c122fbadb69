package model

// The calls on a register.
const (
	RegisterGet    = "get"
	RegisterPut    = "put"
	RegisterPatch  = "patch"
	RegisterDelete = "delete"
)

// The ways in which a register refuses, as the contract names them.
const (
	RefusedNotFound = "not_found"
	RefusedRevision = "revision_mismatch"
	RefusedDeleted  = "deleted"
)

// Content is what a register holds: two members, each a number that is written
// once in a run; 0 is a member that is not there.
type Content struct {
	A   uint64 `json:"a,omitempty"`
	B   uint64 `json:"b,omitempty"`
	Odd string `json:"odd,omitempty"` // what was read, where nobody can have written it
}

// RegisterIn is what a call on a register is given.
type RegisterIn struct {
	Content       Content  `json:"content,omitzero"`         // put: all of it; patch: the members to set
	Drop          bool     `json:"drop,omitempty"`           // patch: member B goes
	IfRevision    *uint64  `json:"if_revision,omitempty"`    // 0: only if there is none
	IfContent     *Content `json:"if_content,omitempty"`     // only where it holds just this
	IfAbsent      bool     `json:"if_absent,omitempty"`      // only if there is none, as an empty IfContent
	IfIncarnation uint64   `json:"if_incarnation,omitempty"` // only in this incarnation; 0 is any
}

// RegisterOut is what a call on a register answers.
type RegisterOut struct {
	Refused     string  `json:"refused,omitempty"`
	Existed     bool    `json:"existed,omitempty"` // delete
	Incarnation uint64  `json:"incarnation,omitempty"`
	Revision    uint64  `json:"revision,omitempty"`
	Content     Content `json:"content,omitzero"` // get
}

// Register is a checkpoint or a value, whole, as the documents have it:
// revision counts the writes to a key in its incarnation, from 1; incarnation
// grows when the key is created again, by how much is nobody's business.
//
// The zero Register was never written.
type Register struct {
	Any         bool // nothing is known of it: it is what the first answer that tells all says
	Exists      bool
	Incarnation uint64 // 0 where it exists and no answer has told
	Above       uint64 // what is created is above this incarnation, and so is one that is not told
	Revision    uint64
	Content     Content
}

// Apply makes a call on r. It tells what r becomes, and whether out can be the
// answer. Where out is nil, the outcome is unknown: the call takes effect
// wherever it can.
func (r Register) Apply(call string, in RegisterIn, out *RegisterOut) (Register, bool) {
	switch {
	case r.Any:
		return r.settle(call, in, out)
	case call == RegisterGet:
		return r.get(out)
	case out != nil && out.Refused != "":
		return r.refuse(call, in, out)
	case out == nil && !r.allows(call, in):
		return r, true
	case !r.allows(call, in):
		return r, false
	}
	if r.Exists && in.IfIncarnation != 0 {
		r.Incarnation = in.IfIncarnation
	}
	switch call {
	case RegisterDelete:
		return r.delete(out)
	case RegisterPatch:
		return r.write(r.Content.merge(in), out)
	default:
		return r.write(in.Content, out)
	}
}

// settle is what becomes of a register that may be anything.
func (r Register) settle(call string, in RegisterIn, out *RegisterOut) (Register, bool) {
	if told, ok := Told(call, in, out); ok {
		return told, true
	}
	return r, true
}

// Told is what a register is right after a call, where its answer tells all.
func Told(call string, in RegisterIn, out *RegisterOut) (Register, bool) {
	switch {
	case out == nil:
		return Register{}, false
	case call == RegisterGet && out.Refused == RefusedNotFound, call == RegisterDelete && out.Refused == "":
		return Register{Above: out.Incarnation}, true
	case out.Refused != "":
		return Register{}, false
	case call == RegisterGet:
		return Register{Exists: true, Incarnation: out.Incarnation, Revision: out.Revision, Content: out.Content}, true
	case call == RegisterPut:
		return Register{Exists: true, Incarnation: out.Incarnation, Revision: out.Revision, Content: in.Content}, true
	default:
		return Register{}, false
	}
}

// allows reports whether r meets a call's conditions. To delete what is not
// there is fine, whatever they are.
func (r Register) allows(call string, in RegisterIn) bool {
	switch {
	case !r.Exists && call == RegisterDelete:
		return true
	case !r.Exists && call == RegisterPatch:
		return false
	default:
		return r.atRevision(in) && r.holds(in) && r.inIncarnation(in)
	}
}

func (r Register) atRevision(in RegisterIn) bool {
	return in.IfRevision == nil || *in.IfRevision == r.Revision
}

func (r Register) holds(in RegisterIn) bool {
	return (!in.IfAbsent || !r.Exists) && (in.IfContent == nil || r.Exists && *in.IfContent == r.Content)
}

// inIncarnation reports whether a call may mean the incarnation that is there.
func (r Register) inIncarnation(in RegisterIn) bool {
	return in.IfIncarnation == 0 || r.Exists && r.is(in.IfIncarnation)
}

// is reports whether incarnation may be r's own.
func (r Register) is(incarnation uint64) bool {
	if r.Incarnation == 0 {
		return incarnation > r.Above
	}
	return incarnation == r.Incarnation
}

func (r Register) get(out *RegisterOut) (Register, bool) {
	switch {
	case out == nil:
		return r, true
	case !r.Exists:
		return r, out.Refused == RefusedNotFound
	case out.Refused != "" || out.Revision != r.Revision || out.Content != r.Content || !r.is(out.Incarnation):
		return r, false
	}
	r.Incarnation = out.Incarnation
	return r, true
}

func (r Register) write(content Content, out *RegisterOut) (Register, bool) {
	r.Exists = true
	r.Revision++
	r.Content = content
	if out == nil {
		return r, true
	}
	if out.Revision != r.Revision || !r.is(out.Incarnation) {
		return r, false
	}
	r.Incarnation = out.Incarnation
	return r, true
}

func (r Register) delete(out *RegisterOut) (Register, bool) {
	if out != nil && (out.Existed != r.Exists || out.Existed && !r.is(out.Incarnation)) {
		return r, false
	}
	if !r.Exists {
		return r, true
	}
	gone := r.Incarnation
	switch {
	case out != nil:
		gone = out.Incarnation
	case gone == 0:
		gone = r.Above + 1 // at least
	}
	return Register{Above: gone}, true
}

// refuse reports whether a refusal can be r's. Where several conditions fail,
// the documents do not say which is told.
func (r Register) refuse(call string, in RegisterIn, out *RegisterOut) (Register, bool) {
	switch out.Refused {
	case RefusedNotFound:
		return r, call == RegisterPatch && !r.Exists
	case RefusedRevision:
		return r, (!r.atRevision(in) || !r.holds(in)) && out.Revision == r.Revision
	case RefusedDeleted:
		return r.refuseDeleted(in, out)
	default:
		return r, false
	}
}

// refuseDeleted judges the refusal of a late write. It tells the incarnation
// that is there, or the one that was deleted.
func (r Register) refuseDeleted(in RegisterIn, out *RegisterOut) (Register, bool) {
	switch {
	case in.IfIncarnation == 0:
		return r, false
	case !r.Exists:
		return r, true
	case out.Incarnation == in.IfIncarnation || !r.is(out.Incarnation):
		return r, false
	}
	r.Incarnation = out.Incarnation
	return r, true
}

// merge is a patch: the members that it names change, the others stay.
func (c Content) merge(in RegisterIn) Content {
	if in.Content.A != 0 {
		c.A = in.Content.A
	}
	if in.Content.B != 0 {
		c.B = in.Content.B
	}
	if in.Drop {
		c.B = 0
	}
	return c
}
