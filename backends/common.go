package backends

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A Container holds the settings that all servers in containers share. The struct of each server embeds a
// Container, and the comment of that struct says what is special about the server.
type Container struct {
	// Image is the container image, with a tag other than latest or with a
	// digest. "" means the server's default image, if it has one.
	Image string
	// Model is the model's name on the Hugging Face Hub or, with ModelsDir, a
	// file or folder in ModelsDir. The server is configured to serve the model
	// under this name if that can be configured.
	Model string
	// Revision is the branch, tag or commit of the model on the Hub; "" means the newest. Results report
	// the commit that was served as model-commit.
	Revision string
	// ChatTemplate is a file on this machine with a chat template in Jinja's syntax, which replaces the
	// model's own template. A base model has no template, and the server refuses chat requests for it
	// unless ChatTemplate is set.
	ChatTemplate string
	// TrustRemoteCode lets the server run code that comes with the model.
	TrustRemoteCode bool
	// Offline prevents the server from contacting the Hub: the model must be in ModelsDir, or in the volume
	// that an earlier run has filled.
	Offline bool
	// Quantization says how the weights are quantized, in the server's own
	// words. "" leaves the choice to the server and the model.
	Quantization string
	// Args are further arguments of the server. They follow the arguments that the server's fields produce.
	Args []string
	// Env holds environment variables of the container. They override the variables that the server's
	// fields produce. If a variable's name ends in TOKEN, KEY, SECRET, PASSWORD or CREDENTIAL, alone or
	// after an underscore, its value is a secret. The value of an option in Args with such a name is a
	// secret too. Secrets are never shown. In the server's log, only secrets of 8 bytes or more are hidden.
	Env map[string]string
	// APIKey is the bearer token of all requests to the server. If it is empty, requests carry the key that
	// Args or Env tell the server to require.
	APIKey env.Secret
	// GPUs are the accelerators that the server gets; none by default. The start fails if the container
	// does not get them, or if the server is known to use a different number of them. If no field sets the
	// number that the server uses, the server uses all accelerators that GPUs lists by id, or one if GPUs
	// is "all".
	GPUs GPUs
	// ModelsDir is a folder of this machine that holds models. It is mounted read-only at /models. If it is
	// "", the server downloads the model into a named volume, which later runs use again. For the download
	// it uses the token in HF_TOKEN, if there is one.
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

// GPUs lists accelerators: "" or "none" for none, "all", or ids separated by commas, such as "0,1" or
// "GPU-6b1f…". A prefix names the vendor, as in "amd:0" or "ascend:0,1,2,3". Without a prefix the vendor is
// AMD if the image's name contains rocm, Huawei for MindIE, and NVIDIA otherwise.
type GPUs string

// Deadlines limits how long each stage of a server's start may take; 0 means the default. A stage that
// cannot succeed any more, for example because the server has exited, fails before its deadline.
type Deadlines struct {
	Image      time.Duration // until the image is on this machine: 1 hour, for a pull
	Running    time.Duration // until the container runs: 1 minute
	Port       time.Duration // until the server's port is open: 30 minutes, because many servers load the model before they open it
	Health     time.Duration // until the health check succeeds: 30 minutes
	Setup      time.Duration // until the model is downloaded or loaded, if the server does so on request: 1 hour
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
