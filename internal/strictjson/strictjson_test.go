package strictjson_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/internal/strictjson"
)

type word string

type part struct {
	ID   string           `json:"id"`
	Word word             `json:"word"`
	Note *strictjson.Text `json:"note"`
}

type document struct {
	part
	Parts  []part            `json:"parts"`
	Tags   []string          `json:"tags"`
	ByName map[string]string `json:"by_name"`
	Raw    jsontext.Value    `json:"raw"`
	Bytes  []byte            `json:"bytes"`
	If     *[]byte           `json:"if"`
	Maybe  *string           `json:"maybe"`
}

func TestEmptyStringsAreRefusedWhereverTheyStand(t *testing.T) {
	for _, c := range []struct{ doc, at string }{
		{`{"id":""}`, "/id"},
		{`{"word":""}`, "/word"},
		{`{"maybe":""}`, "/maybe"},
		{`{"parts":[{"id":"a"},{"id":""}]}`, "/parts/1/id"},
		{`{"tags":["a",""]}`, "/tags/1"},
		{`{"by_name":{"a":""}}`, "/by_name/a"},
		{`{"by_name":{"":"a"}}`, "/by_name/"},
	} {
		err := strictjson.Unmarshal([]byte(c.doc), new(document))
		var semantic *json.SemanticError
		if !errors.Is(err, strictjson.ErrEmpty) || !errors.As(err, &semantic) || string(semantic.JSONPointer) != c.at {
			t.Errorf("%s: %v, want ErrEmpty at %s", c.doc, err, c.at)
		}
	}
}

func TestWhatMayBeEmptyIsTaken(t *testing.T) {
	const doc = `{"id":"a","word":"b","note":"","raw":{"id":""},"bytes":"","if":"","maybe":null}`
	var got document
	if err := strictjson.Unmarshal([]byte(doc), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "a" || got.Word != "b" || got.Note == nil || *got.Note != "" || string(got.Raw) != `{"id":""}` || got.If == nil || got.Maybe != nil {
		t.Errorf("it reads %+v", got)
	}
	for _, doc := range []string{`{"other":""}`, `{"other":1}`, `{"id":"a","id":"a","word":""}`} {
		if err := strictjson.Unmarshal([]byte(doc), &got); err == nil || errors.Is(err, strictjson.ErrEmpty) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
