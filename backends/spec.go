package backends

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A spec is all that has to be known to run a server in a container, to see
// that it is ready and to read what it says of itself. It is plain data, made
// from a backend's fields alone: nothing here asks the machine.
type spec struct {
	backend string // value of backend=
	image   string
	entry   []string // replaces the image's entrypoint; nil keeps it
	cmd     []string
	env     map[string]string
	pass    map[string]string // variables of the container that take their value from one of this process
	mounts  []mount
	files   []file
	port    int // that the server listens on

	gpus        devices
	world       int      // how many of them the server uses; 0 if that is not known
	shm, memory int64    // bytes; 0 leaves the engine's default
	caps        []string // Linux capabilities to add
	security    []string // options like seccomp=unconfined
	groups      []string // further groups of the server's user
	ulimits     []ulimit

	model   string // the name to ask for, and to show
	listed  string // the name that the server lists; "" is not to look for it
	adopts  bool   // it lists one name of its own making, to be asked for
	dialect dialect.Dialect
	health  string   // path that answers 200 when the server is up
	models  string   // path of the list of models
	setup   []step   // to be done once it is healthy, before its model is listed
	version place    // where the server says its version
	whole   [2]place // with a GPU: two fields that are the same if all of the model is on it
	stats   stats    // its Prometheus metrics
	reset   []step   // empties the prefix cache between passes
	known   []known
	config  map[string]string
	ready   Deadlines
	logDir  string
	weights weights
	key     string   // bearer token of requests to it, or ""
	secrets []string // not to be shown, beside what is passed through
}

// weights is where on the host a model has to be, for a message before anything
// is started; without a dir the server fetches it.
type weights struct{ dir, path string }

// A mount is a folder of the host, or a named volume, in the container.
type mount struct {
	source   string // an absolute path, or a volume's name
	target   string
	readOnly bool
}

// A file is written into the container before it starts.
type file struct{ path, content string }

// A ulimit is a resource limit of the container (getrlimit(2)).
type ulimit struct {
	name       string
	soft, hard int64
}

// A known is a failure at start-up that a server tells in its log.
type known struct {
	log    string // regular expression, of one line
	advice string // what to do, in a sentence
	// gpu makes it a failure only if a GPU was asked for: the server goes on
	// without one.
	gpu bool
}

// Deadlines are how long each stage of a start may take; 0 is the default,
// which a backend with a slow stage may raise. A stage that fails for good
// does not wait for its deadline.
type Deadlines struct {
	Image      time.Duration // the image is on the machine: 1 hour, for a pull
	Running    time.Duration // the container runs: 1 minute
	Port       time.Duration // the server's port is open: 30 minutes, since many load the model first
	Health     time.Duration // its health check is good: 30 minutes
	Setup      time.Duration // the model has been fetched or loaded, where that is a request: 1 hour
	Model      time.Duration // the model is listed: 1 minute
	Completion time.Duration // a completion was answered: 5 minutes
}

// withDefaults returns d with the defaults filled in.
func (d Deadlines) withDefaults() Deadlines {
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

// String returns the docker command that starts the same container by hand,
// and what else would have to be done. It holds no secret: variables that are
// passed through have no value in it.
func (s spec) String() string {
	var lines []string
	opt := func(words ...string) { lines = append(lines, "  "+shellquote.Join(words...)) }
	lines = append(lines, "docker run")
	for _, o := range s.gpus.flags() {
		opt(o...)
	}
	if s.shm > 0 {
		opt("--shm-size=" + strconv.FormatInt(s.shm, 10))
	}
	if s.memory > 0 {
		opt("--memory=" + strconv.FormatInt(s.memory, 10))
	}
	for _, c := range s.caps {
		opt("--cap-add=" + c)
	}
	for _, o := range s.security {
		opt("--security-opt=" + o)
	}
	for _, g := range s.groups {
		opt("--group-add=" + g)
	}
	for _, u := range s.ulimits {
		opt(fmt.Sprintf("--ulimit=%s=%d:%d", u.name, u.soft, u.hard))
	}
	opt("-p", fmt.Sprintf("127.0.0.1::%d", s.port))
	for _, m := range s.mounts {
		v := m.source + ":" + m.target
		if m.readOnly {
			v += ":ro"
		}
		opt("-v", v)
	}
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		opt("-e", name+"="+shown(name, s.env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.pass)) {
		opt("-e", name)
	}
	args := s.cmd
	if s.entry != nil {
		opt("--entrypoint=" + s.entry[0])
		args = append(s.entry[1:len(s.entry):len(s.entry)], args...)
	}
	opt(s.image)
	if len(args) > 0 {
		all, _ := shownArgs(args)
		opt(all...)
	}
	text := strings.Join(lines, " \\\n") + "\n"
	for _, f := range s.files {
		text += fmt.Sprintf("with the file %s:\n%s\n", f.path, strings.TrimRight(f.content, "\n"))
	}
	for _, st := range s.setup {
		text += fmt.Sprintf("then %s\n", st)
	}
	return text
}
