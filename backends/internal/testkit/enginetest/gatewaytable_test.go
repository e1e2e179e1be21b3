//go:build unix

package enginetest_test

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

var (
	// gatewayBlock matches what TestGateways writes into GATEWAY.md, and gatewayRow a line of its table.
	gatewayBlock = regexp.MustCompile(`(?s)<!-- gateways -->\n(.*)<!-- /gateways -->`)
	gatewayRow   = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\S+) \| \d{4}-\d\d-\d\d \|.*\|$`)
	// held matches the note about a gateway that holds back the first tokens.
	held = regexp.MustCompile(`the gateway (holds back .*?) \(`)
)

// leastIdle is the share of CPU time that must be left at one user. Otherwise the times would be about a busy machine.
const leastIdle = 0.5

// processors returns the CPU time that this machine has spent idle, and in all, in ticks since its start
// (https://man7.org/linux/man-pages/man5/proc_stat.5.html).
func processors(t *testing.T) (idle, all float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	assert.NilError(t, err)
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:] {
		ticks, err := strconv.ParseFloat(field, 64)
		assert.NilError(t, err)
		if all += ticks; i == 3 || i == 4 { // idle, and idle while something waits for a disk
			idle += ticks
		}
	}
	return idle, all
}

// document measures the gateway at 1, 16 and 64 users, and writes the result into GATEWAY.md. The times are medians of six
// rounds, in milliseconds. On a busy machine they are withheld.
func (c gatewayContract) document(t *testing.T) {
	t.Helper()
	c.bin, c.program = c.Bin(t), scenariostest.Program(t)
	var first, gap []string
	streams, busy := "streams", false
	switch {
	case c.Holds:
		streams = "holds back the first tokens"
	case c.Rewrites:
		streams = "in clumps where it lacks CPU time"
	}
	for _, load := range []struct{ users, requests int }{{1, 12}, {16, 96}, {64, 256}} {
		if busy {
			first, gap = append(first, "–"), append(gap, "–")
			continue
		}
		_, url := mockserver.Start(t, pace)
		idle, all := processors(t)
		r := c.measure(t, 6, []string{url}, nil, "^BenchmarkGatewayOverhead$/./././^stream=true$", gatewayLoad(load.users, load.requests)...)
		assert.NilError(t, r.err, "%s", r.out)
		if load.users == 1 {
			now, allNow := processors(t)
			if share := (now - idle) / (allNow - all); share < leastIdle {
				busy = true
				t.Logf("%s: the machine is busy: %.0f %% of its CPU time were left at one user, want %.0f %%. Times are withheld: measure again on an idle machine", c.Name, 100*share, 100*leastIdle)
				first, gap = append(first, "–"), append(gap, "–")
				continue
			}
		}
		figure := func(unit string) string {
			for _, row := range r.rows {
				if v, has := row.Value(unit); has {
					return fmt.Sprintf("%.2f", v)
				}
			}
			return "–"
		}
		first, gap = append(first, figure("added-ttft-ms")), append(gap, figure("added-itl-ms"))
		if strings.Contains(r.out, buffersNote) {
			streams = fmt.Sprintf("in bursts at %d users", load.users)
		} else if m := held.FindStringSubmatch(r.out); m != nil && c.Holds {
			streams = m[1]
		}
	}
	if c.Buffers != nil {
		streams += "; buffers if it is set so"
	}
	looks := []string{"server: " + c.looks[fault.Reset]}
	if look := c.looks[fault.Stall]; look != "" {
		looks = append(looks, "timeout: "+look)
	}
	row := fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", c.Title, c.Version, time.Now().Format(time.DateOnly), strings.Join(first, ", "), strings.Join(gap, ", "), streams, strings.Join(looks, "; "))
	writeGatewayRow(t, c.Title, row)
}

// writeGatewayRow puts the row of a gateway into the table, which has the order of [enginetest.Gateways].
func writeGatewayRow(t *testing.T, title, row string) {
	text, err := os.ReadFile(gatewayDocument)
	assert.NilError(t, err)
	rows := map[string]string{}
	for _, m := range gatewayRow.FindAllStringSubmatch(gatewayBlock.FindString(string(text)), -1) {
		rows[m[1]] = m[0]
	}
	rows[title] = row
	table := fmt.Sprintf("Client, gateway and server shared %d cores. Times are medians in milliseconds, at 1, 16 and 64 users; – is a time that was withheld, also because the machine was busy.\n\n", runtime.NumCPU()) +
		"| gateway | version | run on | added to the first token | added to each gap | streams | what clients see of a cut |\n| --- | --- | --- | --- | --- | --- | --- |\n"
	for _, g := range enginetest.Gateways {
		if rows[g.Title] != "" {
			table += rows[g.Title] + "\n"
		}
	}
	assert.NilError(t, os.WriteFile(gatewayDocument, gatewayBlock.ReplaceAllLiteral(text, []byte("<!-- gateways -->\n"+table+"<!-- /gateways -->")), 0o644))
}

// TestGatewayVersions checks that the table in GATEWAY.md has the versions of the gateways that each run runs.
func TestGatewayVersions(t *testing.T) {
	text, err := os.ReadFile(gatewayDocument)
	assert.NilError(t, err)
	versions := map[string]string{}
	for _, m := range gatewayRow.FindAllStringSubmatch(gatewayBlock.FindString(string(text)), -1) {
		versions[m[1]] = m[2]
	}
	if len(versions) == 0 {
		t.Skip("GATEWAY.md has no table of gateways; write it on an idle machine by: go run ./.ci/engines -gateways -check -update all")
	}
	for _, g := range enginetest.Gateways {
		if g.Each {
			assert.Equal(t, versions[g.Title], g.Version, "GATEWAY.md; write it by: go run ./.ci/engines -gateways -check -update %s", g.Name)
		}
	}
}
