package records

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Version is the version of the format that llmbench writes. Package records also reads version 1, and
// older files, which have no version. In these, the arrivals of an open loop are a string in Go syntax;
// nothing else differs.
const Version = 2

// A Head is the first line of a file. It describes the benchmark.
type Head struct {
	Version     int               `json:"version"`
	Benchmark   string            `json:"benchmark"`        // full name of the benchmark
	Config      map[string]string `json:"config,omitempty"` // configuration of the target
	Dialect     string            `json:"dialect"`
	Model       string            `json:"model,omitempty"`
	Stream      bool              `json:"stream"`
	Concurrency int               `json:"concurrency,omitempty"` // 0 means an open loop
	Arrivals    *Arrivals         `json:"arrivals,omitempty"`    // nil if the loop is closed
	Users       string            `json:"users,omitempty"`       // the numbers of users as arrivals.ParseUsers parses them, of whom Concurrency is the largest; "" if the number does not change
	Classes     []Class           `json:"classes,omitempty"`     // the classes of the load, of whose users Concurrency is the number; nil if it has none
	Duration    time.Duration     `json:"duration_ns,omitempty"` // for how long a pass of a closed loop is measured; 0 means until no request is left
	Shards      int               `json:"shards,omitempty"`      // processes that measured together; 0 means one alone
	Warmup      int               `json:"warmup"`                // number of warm-up requests before the first pass
	WarmupFor   time.Duration     `json:"warmup_ns,omitempty"`   // for how long a pass sends requests before it is measured; these have lines, too
	Timeout     time.Duration     `json:"timeout_ns"`
	IdleTimeout time.Duration     `json:"idle_timeout_ns"`
	SLO         string            `json:"slo,omitempty"`    // as sample.ParseSLO parses it, or ""
	Cancel      string            `json:"cancel,omitempty"` // as llmbench.ParseCancel parses it, or ""
	Salt        string            `json:"salt,omitempty"`   // the LLMBENCH_SALT of the prompts, which repeats them; "" if they have none
	Start       time.Time         `json:"start"`
	Host        Host              `json:"host"`
	Ends        bool              `json:"ends"` // the file has a last line about the end, unless the process was killed
}

// A Class describes a class of the load. Its fields have the meanings of the fields of a Head with the same names.
type Class struct {
	Name        string    `json:"name"` // as the member class of the lines of its requests
	Concurrency int       `json:"concurrency,omitempty"`
	Users       string    `json:"users,omitempty"`
	Arrivals    *Arrivals `json:"arrivals,omitempty"`
	SLO         string    `json:"slo,omitempty"`
}

// String returns a text like "chat: 8 users, SLO ttft=500ms".
func (c Class) String() string {
	text := fmt.Sprintf("%s: %d users", c.Name, c.Concurrency)
	switch {
	case c.Users != "":
		text = c.Name + ": users " + c.Users
	case c.Arrivals != nil:
		text = c.Name + ": " + c.Arrivals.String()
	}
	if c.SLO != "" {
		text += ", SLO " + c.SLO
	}
	return text
}

// Load returns a short text that describes when requests are sent, such as "concurrency 8".
func (h *Head) Load() string {
	switch {
	case len(h.Classes) > 0:
		var all []string
		for _, c := range h.Classes {
			all = append(all, c.String())
		}
		return strings.Join(all, "; ")
	case h.Users != "":
		return "users " + h.Users
	case h.Concurrency > 0:
		return fmt.Sprintf("concurrency %d", h.Concurrency)
	case h.Arrivals != nil:
		return h.Arrivals.String()
	}
	return "open loop"
}

// A Host is the machine on which the client ran.
type Host struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPUs       int    `json:"cpus"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Go         string `json:"go"`
}

// Limits returns the SLO of the benchmark, or the zero SLO if it had none.
func (h *Head) Limits() sample.SLO {
	if h.SLO == "" {
		return sample.SLO{}
	}
	slo, _ := sample.ParseSLO(h.SLO) // parseHead has checked it
	return slo
}

// Measures reports whether a request counts in latencies, shares and numbers of requests; see [sample.Sample.Counts].
func (h *Head) Measures(q *Request) bool {
	return (&sample.Sample{Turn: int(q.Turn), Due: q.Due, From: h.WarmupFor, Until: h.until()}).Counts()
}

// Stages returns the stages of the load, whose rates are numbers of users if the loop is closed; nil if the load has none. A
// warm-up that is part of a pass comes before them.
func (h *Head) Stages() []arrivals.Stage {
	if h.Arrivals == nil {
		users, _ := arrivals.ParseUsers(h.Users) // parseHead has checked them
		return users
	}
	stages, err := arrivals.ParseStages(h.Arrivals.Parameters["stages"])
	if err != nil { // another process, or an old file
		return nil
	}
	return stages
}

// until returns the instant at which a pass sends no more requests, or 0 if it sends them until none is left.
func (h *Head) until() time.Duration {
	if h.Duration == 0 {
		return 0
	}
	return h.WarmupFor + h.Duration
}

// nanoseconds decodes a number of nanoseconds to a time.Duration.
var nanoseconds = json.WithUnmarshalers(json.UnmarshalFunc(func(text []byte, d *time.Duration) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	*d = time.Duration(n)
	return err
}))

// ErrForeign is the error of a file in which llmbench wrote no line about the benchmark: the file is of another tool.
var ErrForeign = errors.New("want the line about the benchmark that llmbench writes, with dialect, start and host")

func parseHead(line []byte) (h Head, err error) {
	if err := json.Unmarshal(line, &h, nanoseconds); err != nil {
		return h, fmt.Errorf("want the line about the benchmark that llmbench writes: %w", err)
	}
	switch {
	case h.Version < 0 || h.Version > Version:
		return h, fmt.Errorf("version %d: want %d, 1 or none", h.Version, Version)
	case h.Dialect == "" || h.Start.IsZero() || h.Host.Go == "":
		return h, ErrForeign
	case h.Shards < 0:
		return h, fmt.Errorf("shards %d: want at least 1, or none", h.Shards)
	case h.Concurrency < 0:
		return h, fmt.Errorf("concurrency %d: want at least 1, or none", h.Concurrency)
	case h.Duration < 0 || h.Duration > 0 && h.Concurrency == 0 && len(h.Classes) == 0:
		return h, fmt.Errorf("duration_ns %d: want above 0 and a concurrency or classes, or none", h.Duration)
	case h.WarmupFor < 0 || h.WarmupFor > 0 && h.Duration == 0 || h.WarmupFor > math.MaxInt64-h.Duration:
		return h, fmt.Errorf("warmup_ns %d: want above 0 and a duration_ns, or none", h.WarmupFor)
	}
	if h.Users != "" {
		if _, err := arrivals.ParseUsers(h.Users); err != nil {
			return h, fmt.Errorf("users %q: %w", h.Users, err)
		}
	}
	if h.SLO != "" {
		if _, err := sample.ParseSLO(h.SLO); err != nil {
			return h, fmt.Errorf("slo: %w", err)
		}
	}
	return h, nil
}
