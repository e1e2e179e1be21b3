package backends

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

// VLLMDisagg is vLLM with a separate server for each of the two phases of a request
// (https://docs.vllm.ai/en/latest/features/nixl_connector_usage/): one server fills the KV cache (prefill),
// the other generates tokens (decode), and vLLM's router sends each request to both
// (https://github.com/vllm-project/router). The three run in containers in one network. The prefill server
// transfers the KV cache to the decode server by NIXL. NIXL uses TCP between containers that share neither
// memory nor a network card for RDMA; set UCX_TLS and UCX_NET_DEVICES in Env to use another transport.
//
// The fields of VLLM apply to both servers. GPUs lists an even number of ids: the first half is for
// prefill, the second half for decode. The router does not retry failed requests, so that failures are
// visible. Its port opens when both servers are ready. Metrics come from the decode server, which counts
// each request once. The prefix caches are not emptied between passes.
type VLLMDisagg struct {
	VLLM
	RouterImage   string   // image of vLLM's router, with a tag other than latest; "" is the default
	RouterPolicy  string   // round_robin, random, cache_aware, power_of_two or consistent_hash
	PrefillArgs   []string // further arguments of the prefill server, after Args
	DecodeArgs    []string // further arguments of the decode server, after Args
	KVLoadFailure string   // what the decode server does with a request whose KV cache did not arrive: fail or recompute; default fail
}

// nixlScript runs a server and tells it its own IP address in the containers' network. The other server
// fetches the KV cache from that address. A host name would not do, because the server binds a socket to
// the address.
const nixlScript = "export VLLM_NIXL_SIDE_CHANNEL_HOST=\"$(hostname -i)\"\nexec \"$@\"\n"

// Spec describes how the servers are launched; the error names each invalid field.
func (v VLLMDisagg) Spec() (launch.Spec, error) {
	gpus := v.GPUs
	router := Container{
		Image: v.RouterImage, Model: v.Model, Ready: v.Ready, Dialect: v.Dialect, Body: v.Body, LogDir: v.LogDir, APIKey: v.APIKey,
	}
	b := newBuilder(router, "vllm-disagg", "vllm/vllm-router:nightly-20260809-d2ba586", 8000)
	vendor, ids, named := strings.Cut(string(gpus), ":")
	if !named {
		vendor, ids = "", string(gpus)
	}
	list := strings.Split(ids, ",")
	if len(list)%2 != 0 {
		b.invalid("GPUs", "%q: want an even number of ids, like 0,1: the first half is for prefill, the second for decode", string(gpus))
		return b.finish()
	}
	b.isOneOf("KVLoadFailure", v.KVLoadFailure, "fail", "recompute")
	for i, name := range []string{"prefill", "decode"} {
		half := list[i*len(list)/2 : (i+1)*len(list)/2]
		part, err := v.part(name, GPUs(strings.TrimPrefix(vendor+":"+strings.Join(half, ","), ":")))
		if err != nil {
			b.errs = append(b.errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		b.Beside = append(b.Beside, part)
	}
	b.Entrypoint = []string{"vllm-router"}
	b.args("--vllm-pd-disaggregation", "--kv-connector", "nixl", "--prefill", "http://prefill:8000", "--decode", "http://decode:8000", "--host", "0.0.0.0", "--port", "8000")
	timeout := cmp.Or(b.Deadlines.Port, 30*time.Minute)
	b.args("--worker-startup-timeout-secs", fmt.Sprint(int(timeout.Seconds())+1), "--worker-startup-check-interval", "1", "--disable-retries", "--disable-circuit-breaker")
	b.choiceOption("RouterPolicy", "--policy", cmp.Or(v.RouterPolicy, "round_robin"), "round_robin", "random", "cache_aware", "power_of_two", "consistent_hash")
	b.ListedModel = "" // the router has no list of its own
	b.MetricsOf, b.Metrics = "decode", v.Metrics()
	b.Failures = vllmFailures
	if v.PrefixCaching != Off {
		b.keepsPrompts()
	}
	v.describe(b)
	return b.finish()
}

// part describes one of the two servers.
func (v VLLMDisagg) part(name string, gpus GPUs) (launch.Spec, error) {
	kv, err := json.Marshal(map[string]string{"kv_connector": "NixlConnector", "kv_role": "kv_both", "kv_load_failure_policy": cmp.Or(v.KVLoadFailure, "fail")})
	if err != nil {
		panic(err) // strings only: this cannot happen
	}
	server := v.VLLM
	server.GPUs = gpus
	server.Args = slices.Concat([]string{"--kv-transfer-config", string(kv)}, v.Args, map[string][]string{"prefill": v.PrefillArgs, "decode": v.DecodeArgs}[name])
	s, err := server.Spec()
	if err != nil {
		return s, err
	}
	s.Name = name
	s.Files = append(s.Files, launch.File{Path: "/llmbench/run.sh", Content: nixlScript})
	s.Entrypoint, s.Cmd = []string{"bash", "/llmbench/run.sh"}, append(s.Entrypoint, s.Cmd...)
	return s, nil
}

// describe copies to the router's Spec the settings that the two servers share, and adds their commands and
// settings to the configuration lines.
func (v VLLMDisagg) describe(b *builder) {
	for _, s := range b.Beside {
		command, _ := secret.RedactArgs(slices.Concat(s.Entrypoint, s.Cmd))
		b.Config["command-"+s.Name] = shellquote.Join(command...)
		for name, value := range s.Config {
			if name != "command" && name != "backend" {
				b.Config[name] = value
			}
		}
		b.Config["gpus-used"] = fmt.Sprint(len(b.Beside) * s.DevicesUsed)
		b.APIKey = cmp.Or(b.APIKey, s.APIKey)
		b.Weights, b.ChatTemplate = s.Weights, s.ChatTemplate
		b.Unchecked = cmp.Or(b.Unchecked, s.Unchecked)
	}
}

// Metrics returns the names of the metrics of vLLM's decode server.
func (VLLMDisagg) Metrics() metrics.Names { return VLLM{}.Metrics() }
