package resultfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// locustFields are the columns of Locust's NAME_stats.csv, which has a row for each endpoint
// (https://github.com/locustio/locust/blob/master/locust/stats.py, StatsCSV). Times are in milliseconds.
// Locust rounds response times to two significant digits before it computes percentiles: 1,234 ms counts
// as 1,200. The rate of requests includes failed requests.
var locustFields = []field{
	{"Requests/s", sample.RequestRate, 1, "req/s"},
	{"Average Response Time", sample.MeanE2E, millisecond, "ms"},
	{"{}", "{}-e2e-ns", millisecond, "ms"},
}

// locustMetrics are the rows of type METRIC that llm_bench of fw-ai/benchmark adds to Locust's file, and
// llmbench's units for their averages
// (https://github.com/fw-ai/benchmark/blob/main/llm_bench/load_test.py). latency_per_token is (latency -
// time to first token) / output tokens.
var locustMetrics = []field{
	{"time_to_first_token", sample.MeanTTFT, millisecond, "ms"},
	{"total_latency", sample.MeanE2E, millisecond, "ms"},
	{"latency_per_token", "mean-latency-per-tok-ns", millisecond, "ms"},
	{"num_tokens", sample.OutputLength, 1, "tok/req"},
	{"prompt_tokens", sample.PromptLength, 1, "tok/req"},
}

// locustRequests are the types of events that are requests: the methods of HTTP, and what Locust's own examples of other
// protocols use. What the events of other types count, users decide: seconds, tokens or dollars.
var locustRequests = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "GRPC", "XMLRPC", "WS", "WSS", "WEBSOCKET", "SSE", ""}

// locustTTFT are the metrics of an event that users fire with the time to the first token as its response time.
var locustTTFT = []field{
	{"Average Response Time", sample.MeanTTFT, millisecond, "ms"},
	{"{}", "{}-ttft-ns", millisecond, "ms"},
}

// firstToken matches the type or the name of such an event.
var firstToken = regexp.MustCompile(`(?i)(^|[^a-z])ttft([^a-z]|$)|(time[ _-]?to[ _-]?)?first[ _-]?token|firsttoken`)

var percents = []statistic{{"p50", "50%"}, {"p90", "90%"}, {"p95", "95%"}, {"p99", "99%"}}

var locustFormats = []format{{tool: "Locust", base: "Locust", isTable: func(rows [][]string) bool {
	return len(rows) > 0 && slices.Contains(rows[0], "Request Count") && slices.Contains(rows[0], "Failure Count") || isLocustHistory(rows)
}, readTable: readLocust}}

func isLocustHistory(rows [][]string) bool {
	return len(rows) > 0 && slices.Contains(rows[0], "Timestamp") && slices.Contains(rows[0], "User Count")
}

// readLocust reads the rows of all endpoints. It reads the row with their sum only if there is no other
// row.
func readLocust(r *reading, rows [][]string) {
	if isLocustHistory(rows) {
		r.beside("the figures of each second")
		return
	}
	all := document.NewObject() // averages of the METRIC rows
	endpoints, sum := 0, false
	var unknown []string // types of events
	for i, row := range rows[1:] {
		n := document.Row(rows[0], row)
		if len(row) < len(rows[0]) {
			r.failf("row "+itoa(i+1), "has %d of %d columns: was the file cut off?", len(row), len(rows[0]))
			return
		}
		name := n.Get("Name").Text()
		sum = sum || name == "Aggregated"
		switch {
		case n.Get("Type").Text() == "METRIC":
			all.Set(name, document.NewText(n.Get("Average Response Time").Text()))
		case isFirstToken(n):
			endpoints++
			r.locustRow("row "+itoa(i+1)+": ", n, locustTTFT)
		case !slices.Contains(locustRequests, strings.ToUpper(n.Get("Type").Text())):
			unknown = append(unknown, n.Get("Type").Text()+" "+name)
		case name != "Aggregated" || n.Get("Type").Text() != "" || endpoints == 0 && len(all.Names()) == 0:
			endpoints++
			r.locustRow("row "+itoa(i+1)+": ", n, locustFields)
		}
	}
	if r.at = ""; !sum {
		r.failf("Aggregated", "is missing, the last row: was the file cut off?")
	}
	r.notef("percentiles are rounded: Locust keeps two significant digits of each response time")
	r.notef("the file contains neither the load nor the model nor other settings")
	if len(unknown) > 0 {
		r.notef("%s left out, because what events of this type count is not known: want an HTTP method, or TTFT", strings.Join(unknown[:min(len(unknown), 5)], ", "))
	}
	if len(all.Names()) > 0 {
		r.begin("METRIC ", all)
		r.res.Name = "LLMBench"
		r.positive("num_tokens", "output tokens")
		r.fields(locustMetrics, nil)
		r.end()
	} else if endpoints == 0 {
		r.failf("", "has a header but no row: want a row for each endpoint")
	}
}

// isFirstToken reports whether a row has the times to the first token that users report as events of their own.
func isFirstToken(n *document.Node) bool {
	kind := strings.ToUpper(n.Get("Type").Text())
	return firstToken.MatchString(n.Get("Type").Text()) || !slices.Contains(locustRequests, kind) && firstToken.MatchString(n.Get("Name").Text())
}

// locustRow reads the row of one endpoint, or of the events with its times to the first token.
func (r *reading) locustRow(at string, n *document.Node, fields []field) {
	r.begin(at, n)
	r.load("type", "Type")
	r.load("name", "Name")
	all, _ := r.number("Request Count")
	bad, _ := r.number("Failure Count")
	if all == 0 || bad >= all {
		r.failf("Request Count", "is %v, and Failure Count %v: want a successful request", all, bad)
	}
	r.failures("Failure Count", bad, all)
	r.fields(fields, percents)
	r.end()
}
