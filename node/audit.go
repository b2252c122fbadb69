package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"dormouse/agent"
	"dormouse/audit"
	"dormouse/config"
	"dormouse/internal/hooksign"
	"dormouse/internal/secretfile"
)

// auditLog is this node's audit log, and what writes to it.
type auditLog struct {
	node     *Node
	dir      string
	log      *audit.Log
	recorder *audit.Recorder
	webhook  *audit.Webhook // nil if there is none
	logger   hclog.Logger
	ran      bool // start has started it
}

// openAudit opens the audit log of a node, unless the configuration has none.
func openAudit(n *Node) error {
	c := n.o.Config
	where := c.Audit.Dir
	if where == "" {
		where = dir(c, "audit")
	}
	if n.o.Headless || !c.Audit.Enabled || where == "" {
		return nil
	}
	a := &auditLog{node: n, dir: where, logger: n.logger.Named("audit")}
	key := n.secrets.ring.Current()
	var err error
	a.log, err = audit.Open(audit.Options{
		Dir: where, Node: c.Node.ID, FileBytes: c.Audit.FileBytes, Files: c.Audit.Files, Key: key.Audit(), KeyID: key.ID(), Failed: a.failed,
	})
	if err != nil {
		return fault("open the audit log", err, codeDisk)
	}
	n.audit = a
	if broken := a.log.Broken(); broken != "" {
		a.logger.Error("the audit log was changed or damaged while this node did not run: check it with \"dormctl audit verify\"", "dir", where, "reason", broken)
	}
	a.recorder = audit.NewRecorder(a.log, c.Audit.OnFailure == config.AuditContinue)
	if c.Audit.WebhookURL != "" {
		if err := a.openWebhook(); err != nil {
			return fault("open the audit webhook", err, codeConfig)
		}
	}
	n.metrics.registry.MustRegister(a.collectors()...)
	return nil
}

// recentAudit returns what reads this node's audit log for operators; nil if there is none.
func recentAudit(n *Node) func(before uint64, limit int) ([]agent.JSON, uint64, error) {
	if n.audit == nil {
		return nil
	}
	return func(before uint64, limit int) (records []agent.JSON, next uint64, err error) {
		lines, next, err := audit.Recent(n.audit.dir, before, limit)
		if err != nil {
			return nil, 0, agent.Errorf(agent.CodeUnavailable, "the audit log of this node cannot be read: %v", err)
		}
		records = make([]agent.JSON, len(lines))
		for i, line := range lines {
			records[i] = line.Raw
		}
		return records, next, nil
	}
}

func (a *auditLog) openWebhook() error {
	c := a.node.o.Config.Audit
	o := audit.WebhookOptions{URL: c.WebhookURL, Failed: func(err error) {
		a.logger.Warn("the audit webhook does not receive the log", "error", err, "undelivered", a.webhook.Undelivered())
	}}
	if c.WebhookKeyFile != "" {
		secret, err := secretfile.Read(c.WebhookKeyFile)
		if err != nil {
			return err
		}
		if len(secret) < hooksign.SecretMin {
			return fmt.Errorf("%s has %d bytes: use a secret of at least %d", c.WebhookKeyFile, len(secret), hooksign.SecretMin)
		}
		o.Secret = []byte(secret)
	}
	var err error
	a.webhook, err = audit.NewWebhook(a.log, o)
	return err
}

// failed logs that the log cannot be written, and that it can be again.
func (a *auditLog) failed(err error) {
	if err == nil {
		a.logger.Info("the audit log can be written again")
		return
	}
	a.logger.Error("the audit log cannot be written", "error", err, "administrative_calls", a.node.o.Config.Audit.OnFailure)
}

// start starts the parts of the log. The log itself ends when it is closed, and the others with life.
func (a *auditLog) start(life context.Context, do func(func() error)) {
	a.ran = true
	do(a.log.Run)
	do(func() error { a.recorder.Run(life); return nil })
	do(func() error { a.cluster(life); return nil })
	if a.webhook != nil {
		do(func() error { a.webhook.Run(life); return nil })
	}
}

// clusterEvery is the interval at which the node looks at the members and the feature level.
const clusterEvery = time.Second

// cluster records changes of the members and of the feature level that this node has applied, whichever
// node was asked for them. The leader makes some by itself.
func (a *auditLog) cluster(life context.Context) {
	ticker := time.NewTicker(clusterEvery)
	defer ticker.Stop()
	level, members := a.node.machine.FeatureLevel(), a.members()
	for {
		select {
		case <-ticker.C:
		case <-life.Done():
			return
		}
		index := a.node.machine.Applied()
		if now := a.node.machine.FeatureLevel(); now != level {
			a.recorder.Note(audit.KindAdmin, "feature_level", fmt.Sprintf("from %d to %d", level, now), index)
			level = now
		}
		now := a.members()
		for _, id := range now {
			if !slices.Contains(members, id) {
				a.recorder.Note(audit.KindAdmin, "member_joined", id, index)
			}
		}
		for _, id := range members {
			if !slices.Contains(now, id) {
				a.recorder.Note(audit.KindAdmin, "member_left", id, index)
			}
		}
		members = now
	}
}

// members returns the names of the nodes in the cluster.
func (a *auditLog) members() (ids []string) {
	for _, m := range a.node.machine.Members() {
		if !m.Host {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// close writes what is left, and closes the log.
func (a *auditLog) close(ctx context.Context) error {
	a.recorder.Flush()
	if err := a.log.Close(ctx, a.ran); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}

func (a *auditLog) collectors() []prometheus.Collector {
	counter := func(name, help string, of func(audit.Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "dormouse", Subsystem: "audit", Name: name, Help: help}, func() float64 { return float64(of(a.log.Stats())) })
	}
	gauge := func(name, help string, of func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "dormouse", Subsystem: "audit", Name: name, Help: help}, of)
	}
	all := []prometheus.Collector{
		counter("records_total", "Records of the audit log.", func(s audit.Stats) uint64 { return s.Lines }),
		counter("lost_total", "Audit records that could not be written.", func(s audit.Stats) uint64 { return s.Lost }),
		counter("left_out_total", "Refused calls without an audit record: beyond the limit of their address.", func(s audit.Stats) uint64 { return s.LeftOut }),
		gauge("waiting", "Audit records that wait for the disk.", func() float64 { return float64(a.log.Stats().Waiting) }),
		gauge("failing", "1 while the audit log cannot be written.", func() float64 {
			if a.log.Stats().Failing {
				return 1
			}
			return 0
		}),
	}
	if a.webhook == nil {
		return all
	}
	return append(all,
		gauge("webhook_undelivered", "Lines of the audit log that the webhook has not acknowledged.", func() float64 { return float64(a.webhook.Undelivered()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "dormouse", Subsystem: "audit", Name: "webhook_skipped_total", Help: "Lines of the audit log that were removed before the webhook acknowledged them.",
		}, func() float64 { return float64(a.webhook.Skipped()) }),
	)
}
