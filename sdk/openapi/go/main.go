// Command dormouse-openapi-check uses the client that oapi-codegen generates from the OpenAPI
// document against a node, and fails if an answer is not as the types say.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	client "dormouse-openapi-check/build"
)

func main() {
	endpoint, _, _ := strings.Cut(os.Getenv("DORMOUSE_URLS"), ",")
	if err := run(context.Background(), endpoint); err != nil {
		fmt.Fprintln(os.Stderr, "oapi-codegen:", err)
		os.Exit(1)
	}
	fmt.Println("oapi-codegen: ok")
}

func run(ctx context.Context, endpoint string) error {
	c, err := client.NewClientWithResponses(endpoint)
	if err != nil {
		return err
	}
	put, err := c.PutValueWithBodyWithResponse(ctx, "oapi/value", nil, "text/plain", bytes.NewReader([]byte("bytes")))
	if err != nil || put.JSON201 == nil || put.JSON201.Revision != 1 {
		return fmt.Errorf("put a value: %v, %+v", err, put)
	}
	got, err := c.GetValueWithResponse(ctx, "oapi/value", nil)
	if err != nil || string(got.Body) != "bytes" {
		return fmt.Errorf("get a value: %v, %+v", err, got)
	}
	text, kind := map[string]any{"text": "hello"}, "message"
	entries := []client.Draft{{Kind: &kind, Payload: &text}}
	first := int64(0)
	appended, err := c.AppendEntriesWithResponse(ctx, "oapi-thread", nil, client.AppendBody{Entries: &entries, ExpectedRev: &first})
	if err != nil || appended.JSON201 == nil || appended.JSON201.Rev != 1 {
		return fmt.Errorf("append an entry: %v, %+v", err, appended)
	}
	again, err := c.AppendEntriesWithResponse(ctx, "oapi-thread", nil, client.AppendBody{Entries: &entries, ExpectedRev: &first})
	if err != nil || again.StatusCode() != http.StatusConflict || again.ApplicationproblemJSON409 == nil {
		return fmt.Errorf("append at a stale rev: %v, %+v", err, again)
	}
	if problem := again.ApplicationproblemJSON409; problem.Code != client.ProblemCodeConflict || *problem.Rev != 1 {
		return fmt.Errorf("append at a stale rev: the problem is %+v", problem)
	}
	return commit(ctx, c)
}

// commit commits two ops, and reads their results by the name of the op.
func commit(ctx context.Context, c *client.ClientWithResponses) error {
	var put, take client.Op
	if err := put.FromPutCheckpointOp(client.PutCheckpointOp{Key: "oapi", State: map[string]any{"step": 1}}); err != nil {
		return err
	}
	if err := take.FromTakeClaimOp(client.TakeClaimOp{Claim: "oapi", Holder: "check"}); err != nil {
		return err
	}
	done, err := c.CommitWithResponse(ctx, nil, client.CommitBody{Ops: []client.Op{put, take}})
	if err != nil || done.JSON200 == nil || len(done.JSON200.Results) != 2 {
		return fmt.Errorf("commit: %v, %s", err, done.Body)
	}
	result, err := done.JSON200.Results[1].ValueByDiscriminator()
	if claim, ok := result.(client.TakeClaimResult); err != nil || !ok || claim.Epoch == nil || *claim.Epoch == 0 {
		return fmt.Errorf("the result of take_claim: %v, %+v", err, result)
	}
	return nil
}
