package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// EncodeJSON returns a document as JSON on one line. JSON inside it keeps its bytes.
func EncodeJSON(document any) ([]byte, error) {
	raw, err := json.Marshal(document, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, fmt.Errorf("write the result as JSON: %w", err)
	}
	return append(raw, '\n'), nil
}

// ToYAML returns JSON as YAML. Members keep their order and numbers their
// literals.
func ToYAML(raw []byte) ([]byte, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	node, err := yamlNode(decoder)
	if err != nil {
		return nil, fmt.Errorf("write the result as YAML: %w", err)
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("write the result as YAML: more than one document: %w", err)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return nil, fmt.Errorf("write the result as YAML: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

// yamlNode reads one JSON value. Its depth is bounded by agent.JSONDepthMax of a stored
// payload and the few levels around it.
func yamlNode(decoder *jsontext.Decoder) (*yaml.Node, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch kind := token.Kind(); kind {
	case '{', '[':
		node := &yaml.Node{Kind: yaml.MappingNode}
		if kind == '[' {
			node.Kind = yaml.SequenceNode
		}
		for decoder.PeekKind() != '}' && decoder.PeekKind() != ']' {
			child, err := yamlNode(decoder)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, child)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle
		}
		_, err := decoder.ReadToken()
		return node, err
	case '"':
		node := &yaml.Node{}
		node.SetString(token.String())
		return node, nil
	case '0':
		return &yaml.Node{Kind: yaml.ScalarNode, Value: token.String()}, nil
	case 't', 'f':
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: token.String()}, nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
}
