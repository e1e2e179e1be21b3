package judge

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Recorded has the values of recorded header fields of successful answers.
type Recorded struct {
	answers int
	fields  map[string]*recordedField // by name
}

// A recordedField has the values of one field. If one of them is not a number, numbers is not used.
type recordedField struct {
	present int
	numbers []float64
	texts   map[string]int // at most mostTexts of the different values, with the number of answers
	more    bool           // there are more different values
	other   bool           // a value is not a number
}

// mostTexts is the number of different values of a field that are counted.
const mostTexts = 6

// findRecorded collects the recorded fields.
func findRecorded(samples iter.Seq[*sample.Sample]) Recorded {
	r := Recorded{fields: map[string]*recordedField{}}
	for s := range samples {
		if s.Outcome != sample.OK {
			continue
		}
		r.answers++
		for _, h := range s.Header {
			f := r.fields[h.Name]
			if f == nil {
				f = &recordedField{texts: map[string]int{}}
				r.fields[h.Name] = f
			}
			f.add(h)
		}
	}
	return r
}

func (f *recordedField) add(h sample.Field) {
	f.present++
	if v, ok := number(h); ok && !f.other {
		f.numbers = append(f.numbers, v)
	} else {
		f.other, f.numbers = true, nil
	}
	if _, known := f.texts[h.Value]; known || len(f.texts) < mostTexts {
		f.texts[h.Value]++
	} else {
		f.more = true
	}
}

// Describe returns a text about the fields with the given names, or "" if there are no names or no answers. The
// metrics are those that are reported: latencies that were withheld are not compared.
func (r Recorded) Describe(names []string, metrics map[string]float64) string {
	if len(names) == 0 || r.answers == 0 {
		return ""
	}
	var all, beside []string
	times := false
	for _, name := range names {
		name = strings.ToLower(name)
		f := r.fields[name]
		if f == nil {
			all = append(all, name+" in no answer")
			continue
		}
		all = append(all, fmt.Sprintf("%s %s (%d of %d answers)", name, f.describe(unitOf(name)), f.present, r.answers))
		times = times || !f.other && unitOf(name) != ""
	}
	for _, m := range []struct{ unit, name string }{{sample.P50TTFT, "TTFT"}, {sample.P50E2E, "E2E latency"}} {
		if v, known := metrics[m.unit]; known && times {
			beside = append(beside, fmt.Sprintf("%s p50 %.3g ms", m.name, v/float64(time.Millisecond)))
		}
	}
	text := "header fields of the answers: " + strings.Join(all, "; ")
	if len(beside) > 0 {
		text += "; measured by this client: " + strings.Join(beside, ", ")
	}
	return text
}

// describe returns the median and the largest of numbers in the given unit, or else the different values.
func (f *recordedField) describe(unit string) string {
	if !f.other {
		slices.Sort(f.numbers)
		half := len(f.numbers) / 2
		median := f.numbers[half]
		if len(f.numbers)%2 == 0 {
			median = (f.numbers[half-1] + median) / 2
		}
		return fmt.Sprintf("p50 %.4g%s, largest %.4g%s", median, unit, f.numbers[len(f.numbers)-1], unit)
	}
	if f.more {
		return fmt.Sprintf("has more than %d different values", mostTexts)
	}
	quoted := map[string]int{}
	for text, n := range f.texts {
		quoted[strconv.Quote(text)] = n
	}
	return tally(quoted)
}

// number returns the value of a field as a number. A value with a unit of time, such as 1.5s, is one if the field
// has milliseconds.
func number(h sample.Field) (float64, bool) {
	text := strings.TrimSpace(h.Value)
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, Finite(v)
	}
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	return float64(d) / float64(time.Millisecond), err == nil && unitOf(h.Name) == " ms"
}

// unitOf returns the unit of a field's numbers, after a space, or "" if it is not known.
func unitOf(name string) string {
	if strings.HasSuffix(name, "-ms") || strings.HasSuffix(name, "_ms") || slices.Contains(milliseconds, name) {
		return " ms"
	}
	return ""
}

// milliseconds lists fields that are documented to have milliseconds, although their names do not say so.
var milliseconds = []string{
	"x-envoy-upstream-service-time",                                              // https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter
	"x-kong-upstream-latency", "x-kong-proxy-latency", "x-kong-response-latency", // https://developer.konghq.com/gateway/configuration/#headers
	"x-amzn-bedrock-invocation-latency", // https://docs.aws.amazon.com/bedrock/latest/userguide/inference-invoke.html
}
