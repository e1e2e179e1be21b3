package mockserver

import "github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"

// A Flavor says which server's format a [Server] uses for POST /generate. Several real
// servers have this path, each with its own format.
//
// Without a flavor the body of each request decides. A body with "inputs" is TGI's. A body
// with "prompt" or "input_ids", and with neither "text" nor "sampling_params", is
// LMDeploy's. Every other body is SGLang's. The bodies of vLLM's demonstration server and
// of MindIE's version of that server have the same fields as LMDeploy's, so these two need
// a flavor.
type Flavor = wire.Flavor

// The flavors.
const (
	FlavorTGI      = wire.FlavorTGI
	FlavorSGLang   = wire.FlavorSGLang
	FlavorLMDeploy = wire.FlavorLMDeploy
	FlavorVLLM     = wire.FlavorVLLM   // python -m vllm.entrypoints.api_server
	FlavorMindIE   = wire.FlavorMindIE // MindIE's version of vLLM's server
)
