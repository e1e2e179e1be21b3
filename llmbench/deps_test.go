package llmbench

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const module = "github.com/seed-2b9cec6d/llmbench/"

// allowed lists, for each package of this module, the packages that it may import. A package of this module
// is named by its folder. A package of another module is named by the path of the module, or of a folder in
// it. The standard library may be imported everywhere, except for what unreachable forbids.
//
// The third column lists what test files may import in addition. All test files may import their own
// package, gotest.tools/v3 and github.com/google/go-cmp.
//
// A new package needs a row.
var allowed = []struct{ pkg, imports, tests string }{
	{"backends", "backends/internal/about backends/internal/launch backends/internal/ports backends/internal/probe backends/internal/program backends/internal/secret backends/internal/serverlog backends/metrics llmbench/redact llmbench llmbench/dialect llmbench/env llmbench/harness llmbench/sample mockserver mockserver/router github.com/kballard/go-shellquote golang.org/x/mod", "backends/internal/testkit/facts backends/internal/testkit/haproxytest backends/internal/testkit/llamatest backends/internal/testkit/llamatest/tinygguf backends/internal/testkit/nginxtest backends/internal/testkit/scenariostest llmbench/arrivals mockserver/engine mockserver/fault mockserver/testkit/memnet mockserver/shape golang.org/x/perf"},
	{"backends/container", "backends backends/container/internal/engine backends/internal/about backends/internal/launch backends/internal/probe backends/internal/serverlog backends/metrics llmbench/redact llmbench llmbench/harness github.com/moby/moby/api", "backends/internal/testkit/facts backends/internal/testkit/llamatest backends/internal/testkit/llamatest/tinygguf backends/internal/testkit/need backends/internal/testkit/ollamatest backends/internal/testkit/scenariostest github.com/moby/moby/client golang.org/x/perf mockserver/testkit/memnet llmbench/dialect"},
	{"backends/container/internal/engine", "backends/internal/serverlog llmbench/redact github.com/containerd/errdefs github.com/gofrs/flock github.com/moby/moby/api github.com/moby/moby/client github.com/testcontainers/testcontainers-go", ""},
	{"backends/gatewaytest", "backends/gatewaytest/internal/ask backends/internal/program llmbench/dialect llmbench/redact llmbench/robust llmbench/sse mockserver mockserver/engine mockserver/fault mockserver/shape", ""},
	{"backends/gatewaytest/cmd/gatewaycheck", "backends/gatewaytest llmbench/version", ""},
	{"backends/gatewaytest/internal/ask", "", ""},
	{"backends/internal/about", "backends/internal/probe backends/metrics llmbench llmbench/dialect", "mockserver/testkit/memnet"},
	{"backends/internal/launch", "backends/internal/probe backends/internal/secret backends/metrics llmbench/dialect github.com/kballard/go-shellquote", ""},
	{"backends/internal/ports", "", ""},
	{"backends/internal/probe", "llmbench llmbench/dialect llmbench/sample github.com/kballard/go-shellquote", "mockserver mockserver/testkit/memnet"},
	{"backends/internal/program", "golang.org/x/sys", ""},
	{"backends/internal/secret", "llmbench/env github.com/kballard/go-shellquote", ""},
	{"backends/internal/serverlog", "llmbench/redact", ""},
	{"backends/internal/testkit/buildcache", "backends/internal/testkit/need llmbench/env github.com/gofrs/flock", ""},
	{"backends/internal/testkit/child", "", ""},
	{"backends/internal/testkit/debroot", "backends/internal/testkit/buildcache backends/internal/testkit/child backends/internal/testkit/need llmbench/env", ""},
	{"backends/internal/testkit/enginetest", "backends/internal/ports backends/internal/testkit/buildcache backends/internal/testkit/child backends/internal/testkit/debroot backends/internal/testkit/haproxytest backends/internal/testkit/llamatest/tinygguf backends/internal/testkit/need backends/internal/testkit/nginxtest backends/internal/testkit/ollamatest backends/internal/program backends/internal/serverlog github.com/kballard/go-shellquote", "backends backends/gatewaytest backends/internal/testkit/scenariostest llmbench llmbench/dialect llmbench/records llmbench/sample mockserver mockserver/fault golang.org/x/perf"},
	{"backends/internal/testkit/enginetest/cmd/engines", "backends/internal/testkit/enginetest backends/internal/testkit/need", ""},
	{"backends/internal/testkit/facts", "backends/internal/launch", ""},
	{"backends/internal/testkit/haproxytest", "backends/internal/ports backends/internal/testkit/child backends/internal/testkit/debroot backends/internal/testkit/need backends/internal/serverlog", ""},
	{"backends/internal/testkit/llamatest", "backends/internal/ports backends/internal/testkit/buildcache backends/internal/testkit/child backends/internal/testkit/debroot backends/internal/testkit/llamatest/tinygguf backends/internal/testkit/need backends/internal/serverlog llmbench llmbench/sample gotest.tools/v3", "backends/internal/testkit/scenariostest"},
	{"backends/internal/testkit/llamatest/cmd/llamaserver", "backends/internal/testkit/llamatest", ""},
	{"backends/internal/testkit/llamatest/tinygguf", "", "backends/internal/testkit/llamatest benchdata/tokenizer golang.org/x/text"},
	{"backends/internal/testkit/need", "llmbench/env", ""},
	{"backends/internal/testkit/nginxtest", "backends/internal/testkit/child backends/internal/testkit/debroot backends/internal/testkit/need backends/internal/serverlog", ""},
	{"backends/internal/testkit/ollamatest", "backends/internal/ports backends/internal/testkit/buildcache backends/internal/testkit/child backends/internal/testkit/debroot backends/internal/testkit/llamatest/tinygguf backends/internal/testkit/need backends/internal/serverlog", "backends backends/internal/testkit/scenariostest benchdata/tokenizer llmbench llmbench/dialect llmbench/sample golang.org/x/perf"},
	{"backends/internal/testkit/ollamatest/cmd/ollamaserver", "backends/internal/testkit/need backends/internal/testkit/ollamatest", ""},
	{"backends/internal/testkit/scenariostest", "backends/internal/testkit/buildcache backends/internal/testkit/need", ""},
	{"backends/internal/testkit/standin", "backends/internal/testkit/facts mockserver", ""},
	{"backends/metrics", "backends/internal/probe llmbench llmbench/env llmbench/sample github.com/prometheus/client_model github.com/prometheus/common", "backends mockserver/testkit/memnet"},
	{"benchdata", "benchdata/internal/questions benchdata/tokenizer llmbench llmbench/arrivals llmbench/sample github.com/go-json-experiment/json github.com/klauspost/compress github.com/santhosh-tekuri/jsonschema/v6 gonum.org/v1/gonum", "llmbench/testkit/extracases golang.org/x/perf"},
	{"benchdata/internal/questions", "llmbench llmbench/check", ""},
	{"benchdata/tokenizer", "llmbench github.com/dlclark/regexp2/v2 golang.org/x/text", "mockserver/testkit/memnet"},
	{"llmbench", "llmbench/internal/hook llmbench/internal/price llmbench/arrivals llmbench/check llmbench/dialect llmbench/env llmbench/internal/audit llmbench/internal/conn llmbench/internal/control llmbench/internal/distortion llmbench/internal/endpoint llmbench/internal/judge llmbench/internal/lockstep llmbench/internal/mergepatch llmbench/internal/prefix llmbench/internal/priority llmbench/internal/process llmbench/redact llmbench/internal/resultline llmbench/internal/screen llmbench/internal/send llmbench/internal/shard llmbench/internal/store llmbench/records llmbench/sample github.com/aws/smithy-go/aws-http-auth golang.org/x/net", "benchdata llmbench/testkit/extracases llmbench/harness llmbench/internal/testkit/runtest llmbench/internal/strain mockserver mockserver/engine mockserver/fault mockserver/testkit/memnet mockserver/shape golang.org/x/perf golang.org/x/sys"},
	{"llmbench/arrivals", "", ""},
	{"llmbench/benchfile", "llmbench/internal/benchline golang.org/x/perf", ""},
	{"llmbench/check", "llmbench/sample github.com/go-json-experiment/json", ""},
	{"llmbench/cmd/benchgate", "llmbench/cmd/benchgate/internal/command llmbench/cmd/benchgate/internal/convert llmbench/cmd/benchgate/internal/historycmd llmbench/cmd/benchgate/internal/files llmbench/cmd/benchgate/internal/measure llmbench/cmd/internal/cli llmbench/version", "llmbench/gate llmbench/cmd/benchgate/internal/proc llmbench/cmd/benchgate/internal/source llmbench/internal/history llmbench/internal/testkit/runtest mockserver go.yaml.in/yaml/v3 golang.org/x/text"},
	{"llmbench/cmd/benchgate/internal/bisect", "llmbench/robust", "llmbench/gate"},
	{"llmbench/cmd/benchgate/internal/command", "llmbench/redact", ""},
	{"llmbench/cmd/benchgate/internal/convert", "llmbench/cmd/benchgate/internal/command llmbench/cmd/benchgate/internal/dashboard llmbench/cmd/internal/cli llmbench/gate llmbench/internal/resultfile", ""},
	{"llmbench/cmd/benchgate/internal/dashboard", "llmbench/internal/numbers llmbench/redact llmbench/benchfile llmbench/internal/benchline llmbench/gate llmbench/sample go.yaml.in/yaml/v3 golang.org/x/perf", "llmbench/internal/resultfile github.com/santhosh-tekuri/jsonschema/v6"},
	{"llmbench/cmd/benchgate/internal/historycmd", "llmbench/cmd/benchgate/internal/command llmbench/cmd/benchgate/internal/proc llmbench/cmd/benchgate/internal/source llmbench/cmd/internal/cli llmbench/gate llmbench/internal/history llmbench/internal/resultfile github.com/gofrs/flock github.com/kballard/go-shellquote", ""},
	{"llmbench/cmd/benchgate/internal/files", "llmbench/cmd/benchgate/internal/command llmbench/gate llmbench/internal/resultfile", ""},
	{"llmbench/cmd/benchgate/internal/measure", "llmbench/internal/markdown llmbench/cmd/benchgate/internal/bisect llmbench/cmd/benchgate/internal/command llmbench/cmd/benchgate/internal/files llmbench/cmd/benchgate/internal/proc llmbench/cmd/benchgate/internal/source llmbench/cmd/internal/cli llmbench/env llmbench/gate llmbench/internal/numbers llmbench/internal/shard llmbench/robust github.com/gofrs/flock github.com/schollz/progressbar/v3 golang.org/x/perf golang.org/x/term llmbench/internal/benchline", "llmbench/internal/testkit/runtest"},
	{"llmbench/cmd/benchgate/internal/proc", "", ""},
	{"llmbench/cmd/benchgate/internal/source", "llmbench/cmd/benchgate/internal/command llmbench/cmd/benchgate/internal/proc", ""},
	{"llmbench/cmd/benchreport", "llmbench/internal/price llmbench/redact llmbench/internal/live llmbench/cmd/internal/cli llmbench/internal/compat llmbench/gate llmbench/records llmbench/report llmbench/internal/resultfile llmbench/sample llmbench/version github.com/kballard/go-shellquote", ""},
	{"llmbench/internal/live", "llmbench/records llmbench/report llmbench/sample github.com/kballard/go-shellquote", "llmbench mockserver mockserver/testkit/memnet"},
	{"llmbench/cmd/internal/cli", "", ""},
	{"llmbench/dialect", "llmbench/dialect/internal/jsonwalk llmbench/internal/frames llmbench/redact llmbench/sse", "llmbench/testkit/extracases"},
	{"llmbench/dialect/internal/jsonwalk", "github.com/go-json-experiment/json", ""},
	{"llmbench/env", "", ""},
	{"llmbench/gate", "llmbench/internal/rowname llmbench/internal/markdown llmbench/internal/numbers llmbench/redact llmbench/internal/benchline llmbench/gate/internal/decide golang.org/x/perf", "llmbench/internal/compare"},
	{"llmbench/gate/internal/decide", "llmbench/internal/student", ""},
	{"llmbench/harness", "llmbench/internal/process", ""},
	{"llmbench/internal/audit", "llmbench/sample", ""},
	{"llmbench/internal/benchline", "golang.org/x/perf golang.org/x/text", ""},
	{"llmbench/internal/cgroup", "", ""},
	{"llmbench/internal/columns", "llmbench/sample", ""},
	{"llmbench/internal/compare", "llmbench/robust llmbench/internal/numbers", "golang.org/x/perf"},
	{"llmbench/internal/compat", "llmbench/records llmbench/sample golang.org/x/mod", "llmbench/dialect"},
	{"llmbench/internal/conn", "llmbench/redact llmbench/sample golang.org/x/net golang.org/x/sys", "llmbench/internal/testkit/runtest"},
	{"llmbench/internal/control", "llmbench/dialect llmbench/internal/conn llmbench/internal/distortion llmbench/internal/endpoint llmbench/internal/send llmbench/sample", "llmbench/internal/testkit/runtest"},
	{"llmbench/internal/distortion", "llmbench/arrivals llmbench/internal/lockstep llmbench/internal/strain llmbench/sample", ""},
	{"llmbench/internal/endpoint", "", ""},
	{"llmbench/internal/fields", "llmbench/sample", ""},
	{"llmbench/internal/frames", "llmbench/sse", ""},
	{"llmbench/internal/history", "llmbench/internal/rowname llmbench/internal/markdown llmbench/internal/numbers llmbench/redact llmbench/benchfile llmbench/internal/benchline llmbench/gate llmbench/internal/history/internal/watch llmbench/robust golang.org/x/perf llmbench/sample", "golang.org/x/net"},
	{"llmbench/internal/history/internal/watch", "llmbench/robust llmbench/internal/student", ""},
	{"llmbench/internal/judge", "llmbench/internal/distortion llmbench/internal/lockstep llmbench/internal/numbers llmbench/internal/prefix llmbench/records llmbench/sample", ""},
	{"llmbench/internal/lockstep", "", "llmbench/internal/testkit/runtest"},
	{"llmbench/internal/markdown", "", ""},
	{"llmbench/internal/mergepatch", "github.com/go-json-experiment/json", ""},
	{"llmbench/internal/numbers", "", ""},
	{"llmbench/internal/prefix", "llmbench/sample", ""},
	{"llmbench/internal/hook", "llmbench/env github.com/kballard/go-shellquote", ""},
	{"llmbench/internal/price", "", ""},
	{"llmbench/internal/priority", "llmbench/internal/cgroup golang.org/x/sys", ""},
	{"llmbench/internal/process", "llmbench/internal/hook llmbench/internal/numbers llmbench/internal/price llmbench/redact llmbench/env llmbench/internal/distortion llmbench/internal/endpoint llmbench/internal/prefix llmbench/internal/resultline llmbench/internal/screen llmbench/internal/send llmbench/internal/shard llmbench/internal/store llmbench/records llmbench/sample", ""},
	{"llmbench/internal/resultfile", "llmbench/benchfile llmbench/internal/benchline llmbench/internal/resultfile/internal/document llmbench/robust golang.org/x/perf llmbench/sample", ""},
	{"llmbench/internal/resultfile/internal/document", "github.com/go-json-experiment/json go.yaml.in/yaml/v3", ""},
	{"llmbench/internal/resultline", "llmbench/redact llmbench/sample", ""},
	{"llmbench/internal/rowname", "llmbench/internal/columns llmbench/internal/compare llmbench/sample golang.org/x/perf", ""},
	{"llmbench/internal/screen", "llmbench/internal/stated llmbench/internal/numbers llmbench/redact llmbench/internal/compare llmbench/robust github.com/jedib0t/go-pretty github.com/schollz/progressbar/v3 golang.org/x/sys golang.org/x/term llmbench/internal/columns llmbench/sample", "llmbench/internal/testkit/runtest"},
	{"llmbench/internal/send", "llmbench/arrivals llmbench/check llmbench/dialect llmbench/internal/audit llmbench/internal/conn llmbench/internal/endpoint llmbench/internal/frames llmbench/redact llmbench/internal/strain llmbench/internal/wake llmbench/sample llmbench/sse", "llmbench/testkit/extracases github.com/jarcoal/httpmock"},
	{"llmbench/internal/shard", "llmbench/redact llmbench/env", "mockserver/testkit/memnet"},
	{"llmbench/internal/stated", "llmbench/internal/numbers llmbench/sample", ""},
	{"llmbench/internal/store", "llmbench/internal/fields llmbench/sample", ""},
	{"llmbench/internal/strain", "llmbench/internal/cgroup", ""},
	{"llmbench/internal/student", "github.com/aclements/go-moremath", ""},
	{"llmbench/internal/testkit/runtest", "github.com/creack/pty gotest.tools/v3", ""},
	{"llmbench/internal/wake", "golang.org/x/sys", ""},
	{"llmbench/records", "llmbench/arrivals llmbench/internal/fields llmbench/sample github.com/go-json-experiment/json", "llmbench llmbench/internal/testkit/runtest mockserver mockserver/shape"},
	{"llmbench/redact", "", ""},
	{"llmbench/report", "llmbench/internal/markdown llmbench/redact llmbench/benchfile llmbench/internal/compare llmbench/internal/compat llmbench/gate llmbench/report/internal/answer llmbench/report/internal/chart llmbench/report/internal/pictures llmbench/report/internal/results llmbench/report/internal/systems llmbench/sample", ""},
	{"llmbench/report/internal/answer", "llmbench/internal/rowname llmbench/internal/stated llmbench/internal/compare llmbench/gate llmbench/internal/numbers llmbench/records llmbench/report/internal/chart llmbench/report/internal/human llmbench/report/internal/results llmbench/report/internal/systems llmbench/internal/columns llmbench/sample", ""},
	{"llmbench/report/internal/chart", "llmbench/redact gonum.org/v1/plot", ""},
	{"llmbench/report/internal/human", "llmbench/report/internal/chart llmbench/sample llmbench/internal/columns", ""},
	{"llmbench/report/internal/pictures", "llmbench/arrivals llmbench/internal/compare llmbench/gate llmbench/internal/numbers llmbench/records llmbench/report/internal/answer llmbench/report/internal/chart llmbench/report/internal/human llmbench/report/internal/results llmbench/report/internal/systems llmbench/sample llmbench/internal/columns", ""},
	{"llmbench/report/internal/results", "llmbench/internal/price llmbench/benchfile llmbench/internal/benchline llmbench/internal/compare llmbench/gate llmbench/internal/numbers llmbench/records llmbench/internal/resultfile llmbench/robust llmbench/sample", ""},
	{"llmbench/report/internal/systems", "llmbench/benchfile llmbench/internal/columns llmbench/internal/compare llmbench/report/internal/results llmbench/sample llmbench/search", ""},
	{"llmbench/reportmain", "llmbench llmbench/internal/live llmbench/internal/price llmbench/internal/process llmbench/internal/shard llmbench/report", ""},
	{"llmbench/robust", "", ""},
	{"llmbench/sample", "", ""},
	{"llmbench/search", "", ""},
	{"llmbench/sse", "", "llmbench/testkit/extracases"},
	{"llmbench/sse/ssetest", "", "llmbench/testkit/extracases llmbench/sse"},
	{"llmbench/testkit/extracases", "llmbench/env", ""},
	{"llmbench/version", "", ""},
	{"mockserver", "mockserver/engine mockserver/fault mockserver/internal/frame mockserver/internal/jsontext mockserver/internal/pace mockserver/internal/sigv4 mockserver/internal/strictjson mockserver/internal/vocab mockserver/internal/wire mockserver/oracle mockserver/internal/profiles mockserver/shape github.com/prometheus/client_golang golang.org/x/net golang.org/x/sys", "mockserver/testkit/memnet"},
	{"mockserver/cmd/calibrate", "mockserver/internal/calibrate mockserver/cmd/internal/command mockserver/internal/profiles", "mockserver/internal/testkit/flagdoc"},
	{"mockserver/cmd/internal/command", "", ""},
	{"mockserver/cmd/mockserver", "mockserver mockserver/cmd/internal/command mockserver/fault mockserver/shape", ""},
	{"mockserver/cmd/simulate", "mockserver mockserver/cmd/internal/command mockserver/engine mockserver/router golang.org/x/perf llmbench/sample", "mockserver/internal/testkit/flagdoc"},
	{"mockserver/engine", "", ""},
	{"mockserver/fault", "", ""},
	{"mockserver/internal/calibrate", "llmbench/benchfile llmbench/records mockserver/engine mockserver/internal/profiles gonum.org/v1/gonum llmbench/sample", ""},
	{"mockserver/internal/frame", "mockserver/shape", "mockserver/internal/jsontext"},
	{"mockserver/internal/jsontext", "", ""},
	{"mockserver/internal/pace", "mockserver/engine", ""},
	{"mockserver/internal/profiles", "mockserver/engine", ""},
	{"mockserver/internal/sigv4", "", ""},
	{"mockserver/internal/strictjson", "", ""},
	{"mockserver/internal/testkit/flagdoc", "", ""},
	{"mockserver/internal/vocab", "mockserver/internal/jsontext mockserver/shape", ""},
	{"mockserver/internal/wire", "mockserver/engine mockserver/internal/frame mockserver/internal/jsontext mockserver/internal/vocab mockserver/shape", ""},
	{"mockserver/oracle", "", ""},
	{"mockserver/router", "", "mockserver mockserver/engine mockserver/fault"},
	{"mockserver/shape", "mockserver/internal/strictjson", ""},
	{"mockserver/testkit/memnet", "", ""},
	{"scenarios", "benchdata benchdata/tokenizer llmbench llmbench/arrivals llmbench/dialect llmbench/env llmbench/harness llmbench/robust llmbench/sample llmbench/search scenarios/internal/agree scenarios/internal/limits scenarios/internal/patient", "backends backends/container llmbench/gate llmbench/reportmain llmbench/version mockserver mockserver/engine mockserver/fault mockserver/testkit/memnet mockserver/oracle mockserver/router mockserver/shape scenarios/internal/testkit/chunkclient github.com/kballard/go-shellquote golang.org/x/perf golang.org/x/sys"},
	{"scenarios/internal/agree", "llmbench llmbench/sample", ""},
	{"scenarios/internal/limits", "llmbench llmbench/sample", "mockserver"},
	{"scenarios/internal/patient", "llmbench/sample github.com/cenkalti/backoff/v5", ""},
	{"scenarios/internal/testkit/chunkclient", "llmbench llmbench/sample golang.org/x/sys", ""},
	{"scenarios/internal/testkit/chunkclient/cmd/leanclient", "scenarios/internal/testkit/chunkclient", ""},
}

