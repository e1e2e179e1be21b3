package mockserver

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// adapters counts the requests of each LoRA adapter of a server. It is a collector of the metric
// lora_requests_info, whose labels name the adapters of the requests that run and wait
// (https://docs.vllm.ai/en/latest/design/metrics/#lora-metrics). All methods except Describe and Collect
// may be called for a nil value, which has no adapters.
type adapters struct {
	names []string
	info  *prometheus.Desc

	mu               sync.Mutex
	running, waiting map[string]int // number of requests by adapter
	changed          time.Time      // when a number changed last
}

// newAdapters returns the adapters with these names. most is the value of the label max_lora; 0 means the
// number of names.
func newAdapters(names []string, most int) *adapters {
	return &adapters{
		names: names, running: map[string]int{}, waiting: map[string]int{}, changed: time.Now(),
		info: prometheus.NewDesc("lora_requests_info", "LoRA adapters of the requests that run and wait. The value is when they changed last, in seconds since 1970.",
			[]string{"running_lora_adapters", "waiting_lora_adapters"}, prometheus.Labels{"max_lora": strconv.Itoa(cmp.Or(most, len(names)))}),
	}
}

// of returns the adapter that the member "model" of a request's body names, or "" if it names none.
func (a *adapters) of(body []byte) string {
	if a == nil {
		return ""
	}
	var request struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(body, &request) != nil || !slices.Contains(a.names, request.Model) {
		return ""
	}
	return request.Model
}

// begin counts a waiting request of an adapter; "" is no adapter. The request calls running when it has a
// slot, and must call ended.
func (a *adapters) begin(adapter string) (running, ended func()) {
	if adapter == "" {
		return func() {}, func() {}
	}
	in := a.waiting
	a.add(in, adapter, 1)
	running = func() {
		a.add(in, adapter, -1)
		in = a.running
		a.add(in, adapter, 1)
	}
	return running, func() { a.add(in, adapter, -1) }
}

// add changes a number of requests.
func (a *adapters) add(in map[string]int, adapter string, by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in[adapter] += by
	a.changed = time.Now()
}

// Describe implements [prometheus.Collector].
func (a *adapters) Describe(to chan<- *prometheus.Desc) { to <- a.info }

// Collect implements [prometheus.Collector].
func (a *adapters) Collect(to chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	used := func(in map[string]int) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(a.names), func(name string) bool { return in[name] == 0 }), ",")
	}
	at := float64(a.changed.UnixNano()) / 1e9
	to <- prometheus.MustNewConstMetric(a.info, prometheus.GaugeValue, at, used(a.running), used(a.waiting))
}
