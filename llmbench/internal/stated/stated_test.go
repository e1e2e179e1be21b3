package stated

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestLines checks what is said about each limit that a load reaches, and that nothing is said about the others.
func TestLines(t *testing.T) {
	load := func(users float64, settings map[string]string, figures map[string]float64) Load {
		return Load{Name: map[float64]string{0: "4 req/s", 4: "4 users", 64: "64 users"}[users], Users: users,
			Setting: func(key string) string { return settings[key] },
			Figure:  func(unit string) (float64, bool) { v, known := figures[unit]; return v, known }}
	}
	llama := map[string]string{"server": "llama.cpp", "slots": "4"}
	for _, c := range []struct {
		name  string
		loads []Load
		want  []string
	}{
		{"nothing", nil, nil},
		{"nothing stated", []Load{load(64, nil, nil)}, nil},
		{"as many users as slots", []Load{load(4, llama, nil)}, nil},
		{"an open loop", []Load{load(0, llama, nil)}, nil},
		{"slots", []Load{load(4, llama, nil), load(64, llama, nil)}, []string{"llama.cpp serves 4 requests at once: the others only wait, 60 of 64 users. To serve more, start it with a larger -np."}},
		{"slots of an unknown server", []Load{load(64, map[string]string{"slots": "8"}, nil)}, []string{"The server serves 8 requests at once: the others only wait, 56 of 64 users. To serve more, raise its limit."}},
		{"one slot", []Load{load(4, map[string]string{"slots": "1"}, nil)}, []string{"The server serves 1 request at once: the others only wait, 3 of 4 users. To serve more, raise its limit."}},
		{"no number", []Load{load(64, map[string]string{"slots": "many", "command": "serve --max-num-seqs"}, nil)}, nil},
		{"a command line", []Load{load(64, map[string]string{"command": "--model m --max-num-seqs=16 --x"}, nil)}, []string{"The server serves 16 requests at once: the others only wait, 48 of 64 users. To serve more, start it with a larger --max-num-seqs."}},
		{"preemptions", []Load{load(4, nil, map[string]float64{preempted: 0}), load(64, nil, map[string]float64{preempted: 12, kvUsed: 100})},
			[]string{"The server preempted up to 12 requests in a pass, at 64 users, for lack of KV cache: they begin again. Give the cache more memory, or send less load."}},
		{"a full cache", []Load{load(4, nil, map[string]float64{kvUsed: 50}), load(64, nil, map[string]float64{kvUsed: 97})},
			[]string{"The KV cache of the server was up to 97 % full, at 64 users: more load will wait. Give the cache more memory."}},
		{"a queue", []Load{load(0, nil, map[string]float64{queued: 30e6, "p50-ttft-ns": 200e6})},
			[]string{"Requests waited up to 30 ms in the queue of the server, at 4 req/s, of a TTFT of 200 ms. Raise its batch limit, or send less load."}},
		{"a long queue, and a long TTFT", []Load{load(64, nil, map[string]float64{queued: 12.34e9, "p50-ttft-ns": 61.5e9})},
			[]string{"Requests waited up to 12.3 s in the queue of the server, at 64 users, of a TTFT of 61.5 s. Raise its batch limit, or send less load."}},
		{"many preemptions", []Load{load(64, nil, map[string]float64{preempted: 1234})},
			[]string{"The server preempted up to 1230 requests in a pass, at 64 users, for lack of KV cache: they begin again. Give the cache more memory, or send less load."}},
		{"a short queue", []Load{load(64, nil, map[string]float64{queued: 1e6, "p50-ttft-ns": 200e6})}, nil},
		{"a queue without a TTFT", []Load{load(64, nil, map[string]float64{queued: 1e6})}, nil},
	} {
		assert.DeepEqual(t, Lines(c.loads), c.want)
	}
}
