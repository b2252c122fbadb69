package peer

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/membership"
)

// fill sets each field of v, each to another value.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("v" + strconv.Itoa(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(int64(*n) * int64(time.Second))
			return
		}
		v.SetInt(int64(*n))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default: // set by the test
	}
}

func filled[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v arrived of %+v", got, want)
	}
}

// A field that is lost between two nodes would be a wrong vote, a wrong owner or a wrong address.
func TestEachFieldBetweenPeersArrives(t *testing.T) {
	status := filled[membership.PeerStatus]()
	same(t, statusFromProto(statusToProto(status)), status)
	join := filled[membership.JoinRequest]()
	same(t, joinRequestFromProto(joinRequestToProto(join)), join)
	joined := filled[membership.JoinResponse]()
	same(t, joinResponseFromProto(joinResponseToProto(joined)), joined)
	answer := filled[assign.Response]()
	same(t, ownResponseFromProto(ownResponseToProto(answer)), answer)

	own := filled[assign.Request]()
	own.FromHost = false // the server sets it, by the handshake
	same(t, ownRequestFromProto(ownRequestToProto(own)), own)
	own.Host = &layout.Member{
		ID: own.Node, Incarnation: own.Incarnation, RaftAddr: "a", Version: "v", FeatureLevelMax: 3, Zone: "z", Weight: 4, Host: true,
	}
	same(t, ownRequestFromProto(ownRequestToProto(own)), own)
}

func TestATableOfPartitionsArrives(t *testing.T) {
	const last = layout.Partitions - 1
	want := assign.TableUpdate{
		Index: 7, LeaderAddr: "l",
		Members: []layout.Member{{ID: "n1", RaftAddr: "r", GRPCAddr: "g"}, {ID: "h1", RaftAddr: "h", Host: true}},
		Leases:  []layout.NodeLease{{Node: "n1", Life: "p", Handlers: []string{"f"}}},
		Partitions: []layout.Partition{
			{ID: 0, Epoch: 3, State: layout.PartitionFree},
			{ID: 1, Owner: "n1", Incarnation: "p", Epoch: 4, State: layout.PartitionOwned},
			{ID: last, Owner: "n1", Incarnation: "p", Epoch: 5, To: "h1", State: layout.PartitionDraining},
		},
	}
	got, err := updateFromProto(updateToProto(want))
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	want.Partitions[2].ID++
	if got, err := updateFromProto(updateToProto(want)); err == nil {
		t.Errorf("of %d partitions: %+v", layout.Partitions, got.Partitions[2])
	}
}
