package backends

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A Container holds the settings that all servers in containers share. The
// struct of each server embeds one, and its comment says what is particular to
// that server.
type Container struct {
	// Image is the container image, with a tag other than latest or with a
	// digest. "" means the server's default image, if it has one.
	Image string
	// Model is the model's name on the Hugging Face Hub or, with ModelsDir, a
	// file or folder in ModelsDir. The server is configured to serve the model
	// under this name if that can be configured.
	Model string
	// Revision is the branch, tag or commit of the model on the Hub; "" is the
	// newest. Results have the commit that was served as model-commit.
	Revision string
	// ChatTemplate is a file of this machine with a chat template in Jinja's syntax,
	// which replaces the model's. A base model has none, and refuses chats without.
	ChatTemplate string
	// TrustRemoteCode lets the server run code that comes with the model.
	TrustRemoteCode bool
	// Offline keeps the server from asking the Hub: the model must be in ModelsDir, or
	// in the volume of an earlier run.
	Offline bool
	// Quantization says how the weights are quantized, in the server's own
	// words. "" leaves the choice to the server and the model.
	Quantization string
	// Args are further arguments of the server, placed after the arguments that
	// the server's fields make.
	Args []string
	// Env holds variables of the container. They override those that the server's
	// fields make. If a variable's name ends in TOKEN, KEY, SECRET, PASSWORD or
	// CREDENTIAL, alone or after an underscore, its value is a secret, and so is
	// the value of an option of Args with such a name. A secret is never shown.
	// The server's log hides secrets of 8 bytes or more.
	Env map[string]string
	// APIKey is the bearer token of all requests to the server. If it is empty,
	// requests carry the key that Args or Env configure the server to ask for.
	APIKey env.Secret
	// GPUs are the accelerators that the server gets; none by default. The start
	// fails if the container does not get them, or if the server is known to use
	// a different number of them. If no field says how many the server uses, it
	// uses all that GPUs names by id, and one of "all".
	GPUs GPUs
	// ModelsDir is a folder of this machine that holds models. It is mounted
	// read-only at /models. If it is "", the server downloads the model, with the
	// token in HF_TOKEN if there is one, into a named volume that later runs use
	// again.
	ModelsDir string
	// ShmSize is the size of the container's /dev/shm in bytes; 0 means the
	// server's default. Memory is the container's memory limit in bytes; 0 means
	// none.
	ShmSize, Memory int64
	// Ready bounds the stages of the start.
	Ready Deadlines
	// Dialect is the API of the requests; nil means OpenAI chat.
	Dialect dialect.Dialect
	// Body changes the body of each completion; see [llmbench.Target].
	Body json.RawMessage
	// LogDir is a folder for the server's log, one file for each start. "" keeps
	// only the last lines of the log, for error messages.
	LogDir string
}

// modelsAt is the path of ModelsDir in the container.
const modelsAt = "/models"

// GPUs are accelerators: "" or "none" for none, "all", or a comma list of ids
// such as "0,1" or "GPU-6b1f…". A prefix names the vendor, as in "amd:0" or
// "ascend:0,1,2,3". Without a prefix the image decides: AMD if the image's name
// contains rocm, Huawei for MindIE, and NVIDIA otherwise.
type GPUs string

// Deadlines bounds the stages of a server's start; 0 means the default. A stage
// that fails for good ends before its deadline.
type Deadlines struct {
	Image      time.Duration // until the image is on this machine: 1 hour, for a pull
	Running    time.Duration // until the container runs: 1 minute
	Port       time.Duration // until the server's port is open: 30 minutes, because many servers load the model first
	Health     time.Duration // until the health check succeeds: 30 minutes
	Setup      time.Duration // until the model is downloaded or loaded, for servers that do so on request: 1 hour
	Model      time.Duration // until the model is listed: 1 minute
	Completion time.Duration // until a completion is answered: 5 minutes
}

// A Toggle switches a feature of a server on or off; "" keeps the server's
// default.
type Toggle string

// The values of a Toggle.
const (
	On  Toggle = "on"
	Off Toggle = "off"
)
