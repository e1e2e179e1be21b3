package backends

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// MindIE is Huawei's MindIE LLM server for Ascend NPUs
// (https://www.hiascend.com/document/detail/zh/mindie/). Its image needs a login
// at the registry, and GPUs the ids of the NPUs; their number is the model's
// world size. Quantization is what the model is, and no setting.
//
// The server's own config.json is kept but for what the fields say, and for
// what has to be so in a container: it listens on all addresses, without TLS.
// MaxIterTimes caps every answer, whatever was asked; raise it, MaxSeqLen and
// MaxInputTokens before anything is measured.
type MindIE struct {
	Container
	MaxSeqLen           int // tokens of a request, prompt and output together; 2560
	MaxInputTokens      int // tokens of a prompt; 2048
	MaxIterTimes        int // tokens of an answer; 512
	MaxPrefillBatchSize int // prompts in a step; 50
	MaxPrefillTokens    int // prompt tokens in a step; 8192
	MaxBatchSize        int // requests in a batch; 200
	MaxLinks            int // connections; above it they are refused; 1000
}

// Start returns the server as a target, once it is ready.
func (i MindIE) Start(tb testing.TB) llmbench.Target { tb.Helper(); return start(tb, i) }

// mindieRun changes the image's config.json as the file beside it says, and
// becomes the server: a list there stands for the one that is there, but for
// its first element, whose fields are changed one by one.
const mindieRun = `set -e
home=/usr/local/Ascend/mindie/latest/mindie-service
for f in /usr/local/Ascend/ascend-toolkit/set_env.sh /usr/local/Ascend/nnal/atb/set_env.sh /usr/local/Ascend/atb-models/set_env.sh /usr/local/Ascend/mindie/set_env.sh $home/set_env.sh; do
  if [ -e "$f" ]; then . "$f"; fi
done
python3 - $home/conf/config.json <<'PY'
import json, sys
def change(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        for k, v in new.items(): old[k] = change(old.get(k), v)
        return old
    if isinstance(old, list) and isinstance(new, list) and old and isinstance(old[0], dict):
        return [change(old[0], new[0])]
    return new
path = sys.argv[1]
conf = change(json.load(open(path)), json.load(open("/llmbench/settings.json")))
json.dump(conf, open(path, "w"), indent=1)
PY
chmod 640 $home/conf/config.json
cd $home
if command -v mindie_llm_server >/dev/null; then exec mindie_llm_server "$@"; fi
exec ./bin/mindieservice_daemon "$@"
`

func (i MindIE) spec() (spec, error) {
	m := i.make("mindie", "swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie:2.3.0-800I-A2-py311-openeuler24.03-lts", 1025)
	m.accelerators(ascend)
	m.needsDir()
	if m.gpus.vendor != ascend {
		m.wrong("GPUs", "%q: want the ids of NPUs, like 0,1", string(i.GPUs))
	}
	for _, dir := range []string{"/usr/local/Ascend/driver", "/usr/local/sbin"} {
		m.mounts = append(m.mounts, mount{dir, dir, true})
	}
	if m.shm == 0 {
		m.shm = 1 << 30
	}
	m.env["MINDIE_LOG_TO_STDOUT"] = "1"
	m.env["MIES_SERVICE_MONITOR_MODE"] = "1" // Prometheus metrics
	ids := make([]int, len(m.gpus.ids))      // the container has no other, and counts them from 0
	for n := range ids {
		ids[n] = n
	}
	type object = map[string]any
	server := object{"ipAddress": "0.0.0.0", "managementIpAddress": "0.0.0.0", "allowAllZeroIpListening": true, "port": 1025, "httpsEnabled": false}
	deploy := object{}
	model := object{"modelName": m.model, "modelWeightPath": m.path, "worldSize": len(ids)}
	schedule := object{}
	set := func(o object, field, name string, n int) {
		if m.positive(field, n) {
			o[name] = n
		}
	}
	set(deploy, "MaxSeqLen", "maxSeqLen", i.MaxSeqLen)
	set(deploy, "MaxInputTokens", "maxInputTokenLen", i.MaxInputTokens)
	set(schedule, "MaxIterTimes", "maxIterTimes", i.MaxIterTimes)
	set(schedule, "MaxPrefillBatchSize", "maxPrefillBatchSize", i.MaxPrefillBatchSize)
	set(schedule, "MaxPrefillTokens", "maxPrefillTokens", i.MaxPrefillTokens)
	set(schedule, "MaxBatchSize", "maxBatchSize", i.MaxBatchSize)
	set(server, "MaxLinks", "maxLinkNum", i.MaxLinks)
	deploy["ModelConfig"] = []any{model}
	all := object{
		"ServerConfig": server,
		"BackendConfig": object{
			"npuDeviceIds": [][]int{ids}, "interNodeTLSEnabled": false,
			"ModelDeployConfig": deploy, "ScheduleConfig": schedule,
		},
	}
	settings, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // numbers and strings: cannot happen
	}
	line, _ := json.Marshal(all) // as above
	m.config["settings"] = string(line)
	m.files = []file{{"/llmbench/settings.json", string(settings) + "\n"}, {"/llmbench/run.sh", mindieRun}}
	m.entry = []string{"bash", "/llmbench/run.sh"}
	m.config["npus"] = strconv.Itoa(len(ids))
	m.health = "/v2/health/ready"
	m.stats = stats{
		path: "/metrics", port: 1027,
		hitRate:  names{"npu_prefix_cache_hit_rate"},
		preempts: names{"num_preemptions_total"},
		kv:       names{"npu_cache_usage_perc"},
	}
	m.known = []known{
		{log: `Failed to init endpoint`, advice: "the server's settings are refused, or its port is taken: its own error is in the lines above"},
		{log: `ConfigManager init exception|Failed to initialize .* from JSON`, advice: "this version of MindIE does not take these settings: compare its conf/config.json with what was changed"},
		{log: `NPU out of memory|alloc device memory failed`, advice: "the NPUs' memory is too small for the model and its KV cache: give more ids, or lower MaxSeqLen"},
	}
	return m.end()
}
