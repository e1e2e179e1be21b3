package peers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest"
)

var update = flag.Bool("update", false, "write README.md")

const readme = "README.md"

// late is the key of causes for late events.
const late = "late"

// TestTable compares README.md with the current results of the parsers.
func TestTable(t *testing.T) {
	results := map[string][]ssetest.Result{}
	for _, p := range peers {
		// On the fake clock, an event is late only if the parser waits for more bytes, but not if the
		// machine is busy.
		synctest.Test(t, func(t *testing.T) { results[p.name] = ssetest.Check(p.decode, p.options) })
		failed := map[string][]string{}
		for _, r := range results[p.name] {
			if r.Err != nil {
				failed[r.Class] = append(failed[r.Class], r.Name)
				t.Logf("%s: %s/%s: %.300v", p.name, r.Class, r.Name, r.Err)
			}
			if r.Late != nil {
				failed[late] = append(failed[late], r.Class+"/"+r.Name)
			}
		}
		for class, names := range failed {
			if !explained(p.short, class) {
				t.Errorf("%s fails %s cases without a cause: %q", p.name, class, names)
			}
		}
		for _, c := range causes[p.short] {
			for _, class := range c.classes {
				if len(failed[class]) == 0 {
					t.Errorf("%s: there is a cause for %s, but no case fails: %s", p.name, class, c.text)
				}
			}
		}
	}
	got := table(t, results)
	if *update {
		if err := os.WriteFile(readme, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Errorf("%s:%d: %q; now %q", readme, i+1, wantLines[i], gotLines[i])
			}
		}
		t.Errorf("%s differs from the current results; go test -run TestTable -update writes it", readme)
	}
}

// table returns the text of README.md.
func table(t *testing.T, results map[string][]ssetest.Result) []byte {
	var b bytes.Buffer
	b.WriteString(`# Public Go parsers of Server-Sent Events, compared with the standard

<!-- Written by "go test -run TestTable -update". Do not edit. -->

    $ go test -v -run TestTable .     # names every case that fails

[ssetest](..) runs each parser through its public functions. A case fails if the parser is wrong for any way of splitting the body into
reads. The standard is made for browsers, so a failure may be a decision of the parser's author, and matters to a client only if its
servers send such streams. Each parser may drop, return or mark an event that the end of the body cuts.

The table has passed and all cases, by class. "late": all events were right, but one was returned only after the parser had read beyond
it. "–": not checked, because the parser declares no limit. Brackets: the parser does not offer the subject, so only data is checked.
Below the table, each reason for failures has the classes in which it occurs.

| class |`)
	for _, p := range peers {
		fmt.Fprintf(&b, " %s |", p.short)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(peers)) + "\n")
	cell := func(name string, in func(ssetest.Result) bool) string {
		passed, all := 0, 0
		for _, r := range results[name] {
			if in(r) && !(r.Class == "memory" && r.NotChecked != "") {
				all++
				if r.Err == nil {
					passed++
				}
			}
		}
		if all == 0 {
			return "–"
		}
		return fmt.Sprintf("%d/%d", passed, all)
	}
	var classes []string
	for _, r := range results[peers[0].name] {
		if !slices.Contains(classes, r.Class) {
			classes = append(classes, r.Class)
		}
	}
	for _, class := range classes {
		fmt.Fprintf(&b, "| %s |", class)
		for _, p := range peers {
			text := cell(p.name, func(r ssetest.Result) bool { return r.Class == class })
			if class == "event" && p.options.NoType || class == "id" && p.options.NoID || class == "retry" && p.options.NoRetry {
				text = "(" + text + ")"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("| **all** |")
	for _, p := range peers {
		fmt.Fprintf(&b, " **%s** |", cell(p.name, func(ssetest.Result) bool { return true }))
	}
	b.WriteString("\n| late |")
	for _, p := range peers {
		fmt.Fprintf(&b, " %d |", len(names(results[p.name], late)))
	}
	b.WriteString("\n")
	for _, p := range peers {
		fmt.Fprintf(&b, "\n## %s\n\n%s, called through %s.\n", p.short, "`"+p.name+"` "+version(t, p.name), p.through)
		for _, c := range causes[p.short] {
			fmt.Fprintf(&b, "\n- %s (%s)", c.text, strings.Join(c.classes, ", "))
		}
		b.WriteString("\n")
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n\n\n"), []byte("\n\n"))
}

// names returns the names of the failed cases of a class.
func names(results []ssetest.Result, class string) []string {
	var all []string
	for _, r := range results {
		switch {
		case class == late && r.Late != nil:
			all = append(all, r.Class+"/"+r.Name)
		case r.Class == class && r.Err != nil:
			all = append(all, r.Name)
		}
	}
	return all
}

// version returns the version of a module in go.mod.
func version(t *testing.T, module string) string {
	if module == peers[0].name {
		return "of this repository"
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}
