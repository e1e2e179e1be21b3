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

// A Profile is a measured server and the engine that was fitted to it.
type Profile struct {
	// Name is the name of the profile. About says which server it is.
	Name  string `json:"name"`
	About string `json:"about"`
	// Source is where the figures were published, or how they were measured.
	Source Source `json:"source"`
	// Known has what was known before the fit, one sentence each.
	Known []string `json:"known,omitempty"`
	// Engine is the fitted engine.
	Engine engine.Profile `json:"engine"`
	// Fit says how the engine was fitted.
	Fit Fit `json:"fit"`
	// Points are the measured load points.
	Points []Point `json:"points"`
	// Folds are engines that were fitted without some of the points. The predictions
	// of those points show how well the model predicts points that it has not seen.
	Folds []Fold `json:"folds,omitempty"`
	// HeldOut has the errors of these predictions, by unit.
	HeldOut []Error `json:"held_out,omitempty"`
}

// A Source says where figures were published.
type Source struct {
	Study    string `json:"study"`
	Lines    string `json:"lines,omitempty"` // lines of the study's text
	Tool     string `json:"tool"`
	Date     string `json:"date"`
	Hardware string `json:"hardware"`
}

// A Fit says how an engine is fitted to the points.
type Fit struct {
	// Vary has the JSON names of the fields of the engine's profile that are fitted.
	Vary []string `json:"vary"`
	// Start has what some of these fields are expected to be, which is known from
	// elsewhere than the points. Each fit begins there, and a field stays there if the
	// points do not determine it. Package calibrate has a rule for fields that are
	// missing.
	Start map[string]float64 `json:"start,omitempty"`
	// Same has fields that are not fitted because they equal a fitted one.
	Same map[string]string `json:"same,omitempty"`
	// Choose is a field with few possible values. Each fit takes the best of them.
	Choose *Choice `json:"choose,omitempty"`
	// Unidentified has the names of the fields that the points do not determine: if
	// one is wrong by a factor of two, and the others are fitted again, the loss hardly
	// changes. Such a field has the value that was expected of it.
	Unidentified []string `json:"unidentified,omitempty"`
	// HoldOut has the indices of the points that each fold holds out. If it is nil, each
	// point is held out alone that is not the only one of its workload.
	HoldOut [][]int `json:"hold_out,omitzero"`
	// Workloads are the workloads of the points.
	Workloads []Workload `json:"workloads"`
}

// A Choice is a field of the engine's profile and its possible values.
type Choice struct {
	Field  string    `json:"field"`
	Values []float64 `json:"values"`
}

// A Workload is what a client sends and how the client behaves.
type Workload struct {
	Name string `json:"name"`
	// Client is "closed" for a closed loop, or "evalscope" for the behaviour of
	// EvalScope in October 2024, which package calibrate describes.
	Client string `json:"client"`
	// TimeoutSeconds is after how many seconds the client gives up a request, 0 for
	// never.
	TimeoutSeconds float64 `json:"timeout_s,omitzero"`
	// WindowSeconds is for how many seconds a "closed" client sends, 0 for as long as
	// there are requests.
	WindowSeconds float64 `json:"window_s,omitzero"`
	// At most one of the next four describes the distribution of output lengths, whose
	// mean each point states. Constant: all outputs have one length. Spread: the
	// lengths are uniform within this share of the mean on either side. Exponential:
	// the lengths have an exponential distribution. Lengths: the shape of the curve.
	// Without any, the shape comes from the output lengths or, if they are not known,
	// the latencies of the training point with the lowest concurrency.
	Constant    bool           `json:"constant,omitzero"`
	Spread      float64        `json:"spread,omitzero"`
	Exponential bool           `json:"exponential,omitzero"`
	Lengths     engine.Lengths `json:"lengths,omitempty"`
}

// A Point is one measured load point.
type Point struct {
	Workload    string  `json:"workload"`
	Concurrency int     `json:"concurrency"`
	Requests    int     `json:"requests"` // sent
	Prompt      float64 `json:"prompt"`   // mean, in tokens
	// Asked has the lengths of prompts and outputs for which the client asked, in its
	// own unit, if the points of a workload differ in them and the server's outputs have
	// other lengths.
	Asked []float64 `json:"asked,omitempty"`
	// Output is the mean number of output tokens of the requests that succeeded.
	Output float64 `json:"output"`
	// Lengths is the distribution of these lengths, if it is known.
	Lengths engine.Lengths `json:"lengths,omitempty"`
	// Censored says that timeouts have removed long outputs from the mean in Output.
	// The mean of the other training points is used instead.
	Censored bool `json:"censored,omitzero"`
	// Runaway has the ordinals, from 0, of requests whose output does not end by
	// itself. RunawayTokens is the length of their output if it ended within the
	// timeout.
	Runaway       []int `json:"runaway,omitempty"`
	RunawayTokens int   `json:"runaway_tokens,omitzero"`
	// Values are the measured values by unit. Lines has their lines in the source.
	Values map[string]float64 `json:"values"`
	Lines  string             `json:"lines,omitempty"`
}

// A Fold is an engine that was fitted without some of the points.
type Fold struct {
	// HeldOut has the indices of the points that the fit did not see.
	HeldOut []int `json:"held_out"`
	// Engine has the values of the fields in [Fit.Vary], [Fit.Same] and [Fit.Choose].
	Engine map[string]float64 `json:"engine"`
}

// An Error summarizes the errors of the predictions of held-out points in one unit.
type Error struct {
	Unit   string  `json:"unit"`
	Points int     `json:"points"`
	Median float64 `json:"median_pct"` // of the absolute relative errors, in percent
	Most   float64 `json:"most_pct"`
}

// Names returns the names of all profiles, sorted.
func Names() []string {
	var names []string
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Load returns the profile with that name. The error names it and all profiles.
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

// Parse reads a profile in the form of its file and validates its engine. The error
// names the field, its value and what is allowed.
func Parse(data []byte) (Profile, error) {
	var p Profile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Profile{}, fmt.Errorf("profile %s: data after the profile", p.Name)
	}
	if err := p.Engine.Validate(); err != nil {
		return Profile{}, fmt.Errorf("profile %s: engine.%w", p.Name, err)
	}
	return p, nil
}
