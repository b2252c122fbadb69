package grpc_test

import (
	"slices"
	"testing"
	"testing/synctest"

	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"dormouse/server/grpc"
)

// Tools such as grpcurl use reflection to list the services of a node.
func TestReflectionNamesEveryService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{}, grpc.Options{})
		stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ask := &reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
		}
		if err := stream.Send(ask); err != nil {
			t.Fatal(err)
		}
		answer, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, service := range answer.GetListServicesResponse().GetService() {
			names = append(names, service.Name)
		}
		for _, want := range []string{"Store", "Instances", "Cluster"} {
			if !slices.Contains(names, "dormouse.api.v1."+want) {
				t.Errorf("%s is not among %v", want, names)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
	})
}
