package history

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// ttft matches the time to first token in a line of results.
var ttft = regexp.MustCompile(` \S+ p50-ttft-ns`)

// TestWithheld checks nights whose times were withheld, and that say why.
func TestWithheld(t *testing.T) {
	const bursts = "Unit bursts-% better=lower withheld=server says=buffers-streams:come-in-bursts\n"
	const client = "Unit client-% better=lower withheld=client\n"
	for _, c := range []struct {
		name   string
		unit   string
		nights []int // from the first of 40
		want   Verdict
		text   string
	}{
		{"one night", "bursts-%", []int{39}, CannotJudge, "cannot judge: serving.Serving/concurrency=1-8: the server buffers streams: 1 of 1 run come in bursts, 0 of 39 before; missing in this run: serving.Serving/concurrency=1-8 p50-ttft-ns"},
		{"two nights", "bursts-%", []int{38, 39}, Alarm, "alarm: serving.Serving/concurrency=1-8: the server buffers streams: 2 of 2 runs come in bursts, 0 of 38 before: missing in this run: serving.Serving/concurrency=1-8 p50-ttft-ns"},
		{"now and then", "bursts-%", []int{3, 9, 14, 15, 21, 22, 30, 38, 39}, CannotJudge, ""},
		{"over", "bursts-%", []int{30, 31, 32}, Nothing, "nothing: 3 series in line with what came before"},
		{"the client's doing", "client-%", []int{37, 38, 39}, CannotJudge, "cannot judge: serving.Serving/concurrency=1-8: the server: 3 of 3 runs have client-%, 0 of 37 before; missing in this run: serving.Serving/concurrency=1-8 p50-ttft-ns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project{nights: 40, rows: 1, noise: 0.01}
			p.edit = func(night int, lines []string) []string {
				for _, n := range c.nights {
					if n == night {
						lines[0] = bursts + client + ttft.ReplaceAllString(lines[0], " 100 "+c.unit)
					}
				}
				return lines
			}
			r := p.check(t)
			assert.Equal(t, r.Verdict, c.want, r.Summary)
			if c.text != "" {
				assert.Equal(t, r.Summary, c.text)
			}
			var b strings.Builder
			assert.NilError(t, r.Text(&b))
			assert.Equal(t, strings.Contains(b.String(), "\nwithheld in this run\n"), len(r.Withheld) > 0)
		})
	}
}
