package backends

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// MindIE is Huawei's MindIE LLM server for Ascend NPUs
// (https://www.hiascend.com/document/detail/zh/mindie/). Pulling its image requires a login at the
// registry. GPUs must list the ids of the NPUs; their number is the model's world size. Quantization is a
// property of the model and not a setting.
//
// The image's config.json is changed only where a field is set, and, as a container needs, to listen on all
// addresses without TLS. MaxIterTimes limits the length of every answer, whatever the request asks for:
// before you measure, raise MaxIterTimes, MaxSeqLen and MaxInputTokens. The folder of the weights must
// belong to the user of the container. The server writes its log to files, because writing it to standard
// output as well slows the server down. If a start fails without a reason, set MINDIE_LOG_TO_STDOUT=1 in
// Env to see the log.
type MindIE struct {
	Container
	MaxSeqLen           int // tokens of a request, prompt and output together; default 2560
	MaxInputTokens      int // tokens of a prompt; default 2048
	MaxIterTimes        int // tokens of an answer; default 512
	MaxPrefillBatchSize int // prompts in a step; default 50
	MaxPrefillTokens    int // prompt tokens in a step; default 8192
	MaxBatchSize        int // requests in a batch; default 200
	MaxLinks            int // connections; further ones are refused; default 1000
}

// mindieRun is a script that merges settings.json into the image's config.json and then runs the server. A
// list in settings.json replaces the list in config.json, with one exception: if the list in config.json
// holds objects, its first object is merged with the first object of the list in settings.json, and the
// other objects are dropped.
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
if ! command -v "$1" >/dev/null; then # before version 3
  shift
  set -- ./bin/mindieservice_daemon "$@"
fi
exec "$@"
`

// Spec describes how the server is launched; the error names each invalid field.
func (i MindIE) Spec() (launch.Spec, error) {
	b := newBuilder(i.Container, "mindie", "swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie:3.0.0-800I-A2-py311-openeuler24.03-lts", 1025)
	b.grantGPUs(launch.Ascend)
	b.requireModelsDir()
	if b.Devices.Vendor != launch.Ascend {
		b.invalid("GPUs", "%q: want the ids of NPUs, like 0,1", string(i.GPUs))
	}
	for _, dir := range []string{"/usr/local/Ascend/driver", "/usr/local/sbin", "/usr/local/dcmi", "/usr/local/bin/npu-smi"} {
		b.Mounts = append(b.Mounts, launch.Mount{Source: dir, Target: dir, ReadOnly: true})
	}
	b.ShmSize = cmp.Or(b.ShmSize, 1<<30)
	b.imageFor(map[string]string{launch.Ascend: b.Image})
	b.Model = strings.ReplaceAll(b.Model, "/", "_") // a slash would end the name in the server's paths
	b.ListedModel = b.Model
	b.taken = append(b.taken, "TrustRemoteCode")
	b.withOffline()
	b.Env["MIES_SERVICE_MONITOR_MODE"] = "1" // Prometheus metrics
	ids := make([]int, len(b.Devices.IDs))   // the container sees only these NPUs, and numbers them from 0
	for n := range ids {
		ids[n] = n
	}
	type object = map[string]any
	server := object{"ipAddress": "0.0.0.0", "managementIpAddress": "0.0.0.0", "allowAllZeroIpListening": true, "port": 1025, "managementPort": 1025, "metricsPort": 1027, "httpsEnabled": false}
	deploy := object{}
	model := object{"modelName": b.Model, "modelWeightPath": b.path, "worldSize": len(ids)}
	if i.TrustRemoteCode {
		model["trustRemoteCode"] = true
	}
	schedule := object{}
	set := func(o object, field, name string, n int) {
		if b.isPositive(field, n) {
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
		panic(err) // all is made of numbers and strings: this cannot happen
	}
	line, _ := json.Marshal(all) // cannot fail, see above
	b.Config["settings"] = string(line)
	b.Files = []launch.File{{Path: "/llmbench/settings.json", Content: string(settings) + "\n"}, {Path: "/llmbench/run.sh", Content: mindieRun}}
	b.Entrypoint = []string{"bash", "/llmbench/run.sh"}
	b.args("mindie_llm_server")
	b.Config["npus"] = strconv.Itoa(len(ids))
	b.HealthPath = "/v2/health/ready" // a path on the management port, which is the same port here
	b.Metrics, b.MetricsPort = i.Metrics(), 1027
	b.Failures = []launch.Failure{
		{Log: `Failed to init endpoint`, Advice: "the server refuses its settings, or its port is taken: the cause is in the lines above"},
		{Log: `ConfigManager init exception|Failed to initialize .* from JSON`, Advice: "this version of MindIE does not take these settings: compare its conf/config.json with the settings in /llmbench/settings.json"},
		{Log: `NPU out of memory|Device out of memory`, Advice: "the NPUs' memory is too small for the model and its KV cache: give more ids, or lower MaxSeqLen"},
	}
	return b.finish()
}

// Metrics returns the names of MindIE's metrics
// (https://www.hiascend.com/document/detail/zh/mindie/).
func (MindIE) Metrics() metrics.Names {
	return metrics.Names{
		Path:         "/metrics",
		CacheHitRate: metrics.Alternatives{"npu_prefix_cache_hit_rate"},
		Preemptions:  metrics.Alternatives{"num_preemptions_total"},
		KVUsage:      metrics.Alternatives{"npu_cache_usage_perc"},
		Waiting:      metrics.Alternatives{"num_requests_waiting"},

		Requests:     metrics.Alternatives{"request_success_total"},
		PromptTokens: metrics.Alternatives{"prompt_tokens_total"},
		OutputTokens: metrics.Alternatives{"generation_tokens_total"},
	}
}
