package dapr

import (
	"github.com/dapr/components-contrib/state"
	proto "github.com/dapr/dapr/pkg/proto/components/v1"
)

func getOf(r *proto.GetRequest) *state.GetRequest {
	return &state.GetRequest{Key: r.GetKey(), Metadata: r.GetMetadata(), Options: state.GetStateOption{Consistency: consistencyOf(r.GetConsistency())}}
}

func setOf(r *proto.SetRequest) state.SetRequest {
	set := state.SetRequest{Key: r.GetKey(), Value: r.GetValue(), ETag: etagFrom(r.GetEtag()), Metadata: r.GetMetadata(), Options: state.SetStateOption{
		Concurrency: concurrencyOf(r.GetOptions().GetConcurrency()), Consistency: consistencyOf(r.GetOptions().GetConsistency()),
	}}
	if text := r.GetContentType(); text != "" {
		set.ContentType = &text
	}
	return set
}

func removalOf(r *proto.DeleteRequest) state.DeleteRequest {
	return state.DeleteRequest{Key: r.GetKey(), ETag: etagFrom(r.GetEtag()), Metadata: r.GetMetadata(), Options: state.DeleteStateOption{
		Concurrency: concurrencyOf(r.GetOptions().GetConcurrency()), Consistency: consistencyOf(r.GetOptions().GetConsistency()),
	}}
}

func consistencyOf(c proto.StateOptions_StateConsistency) string {
	switch c {
	case proto.StateOptions_CONSISTENCY_EVENTUAL:
		return state.Eventual
	case proto.StateOptions_CONSISTENCY_STRONG:
		return state.Strong
	default:
		return ""
	}
}

func concurrencyOf(c proto.StateOptions_StateConcurrency) string {
	switch c {
	case proto.StateOptions_CONCURRENCY_FIRST_WRITE:
		return state.FirstWrite
	case proto.StateOptions_CONCURRENCY_LAST_WRITE:
		return state.LastWrite
	default:
		return ""
	}
}

func etagFrom(etag *proto.Etag) *string {
	if etag == nil {
		return nil
	}
	return &etag.Value
}

func etagTo(etag *string) *proto.Etag {
	if etag == nil {
		return nil
	}
	return &proto.Etag{Value: *etag}
}

func textTo(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
