package gatewaytest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Finding is one thing that a gateway did wrong.
type Finding struct {
	Class, Case, Rule string
	// Says is one sentence: what the gateway did.
	Says string
	// In and Out are the bytes that the upstream wrote and that the client read, as Go strings. They are cut to the place
	// of the first difference. They are empty if the finding is not about bytes.
	In, Out string
	// Seed and Streams repeat the finding: [Options.Seed], and the fewest [Options.Streams] that showed it.
	Seed    uint64
	Streams int
	// Tokens is the number of tokens of the shortest answer that showed the finding, halved again and again. 0 means that
	// the case has one length, or several answers.
	Tokens int
	// Gap is the gap in [Options.Gaps] that declares the finding, or "".
	Gap string
}

// ID returns class, case and rule, as in "end/reset/clean-end".
func (f Finding) ID() string { return f.Class + "/" + f.Case + "/" + f.Rule }

// started is the class of the finding that a gateway does not answer at all. It has no cases, and no gap declares it.
const started = "start"

// String returns the finding with its bytes, how to repeat it, and how to declare it as a known gap.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.ID(), f.Says)
	if f.In != "" || f.Out != "" {
		fmt.Fprintf(&b, "  went in:   %s\n  came out:  %s\n", orNothing(f.In), orNothing(f.Out))
	}
	if f.Tokens > 0 {
		fmt.Fprintf(&b, "  tokens:    %d in the answer\n", f.Tokens)
	}
	if f.Class == started {
		return strings.TrimSuffix(b.String(), "\n")
	}
	fmt.Fprintf(&b, "  again:     gatewaytest.Options{Classes: []string{%q}, Seed: %d", f.Class+"/"+f.Case, f.Seed)
	if f.Streams > 0 {
		fmt.Fprintf(&b, ", Streams: %d", f.Streams)
	}
	fmt.Fprintf(&b, "}\n  known gap: gatewaytest.Options{Gaps: []string{%q}}", f.ID())
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// A Result is what came of one case.
type Result struct {
	Class, Case string
	Does        string // what the upstream or the client does in this case
	Findings    []Finding
	Skipped     string   // why the case was not checked, or ""
	Facts       []string // what was measured, such as the number of attempts
	Took        time.Duration
}

// Failed reports whether there is a finding that no gap declares.
func (r Result) Failed() bool {
	for _, f := range r.Findings {
		if f.Gap == "" {
			return true
		}
	}
	return false
}

// A Report is what came of all cases.
type Report struct {
	API     string
	Results []Result
	// Stale are the elements of [Options.Gaps] that no longer occur although their cases were checked.
	Stale []string
}

// Failed reports whether a case failed, or a gap no longer occurs.
func (r *Report) Failed() bool {
	for _, c := range r.Results {
		if c.Failed() {
			return true
		}
	}
	return len(r.Stale) > 0
}

// Findings returns all findings.
func (r *Report) Findings() (all []Finding) {
	for _, c := range r.Results {
		all = append(all, c.Findings...)
	}
	return all
}

// undeclared returns a line with the gaps that declare all findings that no gap declares. It returns "" if there are fewer than
// two such findings, because each of them names its own gap.
func undeclared(results []Result) string {
	var gaps []string
	for _, r := range results {
		for _, f := range r.Findings {
			if f.Gap == "" && f.Class != started && !slices.Contains(gaps, f.ID()) {
				gaps = append(gaps, f.ID())
			}
		}
	}
	if len(gaps) < 2 {
		return ""
	}
	return fmt.Sprintf("all known gaps: gatewaytest.Options{Gaps: []string{\"%s\"}}\n", strings.Join(gaps, `", "`))
}
