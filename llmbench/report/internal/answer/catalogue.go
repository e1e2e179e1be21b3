package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// leastBases is the smallest number of benchmarks of one server that are shown as a catalogue.
const leastBases = 4

// found holds what benchmarks of package scenarios find out about a server.
var found = []struct{ base, unit, says string }{
	{"SLO", sample.SLORate, "keeps the SLO up to %s"}, {"SLO", sample.SLOUncertifiedRate, "keeps the SLO up to %s, which is not certain"},
	{"SLO", sample.SLOUsers, "keeps the SLO up to %s users"}, {"SLO", sample.SLOUncertifiedUsers, "keeps the SLO up to %s users, which is not certain"},
	{"Sweep", sample.KneeUsers, "has its knee at %s users"},
	{"PrefixCache", sample.ServerHitShare, "finds %s of the prompts' tokens in its prefix cache"},
	{"Accuracy", sample.Accuracy, "answers %s of the questions right"},
}

// OfHarness holds the benchmarks of package scenarios that measure the harness, and not a server. The pass of records of Chunk
// and of HTTP/cost is called chunk.
var OfHarness = []string{"Error", "HTTP", "HTTP/cost", "Dialects", "Chunk", "chunk", "OneCore", "KnownGateway"}

// ownServers is the backend of benchmarks that bring their own simulated servers, such as Routing: they say nothing about
// the server of the other benchmarks.
const ownServers = "fleet"

// isCatalogue reports whether the groups are many different benchmarks of one server.
func isCatalogue(groups []*systems.Group) bool {
	var bases, backends []string
	for _, g := range groups {
		if !slices.Contains(bases, g.Rows[0].Base) {
			bases = append(bases, g.Rows[0].Base)
		}
		for _, r := range g.Rows {
			if b := r.Key("backend"); b != "" && b != ownServers && !slices.Contains(backends, b) {
				backends = append(backends, b)
			}
		}
	}
	return len(bases) >= leastBases && len(backends) <= 1
}

// catalogue says what many benchmarks of one server tell: first the greatest throughput, and then what searches
// found.
func catalogue(groups []*systems.Group, d *results.Data) (says []string) {
	var peak *results.Row
	most := 0.0
	values := map[string]string{}
	bases := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rows {
			bases[r.Base] = true
			if v, unit := r.Spread(sample.OutputRate); unit != "" && v.Mid > most && r.Doubt(unit) == "" && !slices.Contains(OfHarness, r.Base) {
				peak, most = r, v.Mid
			}
			for _, f := range found {
				if text := figure(r, f.unit); text != "" && r.Base == f.base && r.Doubt(f.unit) == "" {
					values[f.says] = text
				}
			}
		}
	}
	text := fmt.Sprintf("The results are of %s.", numbers.Count(len(bases), "benchmark"))
	rest := ""
	if peak != nil {
		load, x := peak.Load()
		where := ""
		if load != "" {
			where = ", at " + compare.Load(load, x)
		}
		who := "The server"
		if peak.Truth != "" {
			who = "The simulated server"
		}
		text = fmt.Sprintf("%s gives at most %s%s (%s).", who, figure(peak, sample.OutputRate), where, peak.Base)
	}
	for _, f := range found {
		if v := values[f.says]; v != "" {
			rest += fmt.Sprintf(" It "+f.says+" (%s).", v, f.base)
			delete(values, f.says)
		}
	}
	if n := len(d.Broken); n > 0 {
		rest += fmt.Sprintf(" %s no result: see the warnings.", map[bool]string{true: "1 benchmark has", false: numbers.Count(n, "benchmark") + " have"}[n == 1])
	}
	if rest == "" {
		return []string{text}
	}
	return []string{text, strings.TrimSpace(rest)}
}