// unreachable lists what the packages below the folders in from must not link, directly or through other
// packages. Packages below the folders in except are exempt. A name with a "=" stands for the package
// itself and not for the packages below it. The folder "" stands for all packages. Test files do not count.
var unreachable = []struct{ from, except, to, why string }{
	{"", "backends/container", "github.com/testcontainers github.com/moby github.com/docker", "only the package that starts containers links a Docker client"},
	{"llmbench/sample llmbench/arrivals llmbench/env llmbench/records llmbench/internal/columns llmbench/internal/compare llmbench/internal/benchline llmbench/internal/compat llmbench/internal/history llmbench/internal/resultfile llmbench/benchfile llmbench/report llmbench/gate llmbench/search llmbench/cmd", "llmbench/cmd/benchgate",
		"testing =llmbench llmbench/internal/conn llmbench/internal/process llmbench/internal/send golang.org/x/net/proxy", "what reads results does not link the client"},
	{"llmbench/cmd/benchgate", "", "testing =llmbench llmbench/internal/conn golang.org/x/net/proxy", "what judges results does not link the client; it keeps shards in step by llmbench/internal/shard"},
	{"llmbench/sample llmbench/arrivals llmbench/records llmbench/internal/compat llmbench/benchfile llmbench/report", "",
		"net/http github.com/schollz/progressbar", "what reads results does not link the client"},
	{"mockserver", "mockserver/internal/calibrate mockserver/cmd/calibrate mockserver/cmd/simulate", "llmbench", "the client and the mock share no code, so that no fault can hide: the wire is the contract"},
	{"mockserver", "", "=llmbench llmbench/dialect llmbench/sse backends benchdata scenarios", "the mock does not depend on what measures it"},
	{"mockserver/engine mockserver/internal/calibrate", "", "net", "the model of a server does no I/O, and calibration runs in virtual time"},
	{"llmbench", "", "mockserver backends benchdata scenarios", "the harness does not depend on servers and data"},
	{"=llmbench llmbench/harness llmbench/internal llmbench/sample llmbench/dialect llmbench/sse", "llmbench/internal/benchline llmbench/internal/history llmbench/internal/live llmbench/internal/resultfile llmbench/internal/rowname", "golang.org/x/perf gonum.org github.com/prometheus", "the client computes no statistics and draws nothing"},
	{"llmbench/gate llmbench/internal/history llmbench/cmd/benchgate", "", "gonum.org/v1/plot", "the gate draws nothing"},
	{"backends", "", "gonum.org scenarios benchdata", "a server does not depend on data and scenarios"},
	{"benchdata", "", "backends mockserver", "data does not depend on servers"},
	{"scenarios", "", "backends mockserver", "scenarios take any target"},
	{"backends/gatewaytest", "", "=llmbench llmbench/internal/conn =backends backends/container backends/metrics benchdata scenarios gonum.org", "a test of a gateway needs the mock and what reads answers, and no harness"},
}

