package profiles

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

//go:embed *.json
var files embed.FS

// A Profile is a server that has been measured, and the engine fitted to it.
type Profile struct {
	// Name is what LLMBENCH_MOCK takes, and About says which server it is.
	Name  string `json:"name"`
	About string `json:"about"`
	// Source is where the figures were published, or how they were measured.
	Source Source `json:"source"`
	// Known is what the fit was told rather than what it found, a sentence each.
	Known []string `json:"known,omitempty"`
	// Engine is the fitted engine.
	Engine engine.Profile `json:"engine"`
	// Fit is how it was fitted.
	Fit Fit `json:"fit"`
	// Points are the measured load points.
	Points []Point `json:"points"`
	// Folds are the engines fitted without some of the points, which say how well
	// the model predicts what it has not seen.
	Folds []Fold `json:"folds,omitempty"`
	// HeldOut is that error, by unit.
	HeldOut []Error `json:"held_out,omitempty"`
}

// A Source says where figures come from.
type Source struct {
	Study    string `json:"study"`
	Lines    string `json:"lines,omitempty"` // of the study's text
	Tool     string `json:"tool"`
	Date     string `json:"date"`
	Hardware string `json:"hardware"`
}

// A Fit is the model of a measurement, and what may vary in it.
type Fit struct {
	// Vary lists the fields of the engine's profile that are fitted, by their
	// names in JSON.
	Vary []string `json:"vary"`
	// Start is where every fit begins, of all points and of each fold's: the same
	// fields, guessed before any fit. What it leaves out begins at a default.
	Start map[string]float64 `json:"start,omitempty"`
	// Unidentified lists those of them that the points do not determine: they may
	// be changed twofold without a visible effect.
	Unidentified []string `json:"unidentified,omitempty"`
	// HoldOut has the points of each fold, by index. Without it the points of each
	// workload are held out in turn.
	HoldOut [][]int `json:"hold_out,omitzero"`
	// Workloads are what the points were measured with.
	Workloads []Workload `json:"workloads"`
}

// A Workload is what a client sent, and how the client behaved.
type Workload struct {
	Name string `json:"name"`
	// Client is "closed", a closed loop, or "evalscope", EvalScope's of 2024: see
	// package calibrate.
	Client string `json:"client"`
	// TimeoutSeconds is after how long the client gives a request up, 0 for never.
	TimeoutSeconds float64 `json:"timeout_s,omitzero"`
	// WindowSeconds is for how long a "closed" client sends, 0 for as long as
	// there are requests.
	WindowSeconds float64 `json:"window_s,omitzero"`
	// Constant says that all outputs are of one length, Spread that they are spread
	// evenly by so much of their mean to either side, Exponential that they are
	// distributed so, and Lengths has the curve of their lengths where each is
	// known; only its shape counts. Otherwise the shape of the distribution is
	// taken from the latencies of the training point with the least load, or from
	// ShapeFrom, the concurrency of another.
	Constant    bool           `json:"constant,omitzero"`
	Spread      float64        `json:"spread,omitzero"`
	Exponential bool           `json:"exponential,omitzero"`
	Lengths     engine.Lengths `json:"lengths,omitempty"`
	ShapeFrom   int            `json:"shape_from,omitzero"`
}

// A Point is one measured load point.
type Point struct {
	Workload    string  `json:"workload"`
	Concurrency int     `json:"concurrency"`
	Requests    int     `json:"requests"` // asked for
	Prompt      float64 `json:"prompt"`   // mean tokens
	// Output is the mean number of output tokens, of requests that ended well.
	Output float64 `json:"output"`
	// Censored says that Output is not that of the requests sent, because timeouts
	// cut it: the mean of the training point with the least load is used instead.
	Censored bool `json:"censored,omitzero"`
	// Runaway has the ordinals, from 0, of requests whose output never ends by
	// itself, and RunawayTokens their output where it did within the timeout.
	Runaway       []int `json:"runaway,omitempty"`
	RunawayTokens int   `json:"runaway_tokens,omitzero"`
	// Values are the measured ones by unit, as in Go benchmark format; Lines is
	// where they stand in the source.
	Values map[string]float64 `json:"values"`
	Lines  string             `json:"lines,omitempty"`
}

// A Fold is the engine that was fitted without certain points.
type Fold struct {
	// HeldOut has the indices of the points that the fit did not see.
	HeldOut []int `json:"held_out"`
	// Engine has the values of the fields in [Fit.Vary].
	Engine map[string]float64 `json:"engine"`
}

// An Error is how far the predictions of held-out points are off, in one unit.
type Error struct {
	Unit   string  `json:"unit"`
	Points int     `json:"points"`
	Median float64 `json:"median_pct"` // of the absolute relative errors
	Most   float64 `json:"most_pct"`
}

// Names returns the names of all profiles, sorted.
func Names() []string {
	var names []string
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is in the program
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Load returns the profile with that name. The error names it and those that
// there are.
func Load(name string) (Profile, error) {
	data, err := files.ReadFile(name + ".json")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return Profile{}, fmt.Errorf("profile %q: not known, want %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return Profile{}, err
	}
	return Parse(data)
}

// Parse reads a profile as it stands in a file, and validates it. The error names
// the field and the value that cannot be used.
func Parse(data []byte) (Profile, error) {
	var p Profile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Profile{}, fmt.Errorf("profile %s: more after its end", p.Name)
	}
	if err := p.Engine.Validate(); err != nil {
		return Profile{}, fmt.Errorf("profile %s: engine.%w", p.Name, err)
	}
	return p, nil
}
