package about

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// An engine is a program that serves models, and how to ask it.
type engine struct {
	name string       // value of the line server
	ask  func(*asker) // asks for what only this engine says; nil asks nothing
	// fingerprints says that the fingerprint in its answers has its version.
	fingerprints bool
}

// owners are the values of owned_by in the lists of models of engines that write their own name there.
var owners = map[string]engine{
	"vllm":          {"vLLM", (*asker).vllm, true},
	"sglang":        {"SGLang", (*asker).sglang, false},
	"llamacpp":      {"llama.cpp", (*asker).llamacpp, true},
	"library":       {"Ollama", (*asker).ollama, false},
	"lmdeploy":      {"LMDeploy", nil, false},
	"tensorrt_llm":  {"TensorRT-LLM", (*asker).tensorrtllm, false},
	"MindIE Server": {"MindIE", nil, false},
	"tabbyAPI":      {"TabbyAPI", nil, false},
}

// engine returns the engine of the server. Servers that do not write their name into the list of models, or that have no such
// list, are recognised by a document that only they have. The argument listed says that there is a list.
func (a *asker) engine(listed bool) (engine, bool) {
	if a.model.OwnedBy == "nvidia" {
		if health := a.document("/health"); isDynamo(health) {
			return engine{name: "Dynamo", ask: func(a *asker) { a.dynamo(health) }}, true
		}
	}
	if e, known := owners[a.model.OwnedBy]; known {
		// llm-d's simulator imitates vLLM, but its HTTP server is another one
		// (https://github.com/llm-d/llm-d-inference-sim).
		if e.name == "vLLM" && a.header.Get("Server") == "fasthttp" {
			e = engine{name: "llm-d-inference-sim", ask: (*asker).vllm}
		}
		return e, true
	}
	var native bool // whether only TGI or TEI has such an API
	switch a.target.Dialect.(type) {
	case dialect.TGI, dialect.TEIEmbed, dialect.TEIRerank:
		native = true
	case dialect.Triton:
		return engine{name: "Triton", ask: (*asker).triton}, true
	}
	// TGI writes the model's name where others write their own (https://huggingface.github.io/text-generation-inference/).
	if native || listed && a.model.OwnedBy != "" && a.model.OwnedBy == a.model.ID {
		if info := a.document("/info"); info.text("model_id") != "" && info.text("version") != "" {
			return huggingFace(info), true
		}
	}
	return engine{}, false
}

// router sets the line router if the answer with the list of models came through the endpoint picker of an inference gateway,
// as in llm-d, which marks the answers that it has seen
// (https://github.com/kubernetes-sigs/gateway-api-inference-extension/tree/main/pkg/epp/handlers).
func (a *asker) router() {
	if a.header.Get("X-Went-Into-Resp-Headers") == "true" {
		a.set("router", "endpoint picker (llm-d, Gateway API Inference Extension)")
	}
}

// vllm asks vLLM (https://docs.vllm.ai/en/latest/serving/openai_compatible_server/).
func (a *asker) vllm() {
	a.refuses = true
	a.set("server-version", a.document("/version").text("version"))
	const cache = "vllm:cache_config_info" // https://docs.vllm.ai/en/latest/usage/metrics/
	info := a.metrics()
	a.set("block-size", number(info.Label(cache, "block_size")))
	a.set("prefix-caching", map[string]string{"True": "on", "False": "off"}[info.Label(cache, "enable_prefix_caching")])
}

// sglang asks SGLang (https://docs.sglang.ai/references/), or its router, which passes questions on to a worker
// (https://docs.sglang.ai/advanced_features/router.html). The document has all arguments of the server, including its key: only
// the named ones are read.
func (a *asker) sglang() {
	info, path := a.first("/server_info", "/get_server_info")
	a.set("server-version", info.text("version"))
	a.set("model-root", info.text("model_path"))
	a.set("slots", info.text("max_running_requests"))
	a.set("block-size", info.text("page_size"))
	a.set("prefix-caching", opposite(info.onOff("disable_radix_cache")))
	a.set("auto-truncate", info.onOff("allow_auto_truncate"))
	a.refuses = info.onOff("allow_auto_truncate") == "off"
	if path == "/get_server_info" { // an old SGLang, or the router, which has no other path
		a.sglangRouter()
	}
}

// sglangRouter asks SGLang's router for its workers.
func (a *asker) sglangRouter() {
	workers, _ := a.document("/workers").at("workers").([]any)
	if len(workers) > 0 {
		a.set("router", "SGLang")
		a.set("replicas", fmt.Sprint(len(workers)))
	}
}

