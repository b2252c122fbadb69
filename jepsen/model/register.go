package model

// The calls on a register.
const (
	RegisterGet    = "get"
	RegisterPut    = "put"
	RegisterPatch  = "patch"
	RegisterDelete = "delete"
)

// The refusals of a register, by their error codes in the API.
const (
	RefusedNotFound = "not_found"
	RefusedRevision = "revision_mismatch"
	RefusedDeleted  = "deleted"
)

// Content is the content of a register: two members, each a number that is written
// once in a run. 0 means that the member is missing.
type Content struct {
	A   uint64 `json:"a,omitempty"`
	B   uint64 `json:"b,omitempty"`
	Odd string `json:"odd,omitempty"` // content that no call of the run wrote
}

// RegisterIn is the input of a call on a register.
type RegisterIn struct {
	Content       Content  `json:"content,omitzero"`         // put: the whole content; patch: the members to set
	Drop          bool     `json:"drop,omitempty"`           // patch: remove member B
	IfRevision    *uint64  `json:"if_revision,omitempty"`    // required revision; 0: the register must not exist
	IfContent     *Content `json:"if_content,omitempty"`     // required content
	IfAbsent      bool     `json:"if_absent,omitempty"`      // the register must not exist, as with an empty IfContent
	IfIncarnation uint64   `json:"if_incarnation,omitempty"` // required incarnation; 0 is any
}

// RegisterOut is the answer of a call on a register.
type RegisterOut struct {
	Refused     string  `json:"refused,omitempty"`
	Existed     bool    `json:"existed,omitempty"` // delete
	Untold      bool    `json:"untold,omitempty"`  // delete: the answer does not say whether the register existed
	Incarnation uint64  `json:"incarnation,omitempty"`
	Revision    uint64  `json:"revision,omitempty"`
	Content     Content `json:"content,omitzero"` // get
}

// Register is a whole checkpoint or value, as the documents specify it. Revision
// counts the writes to a key in its incarnation, from 1. Incarnation grows when the
// key is created again, by an unspecified amount.
//
// The zero Register was never written.
type Register struct {
	Any         bool // nothing is known: the register gets the state of the first answer that reveals it
	Exists      bool
	Incarnation uint64 // 0 if it exists and no answer has shown the incarnation
	Above       uint64 // lower bound: the next incarnation, and an unknown current one, are larger
	Revision    uint64
	Content     Content
}

// Apply returns the register after a call, and whether out is a possible answer. If
// out is nil the outcome is unknown, and the call takes effect if its conditions hold.
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

// settle returns the state of a register with Any after a call.
func (r Register) settle(call string, in RegisterIn, out *RegisterOut) (Register, bool) {
	if told, ok := Told(call, in, out); ok {
		return told, true
	}
	return r, true
}

// Told returns the register after a call if the answer reveals its whole state.
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

// allows reports whether r meets a call's conditions. Deleting a missing register is
// always allowed.
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

// inIncarnation reports whether the call's incarnation may be the current one.
func (r Register) inIncarnation(in RegisterIn) bool {
	return in.IfIncarnation == 0 || r.Exists && r.is(in.IfIncarnation)
}

// is reports whether incarnation may be the current one.
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
	told := out != nil && !out.Untold
	if told && (out.Existed != r.Exists || out.Existed && !r.is(out.Incarnation)) {
		return r, false
	}
	if !r.Exists {
		return r, true
	}
	gone := r.Incarnation
	switch {
	case told:
		gone = out.Incarnation
	case gone == 0:
		gone = r.Above + 1 // lower bound
	}
	return Register{Above: gone}, true
}

// refuse reports whether r can refuse the call in this way. If several conditions
// fail, the documents do not specify which one the error names.
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

// refuseDeleted judges the refusal of a late write. The error names the current
// incarnation, or the deleted one.
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

// merge returns c after a patch: the members of the patch change, the others stay.
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
