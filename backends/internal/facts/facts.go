// Package facts reads what is known of the servers from their own sources: images,
// options, variables, routes, metrics and the log lines of failures.
//
// Each server has one file of JSON for each version in backends/testdata/facts. Tests
// hold the commands of package backends against these files, and stand-in servers are
// made of them. A person writes the files; backends/README.md says how.
package facts

// Facts is what is known of one version of a server, or of a library that several
// servers use.
type Facts struct {
	Server  string  `json:"server"`  // name of the backend, or of the library
	Version string  `json:"version"` // such as 0.31.0, without a v
	Tree    Tree    `json:"tree"`
	Checked Checked `json:"checked"`
	// Notes are what a user of the server should know and no other field can hold.
	Notes []string `json:"notes,omitempty"`
	// Includes are files of libraries, without .json. Load adds their variables and
	// failures to those of the server.
	Includes []string `json:"includes,omitempty"`

	Images    []Image    `json:"images,omitempty"`
	Command   Command    `json:"command,omitzero"`
	Model     Model      `json:"model,omitzero"`
	Options   []Option   `json:"options,omitempty"`
	Variables []Option   `json:"variables,omitempty"`
	Fields    []Field    `json:"fields,omitempty"`
	Listeners []Listener `json:"listeners,omitempty"`
	Routes    []Route    `json:"routes,omitempty"`
	Metrics   []Metric   `json:"metrics,omitempty"`
	Failures  []Line     `json:"failures,omitempty"`
}

// A Tree is the source tree that the facts were read from.
type Tree struct {
	Repository string `json:"repository"` // URL
	Commit     string `json:"commit"`     // 7 to 40 hexadecimal digits, or "" if the tree was not at hand; each fact then names its document
	Tag        string `json:"tag"`        // of the commit; "" if the commit has none
	Date       string `json:"date"`       // of the commit, such as 2026-08-14
}

// Checked says who compared the facts with the tree.
type Checked struct {
	Date string `json:"date"` // such as 2026-11-22
	How  string `json:"how"`
}

// A Source is where a fact was read: path:line in the tree of the file, or the URL of
// a document.
type Source string

// An Image is a container image of the server.
type Image struct {
	Name     string   `json:"name"`             // with its tag
	For      string   `json:"for"`              // cpu, nvidia, amd or ascend
	Digest   string   `json:"digest,omitempty"` // sha256:…, if a public document has it
	CUDA     string   `json:"cuda,omitempty"`   // major version of CUDA that the image is built for
	Attested string   `json:"attested"`         // where the tag was seen
	See      string   `json:"see"`              // the registry's own page of the image, where anybody can look the tag up
	Entry    []string `json:"entry,omitempty"`  // the image's own entrypoint
}

// A Command is how the server's command line begins, and how it is parsed.
type Command struct {
	Words       []string `json:"words,omitempty"`       // program and subcommands
	Style       string   `json:"style,omitempty"`       // argparse, clap, click, kong, llama or none
	Positionals []string `json:"positionals,omitempty"` // names of arguments that are no options
	Source      Source   `json:"source,omitempty"`
}

// A Model says which name the server gives its model.
type Model struct {
	// Settings are the positional arguments, options, variables or fields that give the
	// model its name. The first one that is set counts.
	Settings []string `json:"settings"`
	// Listed is how the server lists the name:
	//
	//	""      as it is set
	//	tagged  with ":latest" behind it, unless it has a tag
	//	base    its last element, as of a path
	//	own     another one, which the server makes of it
	Listed string `json:"listed,omitempty"`
	// Behind is the option with the address of the server that has the model, if this
	// one passes requests on. Settings are then empty.
	Behind string `json:"behind,omitempty"`
	Any    bool   `json:"any,omitempty"` // the server answers requests whatever model they name
	Source Source `json:"source"`
}

// A Value is what an option, a variable or a field may have. Kind is one of
//
//	flag    no value
//	text    any text
//	path    a path in the container
//	int     a whole number
//	float   a decimal number
//	bool    true or false, in the spellings of Values if there are any
//	enum    one of Values
//	json    a JSON document
//	object  an object or a list, of a field; its members are fields of their own
type Value struct {
	Kind    string   `json:"kind"`
	Values  []string `json:"values,omitempty"` // of an enum, or of a bool
	Min     *float64 `json:"min,omitempty"`    // of a number
	Max     *float64 `json:"max,omitempty"`
	Many    bool     `json:"many,omitempty"`    // an option takes all words up to the next option
	Default string   `json:"default,omitempty"` // the server's own default, if it matters here
}

// An Option is an option of the command line or a variable of the environment.
type Option struct {
	Names []string `json:"names"`
	Value
	Source Source `json:"source"`
}

// A Field is a member of a JSON or YAML document that the server reads.
type Field struct {
	In   string `json:"in"`   // a path in the container, or a request such as "POST /v1/models"
	Name string `json:"name"` // names of nested members joined by dots; an element of a list has the name 0
	Value
	Source Source `json:"source"`
}

// A Listener is a port that the server listens on.
type Listener struct {
	Name   string `json:"name"`             // that routes refer to; "" is the main one
	Port   int    `json:"port"`             // the server's default
	PortBy string `json:"portBy,omitempty"` // option, variable or field that changes the port
	Host   string `json:"host"`             // the address that the server binds by default
	HostBy string `json:"hostBy,omitempty"` // option, variable or field that changes the address, with or without a port; a flag means all addresses
	Opens  string `json:"opens"`            // "at once", or "loaded": when the model is loaded
	Source Source `json:"source"`
}

// A Route is a path that the server answers.
type Route struct {
	Method   string `json:"method"`
	Path     string `json:"path"` // {name} stands for any text without a slash
	Listener string `json:"listener,omitempty"`
	// Needs is a setting without which the route does not exist: the name of an
	// option, a variable or a field, alone or as NAME=VALUE.
	Needs  string `json:"needs,omitempty"`
	Before int    `json:"before,omitempty"` // status before the model is loaded; 0 is as afterwards
	Answer string `json:"answer,omitempty"` // an answer, if its form matters here
	Source Source `json:"source"`
}

// A Metric is a name in the server's Prometheus exposition.
type Metric struct {
	Name  string `json:"name"` // of a histogram or a summary without suffix
	Type  string `json:"type"` // counter, gauge, histogram or summary
	Needs string `json:"needs,omitempty"`
	// Until is the last version that had the metric; "" if this version has it.
	Until string `json:"until,omitempty"`
	// Since is the first version that has the metric, if this version lacks it. Names
	// of metrics are also for newer images.
	Since  string `json:"since,omitempty"`
	Source Source `json:"source"`
}

// A Line is what the log says when the server cannot start, or only in another way
// than it was told to. It is as short as recognizing it allows, with values as
// examples.
type Line struct {
	Text   string `json:"text"`
	Source Source `json:"source"`
}
