package node

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"dormouse/config"
	"dormouse/internal/tracing"
	"dormouse/internal/version"
)

// spansMax is how many spans wait for the collector; more are dropped.
const spansMax = 8192

// traceStopTimeout is how long a stopping node waits for the collector.
const traceStopTimeout = 3 * time.Second

// openSpans opens what sends this node's spans; nothing if it sends none.
func openSpans(n *Node) error {
	exporter := n.o.Spans
	if exporter == nil && n.o.Config.Tracing.Endpoint != "" {
		var err error
		if exporter, err = newExporter(n.o.Config.Tracing); err != nil {
			return fault("tracing", err, codeConfig)
		}
	}
	if exporter != nil {
		n.tracing = newTracing(n.o.Config, exporter)
	}
	return nil
}

// newExporter returns what sends spans to the configured collector. It connects when it sends.
func newExporter(t config.Tracing) (sdktrace.SpanExporter, error) {
	options := []otlptracehttp.Option{otlptracehttp.WithEndpointURL(t.Endpoint)}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s has no PEM certificate", t.CAFile)
		}
		options = append(options, otlptracehttp.WithTLSClientConfig(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}))
	}
	if t.HeadersFile != "" {
		headers, err := readHeaders(t.HeadersFile)
		if err != nil {
			return nil, fmt.Errorf("headers_file: %w", err)
		}
		options = append(options, otlptracehttp.WithHeaders(headers))
	}
	return otlptracehttp.New(context.Background(), options...)
}

// newTracing returns a provider that samples as configured. Without a sampled trace that a caller
// sends, a share of the calls begins one.
func newTracing(c config.Config, exporter sdktrace.SpanExporter) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.Tracing.Sample))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", tracing.Name), attribute.String("service.instance.id", c.Node.ID), attribute.String("service.version", version.String()),
		)),
		sdktrace.WithBatcher(exporter, sdktrace.WithMaxQueueSize(spansMax)),
	)
}

// closeSpans sends the spans that wait, for at most traceStopTimeout.
func closeSpans(n *Node) {
	if n.tracing == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), traceStopTimeout)
	defer cancel()
	if err := n.tracing.Shutdown(ctx); err != nil {
		n.logger.Warn("the last spans were not sent", "error", err)
	}
}

// tracerOf returns the tracer of a provider; nil if that is nil.
func tracerOf(p *sdktrace.TracerProvider) trace.Tracer {
	if p == nil {
		return nil
	}
	return p.Tracer(tracing.Name)
}

// readHeaders reads a file of headers, one a line as "name: value".
func readHeaders(path string) (map[string]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("%s has a line that is not \"name: value\"", path)
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, lines.Err()
}