// llamacpp asks llama.cpp (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md).
func (a *asker) llamacpp() {
	props := a.document("/props")
	a.set("server-version", props.text("build_info"))
	a.set("slots", props.text("total_slots"))
	a.set("context", props.text("default_generation_settings.n_ctx"))
	a.set("quantization", props.text("model_ftype"))
	if path := props.text("model_path"); path != a.target.Model {
		a.set("model-root", path)
	}
	if active, _ := props.at("default_generation_settings.params.lora").([]any); len(active) == 0 {
		return
	}
	all, _ := a.document("/lora-adapters").value.([]any)
	var paths []string
	for _, one := range all {
		paths = append(paths, document{one}.text("path"))
	}
	a.set("lora", sorted(paths))
}

// ollama asks Ollama (https://docs.ollama.com/api). The name of a model may stand for other weights after a pull, so that its
// digest identifies it.
func (a *asker) ollama() {
	a.set("server-version", a.document("/api/version").text("version"))
	models, _ := a.document("/api/ps").at("models").([]any)
	for _, one := range models {
		m := document{one}
		if name := m.text("name"); name != a.target.Model && strings.TrimSuffix(name, ":latest") != a.target.Model {
			continue
		}
		a.set("context", m.text("context_length"))
		a.set("quantization", m.text("details.quantization_level"))
		if digest := m.text("digest"); len(digest) >= 12 {
			a.set("model-digest", digest[:12])
		}
	}
}

// tensorrtllm asks TensorRT-LLM (https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/trtllm-serve.html).
func (a *asker) tensorrtllm() { a.set("server-version", a.document("/version").text("version")) }

// triton asks Triton (https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_classification.md).
func (a *asker) triton() {
	if d := a.document("/v2"); d.text("name") == "triton" {
		a.set("server-version", d.text("version"))
	}
}

// huggingFace returns TGI or TEI by its document /info
// (https://huggingface.github.io/text-generation-inference/, https://huggingface.github.io/text-embeddings-inference/).
func huggingFace(info document) engine {
	e := engine{name: "TGI"}
	if info.at("model_type") != nil {
		e.name = "TEI"
	}
	e.ask = func(a *asker) {
		a.refuses = e.name == "TGI"
		a.set("server-version", info.text("version"))
		a.set("model-root", info.text("model_id"))
		a.set("model-commit", info.text("model_sha"))
		a.set("context", cmp.Or(info.text("max_total_tokens"), info.text("max_input_length")))
	}
	return e
}

// isDynamo reports whether health is the document of NVIDIA Dynamo's front end
// (https://docs.nvidia.com/dynamo/latest/observability/health-checks.html).
func isDynamo(health document) bool {
	endpoints, _ := health.at("endpoints").([]any)
	return slices.ContainsFunc(endpoints, func(e any) bool {
		name, _ := e.(string)
		return strings.HasPrefix(name, "dyn://")
	})
}

// dynamo asks NVIDIA Dynamo's front end: its health says which workers there are, and its metrics what they serve
// (https://docs.nvidia.com/dynamo/latest/observability/metrics.html).
func (a *asker) dynamo(health document) {
	instances, _ := health.at("instances").([]any)
	workers := map[string]map[string]bool{} // ids by component
	for _, one := range instances {
		i := document{one}
		component, id := i.text("component"), fmt.Sprint(i.at("instance_id"))
		if i.text("endpoint") != "generate" || component == "" {
			continue
		}
		if workers[component] == nil {
			workers[component] = map[string]bool{}
		}
		workers[component][id] = true
	}
	var counts []string
	for _, component := range slices.Sorted(maps.Keys(workers)) {
		counts = append(counts, fmt.Sprintf("%s=%d", component, len(workers[component])))
	}
	if len(counts) == 1 {
		_, counts[0], _ = strings.Cut(counts[0], "=")
	}
	a.set("replicas", strings.Join(counts, " "))
	info := a.metrics()
	of := func(metric string) string {
		return number(info.Value(fmt.Sprintf("dynamo_frontend_model_%s{model=%q}", metric, a.target.Model)))
	}
	a.set("context", of("context_length"))
	a.set("slots", of("max_num_seqs"))
	a.set("block-size", of("kv_cache_block_size"))
}

// number returns value if it is a whole number above 0, or "".
func number(value string) string {
	if strings.Trim(value, "0") == "" || strings.Trim(value, "0123456789") != "" {
		return ""
	}
	return value
}

// sorted returns names in order, separated by commas. Names that are URLs have no secrets.
func sorted(names []string) string {
	var shown []string
	for _, name := range names {
		shown = append(shown, plain(name))
	}
	return strings.Join(slices.Sorted(slices.Values(shown)), ", ")
}
