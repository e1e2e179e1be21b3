package compose

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// root is the folder of the module, relative to this package.
const root = "../.."

// A service is one service in the file.
type service struct {
	Image       string
	Entrypoint  []string
	Command     []string
	Environment map[string]string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	DependsOn   []string `yaml:"depends_on"`
	Volumes     []string
	Ulimits     map[string]int
}

// projects counts the projects that were made.
var projects atomic.Int64

// A project runs the services of the file as containers.
type project struct {
	t        *testing.T
	name     string
	services map[string]service
	out      string // the folder that is used in place of the volume
}

// newProject reads the file, makes a network, and starts the services. The environment of all
// shards is changed by change. All containers and the network are removed when t ends.
func newProject(t *testing.T, change map[string]string) *project {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", "llmbench/scenarios").CombinedOutput(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LLMBENCH_REQUIRE"), ","), "docker") {
			t.Fatalf("no image: make image: %v\n%s", err, out)
		}
		t.Skipf("no Docker engine, or no image: make image: %v\n%s", err, out)
	}
	text, err := os.ReadFile(root + "/scenarios/deploy/compose.yaml")
	assert.NilError(t, err)
	text = regexp.MustCompile(`\$\{LLMBENCH_RENDEZVOUS_TOKEN:[^}]*\}`).ReplaceAll(text, []byte("a token that only this test knows"))
	var file struct {
		Services map[string]service
		Volumes  map[string]any
		Shard    any `yaml:"x-shard"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	assert.NilError(t, decoder.Decode(&file))
	p := &project{t: t, name: fmt.Sprintf("llmbench-compose-%d-%d", os.Getpid(), projects.Add(1)), services: file.Services, out: t.TempDir()}
	assert.NilError(t, os.Chmod(p.out, 0o777)) // the image runs as a different user
	docker(t, "network", "create", "--label", label, p.name)
	t.Cleanup(func() { docker(t, "network", "rm", p.name) })
	names := slices.Sorted(maps.Keys(p.services)) // in this order the mock server is the first
	for _, name := range names {
		s := p.services[name]
		if name != "mock" {
			maps.Copy(s.Environment, change)
		}
		p.start(name, s)
	}
	return p
}

// start starts a service in the way in which docker compose does.
func (p *project) start(name string, s service) {
	args := []string{"create", "--label", label, "--name", p.container(name), "--network", p.name, "--network-alias", name, "--hostname", name}
	for _, key := range slices.Sorted(maps.Keys(s.Environment)) {
		args = append(args, "--env", key+"="+s.Environment[key])
	}
	if s.ReadOnly {
		args = append(args, "--read-only")
	}
	for _, c := range s.CapDrop {
		args = append(args, "--cap-drop", c)
	}
	for _, o := range s.SecurityOpt {
		args = append(args, "--security-opt", o)
	}
	for key, n := range s.Ulimits {
		args = append(args, "--ulimit", fmt.Sprintf("%s=%d", key, n))
	}
	for _, v := range s.Volumes {
		_, folder, _ := strings.Cut(v, ":")
		args = append(args, "--volume", p.out+":"+folder)
	}
	command := s.Command
	if len(s.Entrypoint) > 0 {
		args = append(args, "--entrypoint", s.Entrypoint[0])
		command = append(s.Entrypoint[1:], command...)
	}
	docker(p.t, append(append(args, s.Image), command...)...)
	p.t.Cleanup(func() { docker(p.t, "rm", "--force", "--volumes", p.container(name)) })
	docker(p.t, "start", p.container(name))
}

func (p *project) container(service string) string { return p.name + "-" + service }

// wait waits until a service has ended, and returns its exit status and its log.
func (p *project) wait(service string) (status int, log string) {
	p.t.Helper()
	status, err := strconv.Atoi(dockerWait(p.t, "wait", p.container(service)))
	assert.NilError(p.t, err)
	out, err := exec.Command("docker", "logs", p.container(service)).CombinedOutput()
	assert.NilError(p.t, err)
	return status, string(out)
}

// run returns the records that the benchmark wrote.
func (p *project) run() *records.Run {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.out, "*.jsonl"))
	assert.NilError(p.t, err)
	assert.Equal(p.t, len(files), 1)
	run, err := records.Open(files[0])
	assert.NilError(p.t, err)
	return run
}

// shards holds the services that must agree.
var shards = []string{"shard0", "shard1", "shard2", "shard3"}

// maxSkew is the largest accepted difference between the instants at which two shards send their
// first requests.
const maxSkew = 5 * time.Millisecond

// stagger is the time between the first sends of two workers. It is equal to
// llmbench.DefaultStagger, which this package does not import because all of the client would come
// with it.
const stagger = 200 * time.Microsecond

// TestCompose runs the file without changes: 8,000 streams with two tokens a second each, in four
// containers. No stream may be lost. The client may be slow if this machine is slow.
func TestCompose(t *testing.T) {
	p := newProject(t, map[string]string{"LLMBENCH_CLIENT_BOUND": "report"})
	for _, name := range shards {
		status, log := p.wait(name)
		assert.Equal(t, status, 0, "%s:\n%s", name, log)
		result := regexp.MustCompile(`(?m)^BenchmarkServe/.*concurrency=8000.* req/s`).MatchString(log)
		assert.Equal(t, result, name == "shard0", "%s:\n%s", name, log)
		if name == "shard0" {
			t.Log(log)
		}
	}
	run := p.run()
	assert.Equal(t, run.Failed(), "")
	assert.Equal(t, run.Len(), 8000)
	taken := t.TempDir()
	docker(t, "cp", p.container("shard0")+":/records", taken) // docker compose cp does the same
	files, err := filepath.Glob(filepath.Join(taken, "records", "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	sent := map[int32]int{}
	least := map[int32]time.Duration{} // when each shard sent its first request
	for q := range run.All() {
		assert.Assert(t, q.OK() && q.OutputTokens == 16, "%+v", q)
		sent[q.Shard]++
	}
	for q := range run.All() {
		if late, any := least[q.Shard]; !any || q.Start < late {
			least[q.Shard] = q.Start
		}
	}
	assert.DeepEqual(t, sent, map[int32]int{0: 2000, 1: 2000, 2: 2000, 3: 2000})
	var skews []time.Duration
	for shard, first := range least {
		skews = append(skews, first-time.Duration(shard)*stagger)
	}
	skew := slices.Max(skews) - slices.Min(skews)
	t.Logf("start skew %v, clocks agree within %v", skew, run.End.ClockBound)
	if skew+run.End.ClockBound > maxSkew {
		t.Logf("more than %v: is this machine busy?", maxSkew)
	}
}

// TestCut disconnects, stops or kills a shard in the middle of the pass.
func TestCut(t *testing.T) {
	for name, cut := range map[string]func(p *project){
		"network": func(p *project) { docker(p.t, "network", "disconnect", p.name, p.container("shard2")) },
		"stop":    func(p *project) { docker(p.t, "pause", p.container("shard2")) },
		"kill":    func(p *project) { docker(p.t, "kill", p.container("shard2")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time passes until the other shards notice
			p := newProject(t, map[string]string{
				"LLMBENCH_CLIENT_BOUND": "report", "LLMBENCH_CONCURRENCY": "64", "LLMBENCH_REQUESTS": "6400", "LLMBENCH_OUTPUT": "2",
			})
			poll.WaitOn(t, func(poll.LogT) poll.Result {
				files, err := filepath.Glob(filepath.Join(p.out, "*.jsonl"))
				if err != nil {
					return poll.Error(err)
				}
				if len(files) == 1 {
					text, err := os.ReadFile(files[0])
					if err != nil {
						return poll.Error(err)
					}
					if bytes.Count(text, []byte(`"shard":2`)) > 10 { // by then the pass has begun
						return poll.Success()
					}
				}
				return poll.Continue("no records of shard 2")
			}, poll.WithDelay(50*time.Millisecond), poll.WithTimeout(3*time.Minute))
			began := time.Now()
			cut(p)
			want := regexp.MustCompile(`cannot judge: shard 2 \(shard2\) is lost: `)
			for _, name := range []string{"shard0", "shard1", "shard3"} {
				status, log := p.wait(name)
				assert.Equal(t, status, 1, log)
				assert.Assert(t, want.MatchString(log), "%s:\n%s", name, log)
			}
			t.Logf("all others ended %v after the cut", time.Since(began).Round(time.Millisecond))
			run := p.run()
			assert.Assert(t, want.MatchString(run.Failed()), run.Failed())
			assert.Assert(t, run.Len() > 10)
			if name == "network" { // the shard must notice this by itself
				status, log := p.wait("shard2")
				assert.Equal(t, status, 1, log)
				assert.Assert(t, strings.Contains(log, "cannot judge: shard 0 (shard0:9000) is lost"), log)
			}
		})
	}
}
