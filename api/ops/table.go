package ops

import (
	"fmt"
	"reflect"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// opCodec converts one kind of op.
type opCodec struct {
	op, member reflect.Type // the op, and its member of the union in oppb.Op
	encode     func(out *oppb.Op, op agent.Op)
	decode     func(op *oppb.Op) (agent.Op, error)
}

// codecs are the codecs of all ops. TestEachOpHasACodec fails if one is missing.
var codecs = []opCodec{
	codec(encodePutValue, (*oppb.Op).GetPutValue, decodePutValue),
	codec(encodeDeleteValue, (*oppb.Op).GetDeleteValue, decodeDeleteValue),
	codec(encodeReviseValue, (*oppb.Op).GetReviseValue, decodeReviseValue),
	codec(encodePutCheckpoint, (*oppb.Op).GetPutCheckpoint, decodePutCheckpoint),
	codec(encodePatchCheckpoint, (*oppb.Op).GetPatchCheckpoint, decodePatchCheckpoint),
	codec(encodeDeleteCheckpoint, (*oppb.Op).GetDeleteCheckpoint, decodeDeleteCheckpoint),
	codec(encodePutScope, (*oppb.Op).GetPutScope, decodePutScope),
	codec(encodeDeleteScope, (*oppb.Op).GetDeleteScope, decodeDeleteScope),
	codec(encodeImportScope, (*oppb.Op).GetImportScope, decodeImportScope),
	codec(encodeWriteMemory, (*oppb.Op).GetWriteMemory, decodeWriteMemory),
	codec(encodeDeleteMemory, (*oppb.Op).GetDeleteMemory, decodeDeleteMemory),
	codec(encodePutManager, (*oppb.Op).GetPutManager, decodePutManager),
	codec(encodeDeleteManager, (*oppb.Op).GetDeleteManager, decodeDeleteManager),
	codec(encodeAnswerSignal, (*oppb.Op).GetAnswerSignal, decodeAnswerSignal),
	codec(encodeAppendThread, (*oppb.Op).GetAppendThread, decodeAppendThread),
	codec(encodeHibernateThread, (*oppb.Op).GetHibernateThread, decodeHibernateThread),
	codec(encodeDeleteThread, (*oppb.Op).GetDeleteThread, decodeDeleteThread),
	codec(encodeCompactThread, (*oppb.Op).GetCompactThread, decodeCompactThread),
	codec(encodeForkThread, (*oppb.Op).GetForkThread, decodeForkThread),
	codec(encodeTakeClaim, (*oppb.Op).GetTakeClaim, decodeTakeClaim),
	codec(encodeRenewClaim, (*oppb.Op).GetRenewClaim, decodeRenewClaim),
	codec(encodeReleaseClaim, (*oppb.Op).GetReleaseClaim, decodeReleaseClaim),
	codec(encodePutSession, (*oppb.Op).GetPutSession, decodePutSession),
	codec(encodeClaimSession, (*oppb.Op).GetClaimSession, decodeClaimSession),
	codec(encodeResumeSession, (*oppb.Op).GetResumeSession, decodeResumeSession),
	codec(encodeRecoverSession, (*oppb.Op).GetRecoverSession, decodeRecoverSession),
	codec(encodeCheckpointSession, (*oppb.Op).GetCheckpointSession, decodeCheckpointSession),
	codec(encodeCommitSession, (*oppb.Op).GetCommitSession, decodeCommitSession),
	codec(encodeRenewSession, (*oppb.Op).GetRenewSession, decodeRenewSession),
	codec(encodeCancelSession, (*oppb.Op).GetCancelSession, decodeCancelSession),
	codec(encodeForkSession, (*oppb.Op).GetForkSession, decodeForkSession),
	codec(encodeDeleteSession, (*oppb.Op).GetDeleteSession, decodeDeleteSession),
	codec(encodeDecideReview, (*oppb.Op).GetDecideReview, decodeDecideReview),
	codec(encodeSaveConversation, (*oppb.Op).GetSaveConversation, decodeSaveConversation),
	codec(encodeSetInterrupted, (*oppb.Op).GetSetInterrupted, decodeSetInterrupted),
	codec(encodePendMessage, (*oppb.Op).GetPendMessage, decodePendMessage),
	codec(encodeSaveMessages, (*oppb.Op).GetSaveMessages, decodeSaveMessages),
	codec(encodeUpdateMessage, (*oppb.Op).GetUpdateMessage, decodeUpdateMessage),
	codec(encodeDeleteConversation, (*oppb.Op).GetDeleteConversation, decodeDeleteConversation),
	codec(encodePutTimer, (*oppb.Op).GetPutTimer, decodePutTimer),
	codec(encodeDeleteTimer, (*oppb.Op).GetDeleteTimer, decodeDeleteTimer),
	codec(encodeAckTimer, (*oppb.Op).GetAckTimer, decodeAckTimer),
	codec(encodeFailTimer, (*oppb.Op).GetFailTimer, decodeFailTimer),
	codec(encodePatchCron, (*oppb.Op).GetPatchCron, decodePatchCron),
	codec(encodeForkAgent, (*oppb.Op).GetForkAgent, decodeForkAgent),
	codec(encodeEraseAgent, (*oppb.Op).GetEraseAgent, decodeEraseAgent),
	codec(encodeSetTTL, (*oppb.Op).GetSetTtl, decodeSetTTL),
}

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
