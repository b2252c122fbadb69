package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// handlerDraft says what handles signals, as an op names it.
type handlerDraft struct {
	Kind agent.HandlerKind `json:"kind"`
	Name string            `json:"name"`
	URL  string            `json:"url"`
	Key  string            `json:"key"`
}

type putManagerDoc struct {
	opName
	Name         string           `json:"name"`
	Handler      handlerDraft     `json:"handler"`
	IdleTimeout  milliseconds     `json:"idle_timeout_ms"`
	Durability   agent.Durability `json:"durability"`
	Storage      agent.Keeping    `json:"storage"`
	Version      uint64           `json:"version"`
	MailboxMax   uint64           `json:"mailbox_max"`
	AwakeMax     uint64           `json:"awake_max"`
	SignalTTL    milliseconds     `json:"signal_ttl_ms"`
	AttachTTL    milliseconds     `json:"attach_ttl_ms"`
	Track        *bool            `json:"track"`
	SkipsPersist []string         `json:"skips_persist"`
	Schedules    jsontext.Value   `json:"schedules"`
	Metadata     jsontext.Value   `json:"metadata"`
	IfRevision   *uint64          `json:"if_revision"`
}

func (d *putManagerDoc) op() (agent.Op, error) {
	m := agent.Manager{
		Name: d.Name, Handler: agent.Handler(d.Handler), IdleTimeout: d.IdleTimeout.span(), Durability: d.Durability, Storage: d.Storage,
		Version: d.Version, MailboxMax: int(min(d.MailboxMax, agent.MailboxMost+1)), AwakeMax: int(min(d.AwakeMax, agent.AwakeMost+1)),
		SignalTTL: d.SignalTTL.span(), AttachTTL: d.AttachTTL.span(), SkipsPersist: d.SkipsPersist,
		Schedules: agent.JSON(d.Schedules), Metadata: agent.JSON(d.Metadata),
	}
	m.SetTracking(d.Track)
	return &agent.PutManager{Manager: m, IfRevision: d.IfRevision}, nil
}

type deleteManagerDoc struct {
	opName
	Name       string  `json:"name"`
	IfRevision *uint64 `json:"if_revision"`
}

func (d *deleteManagerDoc) op() (agent.Op, error) {
	return &agent.DeleteManager{Name: d.Name, IfRevision: d.IfRevision}, nil
}

// timerName says which timer of which instance an op is on.
type timerName struct {
	Manager string `json:"manager"`
	Key     string `json:"key"`
	Timer   string `json:"timer"`
}

type putTimerDoc struct {
	opName
	timerName
	Cron     string          `json:"cron"`
	At       int64           `json:"at"` // Unix ms
	TimeZone strictjson.Text `json:"time_zone"`
	Missed   string          `json:"missed"`
	CatchUp  uint64          `json:"catch_up"`
	Type     string          `json:"type"`
	Data     jsontext.Value  `json:"data"`
}

func (d *putTimerDoc) op() (agent.Op, error) {
	return &agent.PutTimer{Timer: agent.Timer{
		Manager: d.Manager, Key: d.Key, ID: d.Timer, Cron: d.Cron, Next: d.At, TimeZone: string(d.TimeZone), Missed: agent.Missed(d.Missed),
		CatchUp: d.CatchUp, Type: d.Type, Data: agent.JSON(d.Data),
	}}, nil
}

type deleteTimerDoc struct {
	opName
	timerName
}

func (d *deleteTimerDoc) op() (agent.Op, error) {
	return &agent.DeleteTimer{Manager: d.Manager, Key: d.Key, ID: d.Timer}, nil
}

type ackTimerDoc struct {
	opName
	timerName
	Generation uint64 `json:"generation"`
	Instant    int64  `json:"instant"` // Unix ms
	Next       int64  `json:"next"`    // Unix ms; 0 ends the timer
}

func (d *ackTimerDoc) op() (agent.Op, error) {
	return &agent.AckTimer{Manager: d.Manager, Key: d.Key, ID: d.Timer, Generation: d.Generation, Instant: d.Instant, Next: d.Next}, nil
}
