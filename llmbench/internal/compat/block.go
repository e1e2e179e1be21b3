package compat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A selection is what the user of vLLM selects with --percentile-metrics and --metric-percentiles.
type selection struct {
	metrics     []string
	percentiles []float64
}

// A block is the text that a tool prints: lines with a label and a value.
type block struct {
	strings.Builder
	selection
	format  string
	unknown []string // labels of the unknown values for each reason in why
	why     []string
	notes   []string // on the block, each of one line
}

func (b *block) line(label string, v Value, decimals int) {
	if v.Bound == Absent {
		return
	}
	b.text(label, v.Text(decimals))
	b.note(label, v)
}

// note remembers why a value is unknown, for because.
func (b *block) note(label string, v Value) {
	if v.Bound != CannotTell {
		return
	}
	label = strings.TrimRight(strings.TrimSpace(label), ":")
	if i := slices.Index(b.why, v.Why); i >= 0 {
		b.unknown[i] += ", " + label
		return
	}
	b.why, b.unknown = append(b.why, v.Why), append(b.unknown, label)
}

func (b *block) text(label, value string) {
	fmt.Fprintf(b, b.format+"\n", label, value)
}

// title writes a line of 50 characters with text in its middle.
func (b *block) title(text, fill string) {
	pad := 50 - len(text)
	b.WriteString(strings.Repeat(fill, pad/2) + text + strings.Repeat(fill, pad-pad/2) + "\n")
}

// because adds notes with the reasons why values are unknown, unless it added them before.
func (b *block) because() {
	for i, why := range b.why {
		b.notes = append(b.notes, "cannot tell: "+b.unknown[i]+": "+why)
	}
	b.unknown, b.why = nil, nil
}

// ms converts nanoseconds to milliseconds.
func ms(v Value) Value { return v.times(1e-6) }

// secs converts nanoseconds to seconds.
func secs(v Value) Value { return v.times(1e-9) }

// A section is the part of vLLM's or SGLang's block about one latency.
type section struct {
	key, title, name string
	of               Latency
}

// percentWord writes a percentile as vLLM does: "99", or "99.9".
func percentWord(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// latencies writes sections. Each has the mean, the median and the percentiles ps.
func (b *block) latencies(all []section, ps ...float64) {
	for _, l := range all {
		b.title(l.title, "-")
		b.line("Mean "+l.name+" (ms):", ms(l.of.Mean), 2)
		b.line("Median "+l.name+" (ms):", ms(l.of.At(50)), 2)
		for _, p := range ps {
			b.line(fmt.Sprintf("P%s %s (ms):", percentWord(p), l.name), ms(l.of.At(p)), 2)
		}
	}
}
