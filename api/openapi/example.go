package openapi

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// examplesJSON holds the examples by operation. A test of server/rest records them from its corpus of
// requests and answers.
//
//go:embed examples.json
var examplesJSON []byte

// Example is a request and its answer.
type Example struct {
	Request json.RawMessage `json:"request,omitempty"`
	Status  int             `json:"status"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// Examples returns the examples by operation.
var Examples = sync.OnceValue(func() map[string]Example {
	all := map[string]Example{}
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		panic("openapi: examples.json: " + err.Error()) // it is part of the program
	}
	return all
})

// Exemplify adds the example of an operation to its body and its answer.
func Exemplify(op *huma.Operation) {
	example, ok := Examples()[op.OperationID]
	if !ok {
		return
	}
	if op.RequestBody != nil && example.Request != nil {
		give(op.RequestBody.Content, example.Request)
	}
	if response := op.Responses[strconv.Itoa(example.Status)]; response != nil && example.Answer != nil && example.Status != http.StatusNoContent {
		give(response.Content, example.Answer)
	}
}

func give(content map[string]*huma.MediaType, example json.RawMessage) {
	for kind, media := range content {
		if strings.HasSuffix(kind, "json") {
			media.Example = example
		}
	}
}
