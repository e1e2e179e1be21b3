package llmbench

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// linkHelper is the environment variable that makes a process run the measurement of TestShardsLink inside
// the network namespace. Its value is how long the link stops.
const linkHelper = "TEST_LINK_STOPS"

// The addresses in the namespaces of TestShardsLink.
const (
	linkNear = "10.77.9.1" // of the server, and of shards 0 and 1
	linkFar  = "10.77.9.2" // of shard 2
)

// TestShardsLink stops the link between shard 2 and everything else in the middle of a pass: no packet
// arrives, and no connection ends. The result must make that known. After a stop of 1 s or 3 s, the metrics
// must be marked as doubtful. After 9 s, having no result is also acceptable: TCP retransmits so seldom by
// then that no byte may arrive for more than 10 s.
//
// The shards are in network namespaces, which end with their processes. The test needs root, or a system on
// which every user may create namespaces.
func TestShardsLink(t *testing.T) {
	if text := os.Getenv(linkHelper); text != "" {
		stops, err := time.ParseDuration(text)
		assert.NilError(t, err)
		shardsLink(t, stops)
		return
	}
	t.Parallel()
	for _, program := range []string{"ip", "bridge", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no network namespaces: %v", err)
		}
	}
	for _, stops := range []time.Duration{time.Second, 3 * time.Second, 9 * time.Second} {
		t.Run(stops.String(), func(t *testing.T) {
			t.Parallel() // most of the time is spent on waiting for the link
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShardsLink$", "-test.v", "-test.timeout=3m")
			cmd.Env = append(os.Environ(), linkHelper+"="+stops.String())
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
			if os.Geteuid() != 0 {
				cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
				cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
			}
			if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
				t.Skipf("no network namespaces: %v", err)
			} else {
				assert.NilError(t, err)
			}
			err := cmd.Wait()
			if _, why, skipped := strings.Cut(out.String(), noBridge); skipped {
				t.Skipf("%s%s", noBridge, why)
			}
			assert.NilError(t, err, "%s", &out)
			t.Log(regexp.MustCompile(`(?m)^.*the link was down.*$`).FindString(out.String()))
		})
	}
}

// noBridge is the beginning of the reason for skipping TestShardsLink on a machine that cannot run it.
const noBridge = "no network between namespaces: "

// network runs commands that set up a network. It skips t if the first command fails.
func network(t *testing.T, lines ...string) {
	t.Helper()
	for i, line := range lines {
		words := strings.Fields(line)
		out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
		if err != nil && i == 0 {
			t.Skipf("%s%s: %v: %s", noBridge, line, err, out)
		}
		assert.NilError(t, err, "%s: %s", line, out)
	}
}

// shardsLink runs three shards, one of which is behind a link that stops. It must run in its own network
// namespace.
func shardsLink(t *testing.T, stops time.Duration) {
	network(t, "ip link add switch type bridge", "ip addr add "+linkNear+"/24 dev switch", "ip link set switch up", "ip link set lo up")
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	var far atomic.Int64 // number of requests of shard 2
	const before = 3 + 3 // in the warm-up, and in the pass before the link stops
	stopped := make(chan bool)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.RemoteAddr, linkFar+":") && far.Add(1) > before {
			<-stopped // makes the pass last longer than the link is down
		}
		mock.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener, err = net.Listen("tcp", linkNear+":8000")
	assert.NilError(t, err)
	server.Start()
	defer server.Close()

	all := startShards(t, 3, server.URL, "^closed$", func(i int, p *shardProcess) {
		p.Env = append(p.Env, "LLMBENCH_RENDEZVOUS="+linkNear+":9000", "LLMBENCH_RENDEZVOUS_TOKEN=a token of this test")
		if i == 2 {
			p.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		}
	})
	id := strconv.Itoa(all[2].Process.Pid)
	network(t, "ip link add port type veth peer name eth0 netns "+id, "ip link set port master switch", "ip link set port up",
		"nsenter --target="+id+" --net ip link set lo up", "nsenter --target="+id+" --net ip addr add "+linkFar+"/24 dev eth0",
		"nsenter --target="+id+" --net ip link set eth0 up")
	runtest.Until(t, "shard 2 is in the middle of the pass", func() bool { return far.Load() > before })

	const disabled, forwarding = "0", "3" // states of a bridge port; the port keeps its carrier in both
	network(t, "bridge link set dev port state "+disabled)
	time.Sleep(stops)
	network(t, "bridge link set dev port state "+forwarding)
	close(stopped)

	codes := waitShards(all)
	log := all[0].text()
	if silence := regexp.MustCompile(`llmbench warns \(shards\): pass \d+: nothing was heard of shard 2 \(\S+\) for ([\d.]+m?s)`).FindStringSubmatch(log); silence != nil {
		assert.Equal(t, fmt.Sprint(codes), "[0 0 0]", "%s", outputs(all))
		heard, err := time.ParseDuration(silence[1])
		assert.NilError(t, err)
		assert.Assert(t, heard >= stops, "%v", heard)
		t.Logf("the link was down for %v: %s", stops, silence[0])
		return
	}
	lost := regexp.MustCompile(`cannot judge: shard 2 \(\S+\) is lost: nothing heard for 10s`)
	for _, p := range all[:2] {
		assert.Assert(t, lost.MatchString(p.text()), "the link was down for %v, and nothing is told:\n%s", stops, p.text())
		rows, _ := results(t, p.stdout.String())
		assert.Equal(t, len(rows), 0)
	}
	assert.Assert(t, !slices.Contains(codes, 0), "%v%s", codes, outputs(all))
	assert.Assert(t, stops >= 9*time.Second, "lost after %v:\n%s", stops, log)
	t.Logf("the link was down for %v: %s", stops, lost.FindString(log))
}
