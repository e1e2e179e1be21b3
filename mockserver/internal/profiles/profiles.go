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

// A Profile describes a measured server and the engine that was fitted to it.
type Profile struct {
	// Name is the name of the profile. About describes the server.
	Name  string `json:"name"`
	About string `json:"about"`
	// Source says where the metrics were published, or how they were measured.
	Source Source `json:"source"`
	// Known lists what was known before the fit, one sentence each.
	Known []string `json:"known,omitempty"`
	// Engine is the fitted engine.
	Engine engine.Profile `json:"engine"`
	// Fit says how the engine was fitted.
	Fit Fit `json:"fit"`
	// Points are the measured load points.
	Points []Point `json:"points"`
	// Folds has engines that were each fitted without some of the points. The predictions of the missing points
	// show how well the model predicts points that it has not seen.
	Folds []Fold `json:"folds,omitempty"`
	// HeldOut has the errors of these predictions, one element per unit.
	HeldOut []Error `json:"held_out,omitempty"`
}

// A Source says where metrics were published.
type Source struct {
	Study    string `json:"study"`
	Lines    string `json:"lines,omitempty"` // where in the study's text, in line numbers
	Tool     string `json:"tool"`
	Date     string `json:"date"`
	Hardware string `json:"hardware"`
}

// A Fit says how an engine is fitted to the points.
type Fit struct {
	// Vary has the JSON names of the engine fields that are fitted.
	Vary []string `json:"vary"`
	// Start has expected values of some of these fields, which are known from other sources than the points.
	// Each fit starts there, and a field keeps its expected value if the points do not determine the field. For
	// fields that are not in Start, package calibrate has default rules.
	Start map[string]float64 `json:"start,omitempty"`
	// Same maps a field that is not fitted to a fitted field that always has the same value.
	Same map[string]string `json:"same,omitempty"`
	// Choose is a field with few possible values. Each fit chooses the best of them.
	Choose *Choice `json:"choose,omitempty"`
	// Unidentified has the names of the fields that the points do not determine: the loss hardly changes if
	// such a field is wrong by a factor of two and the other fields are fitted again. The field then has its
	// expected value.
	Unidentified []string `json:"unidentified,omitempty"`
	// HoldOut has the indexes of the points that each fold holds out. If it is nil, each point is a fold of its
	// own, unless it is the only point of its workload.
	HoldOut [][]int `json:"hold_out,omitzero"`
	// Workloads are the workloads of the points.
	Workloads []Workload `json:"workloads"`
}

// A Choice is a field of the engine's profile together with its possible values.
type Choice struct {
	Field  string    `json:"field"`
	Values []float64 `json:"values"`
}

// A Workload describes what a client sends and how the client behaves.
type Workload struct {
	Name string `json:"name"`
	// Client is "closed" for a closed loop, or "evalscope" for a client that behaves like EvalScope of October
	// 2024; see package calibrate.
	Client string `json:"client"`
	// TimeoutSeconds is the time after which the client gives up a request. 0 means never.
	TimeoutSeconds float64 `json:"timeout_s,omitzero"`
	// WindowSeconds is the time for which a "closed" client sends requests. 0 means until all requests are
	// sent.
	WindowSeconds float64 `json:"window_s,omitzero"`
	// At most one of the next four fields is set. It describes the distribution of output lengths; each point
	// has the mean. Constant means that all outputs have the same length. Spread means that the lengths are
	// uniform within this share of the mean on either side. Exponential means that the distribution is
	// exponential. Lengths has the shape of the distribution.
	//
	// If none is set, the shape comes from the training point with the lowest concurrency: from its output
	// lengths or, if these are unknown, from its latencies.
	Constant    bool           `json:"constant,omitzero"`
	Spread      float64        `json:"spread,omitzero"`
	Exponential bool           `json:"exponential,omitzero"`
	Lengths     engine.Lengths `json:"lengths,omitempty"`
}

// A Point is one load with its measured metrics.
type Point struct {
	Workload    string  `json:"workload"`
	Concurrency int     `json:"concurrency"`
	Requests    int     `json:"requests"` // number of requests sent
	Prompt      float64 `json:"prompt"`   // mean prompt length, in tokens
	// Asked has the prompt length and the output length for which the client asked, in the client's own unit.
	// It is set only if the points of a workload differ in these lengths and the server's outputs have other
	// lengths.
	Asked []float64 `json:"asked,omitempty"`
	// Output is the mean number of output tokens of the successful requests.
	Output float64 `json:"output"`
	// Lengths is the distribution of the number of output tokens, if it is known.
	Lengths engine.Lengths `json:"lengths,omitempty"`
	// Censored says that Output is too low because timeouts removed long outputs. A fit uses the mean of the
	// other training points instead.
	Censored bool `json:"censored,omitzero"`
	// Runaway has the indexes of the requests whose output does not end by itself. RunawayTokens is the length
	// of their output if it ended before the timeout.
	Runaway       []int `json:"runaway,omitempty"`
	RunawayTokens int   `json:"runaway_tokens,omitzero"`
	// Values has the measured values, keyed by unit. Lines says in which lines of the source they are.
	Values map[string]float64 `json:"values"`
	Lines  string             `json:"lines,omitempty"`
}

// A Fold is an engine that was fitted without some of the points.
type Fold struct {
	// HeldOut has the indexes of the points that the fit did not see.
	HeldOut []int `json:"held_out"`
	// Engine has the values of the fields in [Fit.Vary], [Fit.Same] and [Fit.Choose].
	Engine map[string]float64 `json:"engine"`
}

// An Error summarizes the errors of the predictions of held-out points in one unit.
type Error struct {
	Unit   string  `json:"unit"`
	Points int     `json:"points"`
	Median float64 `json:"median_pct"` // median of the absolute relative errors, in percent
	Most   float64 `json:"most_pct"`
}

// Names returns the names of all profiles, sorted.
func Names() []string {
	var names []string
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Load returns the profile with this name. If there is none, the error lists the names of all profiles.
func Load(name string) (Profile, error) {
	data, err := files.ReadFile(name + ".json")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return Profile{}, fmt.Errorf("profile %q: not known: want %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return Profile{}, err
	}
	return Parse(data)
}

// Parse reads a profile from the JSON of its file, and validates its engine. The error names the field, its
// value and what is allowed.
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
