package mockserver

import "github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"

// A Flavor says which server's POST /generate a [Server] answers. Several servers
// have this path with different formats.
//
// Without a flavor the body decides: a body with "inputs" is TGI's, one with
// "prompt" or "input_ids" and without "text" and "sampling_params" is LMDeploy's,
// and every other body is SGLang's. vLLM's demonstration server and MindIE's
// version of that server take the same fields as LMDeploy, so only a flavor
// selects them.
type Flavor = wire.Flavor

// The flavors.
const (
	FlavorTGI      = wire.FlavorTGI
	FlavorSGLang   = wire.FlavorSGLang
	FlavorLMDeploy = wire.FlavorLMDeploy
	FlavorVLLM     = wire.FlavorVLLM   // python -m vllm.entrypoints.api_server
	FlavorMindIE   = wire.FlavorMindIE // MindIE's version of vLLM's server
)
