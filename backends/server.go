package backends

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A Container is what all servers that run in containers have in common. Each
// backend's struct embeds one; its comment says what is particular to it.
type Container struct {
	// Image is the image, with a tag other than latest or with a digest. ""
	// is the backend's own, where there is one.
	Image string
	// Model is the model's name on the Hugging Face Hub or, with ModelsDir, a
	// file or folder in that. It is also the name that the server is told to
	// serve it under, where it can be told.
	Model string
	// Quantization says how the weights are quantized, in the server's own
	// words; "" is what the model is.
	Quantization string
	// Args are arguments of the server beside those that the backend's fields
	// make, and after them.
	Args []string
	// Env are variables of the container, over those that the backend sets.
	// The value of one whose name ends in TOKEN, KEY, SECRET, PASSWORD or
	// CREDENTIAL, alone or after an underscore, is a secret, as is that of such
	// an option in Args: it is not shown, and the server's log hides it from 8
	// bytes on.
	Env map[string]string
	// APIKey is the bearer token of all requests to the server; none means the
	// key that Args or Env tell the server to ask for, if they do.
	APIKey env.Secret
	// GPUs are the accelerators that the server gets; none by default. The
	// start fails if it does not get them, or if it is known to use another
	// number: where a field has to say how many are used and none does, those
	// whose ids are given, and one of all.
	GPUs GPUs
	// ModelsDir is a folder of the host that holds models, mounted read-only
	// at /models. Without one the server fetches the model, with the token in
	// HF_TOKEN if there is one, into a named volume that stays for later runs.
	ModelsDir string
	// ShmSize is the size of /dev/shm, the container's own, and Memory the limit
	// of memory, in bytes; 0 is the backend's default, and no limit.
	ShmSize, Memory int64
	// Ready bounds the stages of the start.
	Ready Deadlines
	// Dialect is what is spoken with the server; nil means OpenAI chat.
	Dialect dialect.Dialect
	// LogDir is a folder for the server's log, one file a start; "" keeps only
	// its last lines, for messages.
	LogDir string
}

// modelsAt is where ModelsDir is in the container.
const modelsAt = "/models"
