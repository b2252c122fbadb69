package doctor

import (
	"bytes"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metrics are the metrics of one node at one time, by name.
type metrics map[string]*dto.MetricFamily

func parseMetrics(text []byte) (metrics, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read /metrics: %w", err)
	}
	return families, nil
}

// value returns the sum of a counter, a gauge or an untyped metric over its labels; false if there is none.
func (m metrics) value(name string) (float64, bool) {
	family := m[name]
	if family == nil || len(family.Metric) == 0 {
		return 0, false
	}
	sum := 0.0
	for _, one := range family.Metric {
		sum += one.GetCounter().GetValue() + one.GetGauge().GetValue() + one.GetUntyped().GetValue()
	}
	return sum, true
}

// quantile returns a lower and an upper bound of a quantile of a histogram's observations since an earlier
// sample, and their number. An earlier sample that is nil means all observations.
func (m metrics) quantile(name string, q float64, before metrics) (least, most float64, count uint64) {
	now, then := m[name], before[name]
	if now == nil || len(now.Metric) == 0 {
		return 0, 0, 0
	}
	h := now.Metric[0].GetHistogram()
	old := &dto.Histogram{}
	if then != nil && len(then.Metric) > 0 {
		old = then.Metric[0].GetHistogram()
	}
	if h.GetSampleCount() < old.GetSampleCount() { // the node has restarted
		old = &dto.Histogram{}
	}
	count = h.GetSampleCount() - old.GetSampleCount()
	for i, bucket := range h.GetBucket() {
		below := bucket.GetCumulativeCount()
		if i < len(old.GetBucket()) {
			below -= old.GetBucket()[i].GetCumulativeCount()
		}
		if count > 0 && float64(below) >= q*float64(count) {
			return least, bucket.GetUpperBound(), count
		}
		least = bucket.GetUpperBound()
	}
	return least, least, count
}
