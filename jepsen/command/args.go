package command

import (
	"strconv"
	"time"

	"dormouse/agent"
)

// arguments are the arguments of a command of dormctl.
type arguments []string

// text adds a flag unless its value is empty.
func (a *arguments) text(name, value string) {
	if value != "" {
		*a = append(*a, "--"+name, value)
	}
}

// number adds a flag if there is a value.
func (a *arguments) number(name string, value *uint64) {
	if value != nil {
		*a = append(*a, "--"+name, strconv.FormatUint(*value, 10))
	}
}

// count adds a flag unless its value is 0.
func (a *arguments) count(name string, value uint64) {
	if value != 0 {
		a.number(name, &value)
	}
}

// conditions adds the flags of the revision and the incarnation that a write builds on.
func (a *arguments) conditions(revision *uint64, incarnation uint64) {
	a.number("if-revision", revision)
	a.count("if-incarnation", incarnation)
}

// span adds a flag unless its value is 0.
func (a *arguments) span(name string, value time.Duration) {
	if value != 0 {
		*a = append(*a, "--"+name, value.String())
	}
}

// truth adds a flag if it is set.
func (a *arguments) truth(name string, value bool) {
	if value {
		*a = append(*a, "--"+name)
	}
}

// removal returns the command that removes a thing, with its conditions.
func removal(a arguments, revision *uint64, incarnation uint64, seal time.Duration) arguments {
	a.conditions(revision, incarnation)
	a.span("seal", seal)
	return a
}

// argsOf returns the command for one op; nil if dormctl has none that takes all of it. The input of an append is the
// array of its entries, and that of a put the value or the state.
func argsOf(op agent.Op) arguments {
	switch op := op.(type) {
	case *agent.PutValue:
		if op.IfBytes != nil || op.Metadata != nil {
			return nil
		}
		a := arguments{"values", "put", op.Key, "-"}
		a.conditions(op.IfRevision, op.IfIncarnation)
		a.span("ttl", op.TTL)
		a.text("content-type", op.ContentType)
		a.truth("skip-existing", op.SkipExisting)
		return a
	case *agent.DeleteValue:
		if op.IfBytes != nil {
			return nil
		}
		return removal(arguments{"values", "rm", op.Key}, op.IfRevision, op.IfIncarnation, op.Seal)
	case *agent.AppendThread:
		a := arguments{"threads", "append", op.Thread, "--entries", "-"}
		a.number("expected-rev", op.ExpectedRev)
		a.text("expected-head", op.ExpectedHead)
		a.text("metadata", string(op.Metadata))
		a.count("if-incarnation", op.IfIncarnation)
		a.truth("create-only", op.CreateOnly)
		a.truth("skip-existing", op.SkipExisting)
		return a
	case *agent.TakeClaim:
		a := arguments{"claims", "take", op.Claim, "--holder", op.Holder}
		a.span("ttl", op.TTL)
		return a
	case *agent.RenewClaim:
		a := arguments{"claims", "renew", op.Claim, "--holder", op.Holder}
		a.count("epoch", op.Epoch)
		a.span("ttl", op.TTL)
		return a
	case *agent.ReleaseClaim:
		a := arguments{"claims", "release", op.Claim, "--holder", op.Holder}
		a.count("epoch", op.Epoch)
		a.text("to", op.To)
		a.span("ttl", op.TTL)
		return a
	default:
		if a := turnArgs(op); a != nil {
			return a
		}
		return objectArgs(op)
	}
}

// turnArgs returns the command for an op on the turn of a session.
func turnArgs(op agent.Op) arguments {
	switch op := op.(type) {
	case *agent.ClaimSession:
		a := arguments{"sessions", "claim", op.Session, "--owner", op.Owner}
		if r := op.Request; r != nil {
			a.text("request", r.ID)
			a.text("input", string(r.Input))
			a.text("metadata", string(r.Metadata))
		}
		a.span("ttl", op.TTL)
		a.number("conversation-revision", op.ConversationRevision)
		return a
	case *agent.ResumeSession:
		a := arguments{"sessions", "resume", op.Session, "--owner", op.Owner}
		a.span("ttl", op.TTL)
		return a
	case *agent.RecoverSession:
		a := arguments{"sessions", "recover", op.Session, "--owner", op.Owner}
		a.span("ttl", op.TTL)
		return a
	case *agent.RenewSession:
		a := arguments{"sessions", "renew", op.Session, "--owner", op.Owner, "--lease", op.LeaseID}
		a.span("ttl", op.TTL)
		return a
	default:
		return nil
	}
}