// covers reports whether a list of names, as in unreachable, includes the package path.
func covers(names, path string) bool {
	for name := range strings.FieldsSeq(names) {
		exact, isExact := strings.CutPrefix(name, "=")
		if path == exact || !isExact && strings.HasPrefix(path, name+"/") {
			return true
		}
	}
	return false
}

// goList runs go list and splits each line of its output into words.
func goList(t *testing.T, args ...string) (lines [][]string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
	assert.NilError(t, err)
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Fields(strings.ReplaceAll(line, module, "")))
	}
	return lines
}

// TestImports checks that each package imports only what its row in allowed lists. On Linux it also checks
// that each package imports everything that its row lists. On other systems some packages lack files.
func TestImports(t *testing.T) {
	known := map[string]bool{}
	for _, row := range allowed {
		assert.Assert(t, !known[row.pkg], "%s has two rows", row.pkg)
		known[row.pkg] = true
	}
	exists := map[string]bool{}
	for _, words := range goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}} test {{join .TestImports " "}} {{join .XTestImports " "}}`, module+"...") {
		pkg := words[0]
		exists[pkg] = true
		i := slices.IndexFunc(allowed, func(row struct{ pkg, imports, tests string }) bool { return row.pkg == pkg })
		if i < 0 {
			if !strings.HasPrefix(pkg, ".ci/") {
				t.Errorf("%s has no row in allowed", pkg)
			}
			continue
		}
		test := slices.Index(words, "test")
		row := allowed[i]
		checkImports(t, pkg, words[1:test], row.imports, "", known)
		checkImports(t, pkg+" in tests", words[test+1:], row.tests, row.imports+" "+pkg+" gotest.tools/v3 github.com/google/go-cmp", known)
	}
	for pkg := range known {
		assert.Check(t, exists[pkg], "allowed has a row for %s, which does not exist", pkg)
	}
}

// checkImports checks that a package imports only what its row or the list of common names allows. Each
// name in the row must be used.
func checkImports(t *testing.T, pkg string, imports []string, row, common string, known map[string]bool) {
	names := strings.Fields(row + " " + common)
	for _, path := range imports {
		ours := known[path]
		thirdParty := strings.Contains(strings.Split(path, "/")[0], ".")
		if ours && !slices.Contains(names, path) || thirdParty && !covers(row+" "+common, path) {
			t.Errorf("%s imports %s, which its row in allowed does not list", pkg, path)
		}
	}
	for name := range strings.FieldsSeq(row) {
		uses := func(path string) bool { return path == name || !known[name] && covers(name, path) }
		if runtime.GOOS == "linux" && !slices.ContainsFunc(imports, uses) {
			t.Errorf("%s does not import %s any more, which its row in allowed lists", pkg, name)
		}
	}
}

// inKit reports whether a package is in the test kit: it is below a folder that is called testkit.
func inKit(pkg string) bool { return slices.Contains(strings.Split(pkg, "/"), "testkit") }

// TestKit checks that the product and the test kit are apart: outside the kit only test files import the kit, and an
// internal package that only test files and the kit import is in the kit.
func TestKit(t *testing.T) {
	importedBy := map[string]int{} // number of packages outside the kit that import a package, tests aside
	var internal []string          // packages outside the kit that users cannot import
	for _, words := range goList(t, "-f", `{{.ImportPath}} {{.Name}} {{join .Imports " "}}`, module+"...") {
		pkg, name := words[0], words[1]
		if name != "main" && !inKit(pkg) && slices.Contains(strings.Split(pkg, "/"), "internal") {
			internal = append(internal, pkg)
		}
		if inKit(pkg) {
			continue
		}
		for _, path := range words[2:] {
			importedBy[path]++
			assert.Check(t, !inKit(path), "%s imports %s outside of tests", pkg, path)
		}
	}
	assert.Assert(t, len(internal) > 10, "%v", internal)
	for _, pkg := range internal {
		assert.Check(t, importedBy[pkg] > 0, "%s is for tests alone: move it to a folder testkit", pkg)
	}
}

// TestUnreachable checks that no package links what unreachable forbids.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, words := range goList(t, "-f", `{{.ImportPath}} {{join .Deps " "}}`, module+"...") {
		for _, row := range unreachable {
			if row.from != "" && !covers(row.from, words[0]) || covers(row.except, words[0]) {
				continue
			}
			for _, path := range words[1:] {
				if covers(row.to, path) {
					t.Errorf("%s links %s: %s", words[0], path, row.why)
				}
			}
		}
	}
}

// TestNoK6 checks that this module does not depend on k6, which is published under the AGPL. The extension
// of k6 is a separate module.
func TestNoK6(t *testing.T) {
	modules := goList(t, "-m", "-f", "{{.Path}}", "all")
	assert.Assert(t, len(modules) > 10, "%v", modules)
	for _, words := range modules {
		assert.Check(t, !strings.HasPrefix(words[0], "go.k6.io/") && !strings.HasPrefix(words[0], "github.com/grafana/"), words[0])
	}
}
