package ops

import (
	"fmt"
	"reflect"
	"slices"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// opCodec converts one kind of op.
type opCodec struct {
	op, member reflect.Type // the op, and its member of the union in oppb.Op
	encode     func(out *oppb.Op, op agent.Op)
	decode     func(op *oppb.Op) (agent.Op, error)
}

// codecs are the codecs of all ops; each noun lists its own. TestEachOpHasACodec fails if
// one is missing.
var codecs = slices.Concat(
	valueCodecs,
	checkpointCodecs,
	scopeCodecs,
	memoryCodecs,
	managerCodecs,
	threadCodecs,
	claimCodecs,
	sessionCodecs,
	reviewCodecs,
	conversationCodecs,
	timerCodecs,
	agentCodecs,
	tokenCodecs,
	deletionCodecs,
)

// codec returns the codec of the op *T, whose message is *M. The member of the union is
// the one that encode sets.
func codec[T, M any, O interface {
	*T
	agent.Op
}](encode func(*oppb.Op, O), message func(*oppb.Op) *M, decode func(*M) (agent.Op, error)) opCodec {
	var example oppb.Op
	encode(&example, new(T))
	return opCodec{
		op: reflect.TypeFor[O](), member: reflect.TypeOf(example.Op),
		encode: func(out *oppb.Op, op agent.Op) { encode(out, op.(O)) }, //nolint:forcetypeassert // the table's key
		decode: func(op *oppb.Op) (agent.Op, error) {
			m := message(op)
			if m == nil {
				return nil, noKind()
			}
			return decode(m)
		},
	}
}

// byOp and byMember find a codec by the type of an op and of a member of the union.
var byOp, byMember = func() (byOp, byMember map[reflect.Type]*opCodec) {
	byOp, byMember = map[reflect.Type]*opCodec{}, map[reflect.Type]*opCodec{}
	for i := range codecs {
		c := &codecs[i]
		byOp[c.op], byMember[c.member] = c, c
	}
	return byOp, byMember
}()

// ToProto sets out to op. It panics on an op that this package does not know.
func ToProto(out *oppb.Op, op agent.Op) {
	c := byOp[reflect.TypeOf(op)]
	if c == nil {
		panic(fmt.Sprintf("ops: op %T has no protobuf message", op))
	}
	c.encode(out, op)
}

// FromProto converts an op. It refuses an op without a kind or without a body.
func FromProto(op *oppb.Op) (agent.Op, error) {
	c := byMember[reflect.TypeOf(op.GetOp())]
	if c == nil {
		return nil, noKind()
	}
	return c.decode(op)
}

func noKind() error {
	return agent.Invalid("op", "the op is missing or of a kind that this node does not know")
}
