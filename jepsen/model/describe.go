package model

import (
	"fmt"
	"math"
	"strings"
)

func (c Content) String() string {
	if c.Odd != "" {
		return fmt.Sprintf("%q", c.Odd)
	}
	var members []string
	if c.A != 0 {
		members = append(members, fmt.Sprint("a:", c.A))
	}
	if c.B != 0 {
		members = append(members, fmt.Sprint("b:", c.B))
	}
	return "{" + strings.Join(members, " ") + "}"
}

// Members returns the number of members of a content.
func (c Content) Members() int {
	n := 0
	for _, member := range []uint64{c.A, c.B} {
		if member != 0 {
			n++
		}
	}
	return n
}

func (p Position) String() string {
	if p.Version == math.MaxUint64 {
		return fmt.Sprintf("the end of incarnation %d", p.Incarnation)
	}
	return fmt.Sprintf("revision %d of incarnation %d", p.Version, p.Incarnation)
}

func (r Register) String() string {
	switch {
	case r.Any:
		return "not known"
	case !r.Exists:
		return "absent"
	case r.Incarnation == 0:
		return fmt.Sprintf("revision %d %v", r.Revision, r.Content)
	default:
		return fmt.Sprintf("revision %d of incarnation %d %v", r.Revision, r.Incarnation, r.Content)
	}
}

// DescribeRegister returns a call on a register and its answer as text.
func DescribeRegister(call string, in RegisterIn, out *RegisterOut) string {
	given := []string{call}
	if call == RegisterPut || call == RegisterPatch {
		given = append(given, in.Content.String())
	}
	if in.Drop {
		given = append(given, "less b")
	}
	if in.IfRevision != nil {
		given = append(given, fmt.Sprint("if revision ", *in.IfRevision))
	}
	if in.IfContent != nil {
		given = append(given, fmt.Sprint("if ", *in.IfContent))
	}
	if in.IfAbsent {
		given = append(given, "if absent")
	}
	if in.IfIncarnation != 0 {
		given = append(given, fmt.Sprint("if incarnation ", in.IfIncarnation))
	}
	return strings.Join(given, " ") + " → " + out.describe(call)
}

func (o *RegisterOut) describe(call string) string {
	switch {
	case o == nil:
		return "unknown"
	case o.Refused == RefusedRevision:
		return fmt.Sprintf("%s, it is %d", o.Refused, o.Revision)
	case o.Refused == RefusedDeleted:
		return fmt.Sprintf("%s, it is incarnation %d", o.Refused, o.Incarnation)
	case o.Refused != "":
		return o.Refused
	case call == RegisterDelete && o.Untold:
		return "is gone"
	case call == RegisterDelete && !o.Existed:
		return "was absent"
	case call == RegisterDelete:
		return fmt.Sprintf("deleted incarnation %d", o.Incarnation)
	case call == RegisterGet:
		return Register{Exists: true, Incarnation: o.Incarnation, Revision: o.Revision, Content: o.Content}.String()
	default:
		return fmt.Sprintf("revision %d of incarnation %d", o.Revision, o.Incarnation)
	}
}
