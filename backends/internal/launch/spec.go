// Package launch describes, as data, how a server is launched in a container. It does not use a container
// engine.
package launch

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A Spec contains everything that is needed to launch a server in a container, to find out when it is
// ready, and to read its metrics. It depends only on the fields of a backend: on every machine, the same
// fields give the same Spec.
type Spec struct {
	Backend    string // the name of the server in benchmark names
	Image      string
	GoProgram  string   // import path of a command from which Image is built; "" means that Image is pulled
	Entrypoint []string // replaces the image's entrypoint; nil keeps it
	Cmd        []string
	Env        map[string]string
	PassEnv    map[string]string // variables of the container; the value is the name of the variable of this process that is copied
	Mounts     []Mount
	Files      []File
	Port       int // the port that the server listens on

	Name      string // name by which other containers in the network reach this one; "" means none
	Beside    []Spec // further containers in the same network, which are started before this one; each of them has a Name
	MetricsOf string // name of the container in Beside that serves the metrics, on its Port; "" means this container

	Devices         Devices
	DevicesUsed     int // how many of the devices the server uses; 0 means unknown
	ShmSize, Memory int64
	Capabilities    []string // Linux capabilities to add
	SecurityOptions []string // such as seccomp=unconfined
	Groups          []string // further groups of the server's user
	Ulimits         []Ulimit

	Model        string // the name to send in requests, and to show
	ListedModel  string // the name under which the server lists the model; "" means that the list is not checked
	AdoptModel   bool   // the server invents the only name that it lists: use that name in requests
	Dialect      dialect.Dialect
	Body         json.RawMessage        // changes the body of each completion; see llmbench.Target
	HealthPath   string                 // path that answers 200 when the server is up
	ModelsPath   string                 // path of the list of models
	Setup        []probe.Step           // taken when the server is healthy, before its model is listed
	Version      probe.Field            // the server's version
	Reported     map[string]probe.Field // settings that the server has chosen, keyed by the name of their configuration line
	GPUResidency [2]probe.Field         // with a GPU: two fields that are equal if the whole model is on the GPU
	Metrics      metrics.Names          // the server's Prometheus metrics
	MetricsPort  int                    // the port that serves them; 0 means Port
	ResetCache   []probe.Step           // empties the prefix cache between passes
	KeepsPrompts bool                   // the server has a prompt cache that nothing empties; see llmbench.Target
	Failures     []Failure              // log lines of the server when it cannot start
	Unchecked    string                 // a warning if Image may be of another version than the settings are for, or ""
	Config       map[string]string
	Deadlines    Deadlines
	LogDir       string            // folder for the server's log; "" means that no file is written
	Labels       map[string]string // further labels of the container and of its network
	Weights      Weights
	CommitFile   string      // file in the container that holds the commit of the downloaded model; "" means none
	Commit       probe.Field // where the server reports the commit of its model
	ChatTemplate string      // file on this machine that is mounted as the chat template; "" means none
	APIKey       string      // bearer token of requests to the server, or ""
	Secrets      []string    // texts to hide, in addition to the values of PassEnv
}

// Weights is where the model must be on this machine before the server is launched. If Dir is "", the
// server downloads the model.
type Weights struct{ Dir, Path string }

// A Mount mounts a folder of this machine, or a named volume, in the container.
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

// Deadlines limits how long each stage of a start may take; 0 means the default.
type Deadlines struct {
	Image, Running, Port, Health, Setup, Model, Completion time.Duration
}

// WithDefaults returns d with the defaults filled in.
func (d Deadlines) WithDefaults() Deadlines {
	d.Image = cmp.Or(d.Image, time.Hour)
	d.Running = cmp.Or(d.Running, time.Minute)
	d.Port = cmp.Or(d.Port, 30*time.Minute)
	d.Health = cmp.Or(d.Health, 30*time.Minute)
	d.Setup = cmp.Or(d.Setup, time.Hour)
	d.Model = cmp.Or(d.Model, time.Minute)
	d.Completion = cmp.Or(d.Completion, 5*time.Minute)
	return d
}
