package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
)

// sessionsPrefix begins the keys of the values that hold the parameters of sessions.
const sessionsPrefix = "mcp/sessions/"

// A session that is used renews its parameters at most once in renewEvery. They last for sessionTTL after its last use.
const (
	renewEvery    = time.Hour
	parametersTTL = sessionTTL + renewEvery
)

// parametersBytesMax bounds the parameters of a session, as JSON.
const parametersBytesMax = 64 << 10

// parameters are what a process needs to take over a session.
type parameters struct {
	User       string                `json:"user,omitempty"` // who began it; "" if callers are not asked for tokens
	Initialize *sdk.InitializeParams `json:"initialize"`
}

// storeParameters keeps the parameters of a session.
func storeParameters(ctx context.Context, s store, session string, p parameters) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the parameters of a session: %w", err)
	}
	if len(raw) > parametersBytesMax {
		return agent.Errorf(agent.CodeTooLarge, "the parameters of initialize have %d bytes; at most %d are kept: shorten clientInfo", len(raw), parametersBytesMax)
	}
	_, err = commit[*agent.ValueResult](ctx, s, &agent.PutValue{Key: sessionsPrefix + session, ContentType: jsonType, Bytes: raw, TTL: parametersTTL})
	if err != nil {
		return fmt.Errorf("keep the parameters of a session: %w", err)
	}
	return nil
}

// loadParameters returns the parameters of a session; ok is false if there are none.
func loadParameters(ctx context.Context, s store, session string) (p parameters, ok bool, err error) {
	stored, err := find[*agent.Value](ctx, s, &agent.GetValue{Key: sessionsPrefix + session})
	if agent.CodeOf(err) == agent.CodeNotFound || agent.CodeOf(err) == agent.CodeInvalid {
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	if err := json.Unmarshal(stored.Bytes, &p); err != nil {
		return p, false, fmt.Errorf("decode the parameters of a session: %w", err)
	}
	return p, true, nil
}

// renewParameters makes the parameters of a session expire later, if there are any, and with them the thread of the
// stream that its client listens on. The other streams end with their answer.
func renewParameters(ctx context.Context, s store, session string) error {
	stored, err := find[*agent.Value](ctx, s, &agent.GetValue{Key: sessionsPrefix + session})
	if agent.CodeOf(err) == agent.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = commit[*agent.ValueResult](ctx, s, &agent.PutValue{
		Key: stored.Key, ContentType: stored.ContentType, Bytes: stored.Bytes, TTL: parametersTTL, IfRevision: &stored.Revision,
	})
	if err != nil {
		return err
	}
	_, err = commit[agent.OpResult](ctx, s, &agent.SetTTL{Thread: streamThread(session, listenStream), TTL: parametersTTL})
	if agent.CodeOf(err) == agent.CodeNotFound {
		return nil // its client does not listen
	}
	return err
}

func deleteParameters(ctx context.Context, s store, session string) error {
	_, err := commit[*agent.DeleteResult](ctx, s, &agent.DeleteValue{Key: sessionsPrefix + session})
	return err
}
