// Package launch describes how a server is launched in a container, as data.
// Nothing in it talks to a container engine.
package launch

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A Spec is everything that is needed to launch a server in a container, to see
// that it is ready, and to read its metrics. It is made from a backend's fields
// alone, so that the same fields make the same Spec on every machine.
type Spec struct {
	Backend    string // the value of backend= in benchmark names
	Image      string
	GoProgram  string   // import path of a command: Image is built from it; "" means Image is pulled
	Entrypoint []string // replaces the image's entrypoint; nil keeps it
	Cmd        []string
	Env        map[string]string
	PassEnv    map[string]string // variables of the container, and the variables of this process that they copy
	Mounts     []Mount
	Files      []File
	Port       int // that the server listens on

	Name      string // by which other containers of a network reach this one; "" is none
	Beside    []Spec // further containers in one network with this one, which start before it; each has a Name
	MetricsOf string // the name of the container in Beside that serves the metrics, on its Port; "" is this one

	Devices         Devices
	DevicesUsed     int // how many of them the server uses; 0 means unknown
	ShmSize, Memory int64
	Capabilities    []string // Linux capabilities to add
	SecurityOptions []string // such as seccomp=unconfined
	Groups          []string // further groups of the server's user
	Ulimits         []Ulimit

	Model        string // the name to send in requests, and to show
	ListedModel  string // the name under which the server lists the model; "" does not look for it
	AdoptModel   bool   // the server makes up the one name that it lists: send that name
	Dialect      dialect.Dialect
	Body         json.RawMessage        // changes the body of each completion; see llmbench.Target
	HealthPath   string                 // answers 200 when the server is up
	ModelsPath   string                 // the list of models
	Setup        []probe.Step           // taken when the server is healthy, before its model is listed
	Version      probe.Field            // the server's version
	Reported     map[string]probe.Field // settings that the server chose, by the names of their configuration lines
	GPUResidency [2]probe.Field         // with a GPU: two fields that are equal if all of the model is on the GPU
	Metrics      metrics.Names          // the server's Prometheus metrics
	MetricsPort  int                    // the port that serves them; 0 means Port
	ResetCache   []probe.Step           // empties the prefix cache between passes
	KeepsPrompts bool                   // there is a prompt cache, and nothing empties it; see llmbench.Target
	Failures     []Failure              // what the server's log says when the server cannot start
	Unchecked    string                 // says that Image is of another version than those the settings are for; "" if it is not
	Config       map[string]string
	Deadlines    Deadlines
	LogDir       string // folder of the server's log; "" writes no file
	Weights      Weights
	CommitFile   string      // in the container: holds the commit of the model that was downloaded; "" is none
	Commit       probe.Field // where the server says the commit of its model
	ChatTemplate string      // file of this machine that is mounted as the chat template; "" is none
	APIKey       string      // bearer token of requests to the server, or ""
	Secrets      []string    // texts to hide, in addition to the values of PassEnv
}

// Weights is where the model must be on this machine before the server is
// launched. An empty Dir means that the server fetches the model.
type Weights struct{ Dir, Path string }

// A Mount is a folder of this machine, or a named volume, in the container.
type Mount struct {
	Source   string // a path, or a volume's name
	Target   string
	ReadOnly bool
}

// A File is written into the container before it starts.
type File struct{ Path, Content string }

// A Ulimit is a resource limit of the container (getrlimit(2)).
type Ulimit struct {
	Name       string
	Soft, Hard int64
}

// Deadlines bounds the stages of a start; 0 means the default.
type Deadlines struct {
	Image, Running, Port, Health, Setup, Model, Completion time.Duration
}

// WithDefaults returns d with the defaults filled in.
func (d Deadlines) WithDefaults() Deadlines {
	set := func(v *time.Duration, to time.Duration) {
		if *v == 0 {
			*v = to
		}
	}
	set(&d.Image, time.Hour)
	set(&d.Running, time.Minute)
	set(&d.Port, 30*time.Minute)
	set(&d.Health, 30*time.Minute)
	set(&d.Setup, time.Hour)
	set(&d.Model, time.Minute)
	set(&d.Completion, 5*time.Minute)
	return d
}
