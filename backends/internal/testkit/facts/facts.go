// Package facts reads what is known about servers from their own sources: images, options, environment
// variables, routes, metrics, and log lines of failures.
//
// Each version of a server has one JSON file in backends/testdata/facts. Tests compare the commands of
// package backends with these files, and stand-in servers are built from them. The files are written by
// hand.
//
// # Another version of a server
//
// To move a server to another version:
//
//  1. Copy its file to the new version's name, and check out the project's tag.
//  2. Look up every fact in the tree, write its line, and remove what is gone. Take only names, numbers and
//     allowed values, no text.
//  3. Write the image with its digest under images, who else can see it under attested, and its page under
//     see. Leave out an image that nobody can attest. Add the version to checkedVersions in
//     backends/names.go.
//  4. Write the tree, the date and the method under tree and checked.
//  5. go test ./backends -run='Facts|Golden|Readme' names what the new version lacks, and what to change in
//     the table in backends/README.md.
package facts

// Facts are what is known about one version of a server, or of a library that several servers use.
type Facts struct {
	Server  string  `json:"server"`  // name of the backend, or of the library
	Version string  `json:"version"` // such as 0.31.0, without a v
	Tree    Tree    `json:"tree"`
	Checked Checked `json:"checked"`
	// Notes are remarks that a user of the server should know and that fit no other field.
	Notes []string `json:"notes,omitempty"`
	// Includes names files of libraries, without .json. Load adds the variables and failures in these files
	// to the names in the server.
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
	Commit     string `json:"commit"`     // 7 to 40 hexadecimal digits, or "" if the tree was not available; the source of each fact is then a URL
	Tag        string `json:"tag"`        // of the commit; "" if the commit has none
	Date       string `json:"date"`       // of the commit, such as 2026-08-14
}

// Checked says when and how the facts were compared with the tree.
type Checked struct {
	Date string `json:"date"` // such as 2026-11-22
	How  string `json:"how"`
}

// A Source says where a fact was read: path:line in the source tree, or the URL of a document.
type Source string

// An Image is a container image of the server.
type Image struct {
	Name     string   `json:"name"`             // with its tag
	For      string   `json:"for"`              // cpu, nvidia, amd or ascend
	Digest   string   `json:"digest,omitempty"` // sha256:…, if a public document states it
	CUDA     string   `json:"cuda,omitempty"`   // major version of CUDA that the image is built for
	Attested string   `json:"attested"`         // where the tag was found
	See      string   `json:"see"`              // the registry's own page of the image, where anybody can check the tag
	Entry    []string `json:"entry,omitempty"`  // the image's own entrypoint
}

// A Command describes how the server's command line begins, and how the server parses it.
type Command struct {
	Words       []string `json:"words,omitempty"`       // program and subcommands
	Style       string   `json:"style,omitempty"`       // argparse, clap, click, llama or none
	Positionals []string `json:"positionals,omitempty"` // names of the arguments that are not options
	Source      Source   `json:"source,omitempty"`
}

// A Model says which name the server gives its model.
type Model struct {
	// Settings are the positional arguments, options, variables or fields that name the model. The first
	// one that is set is used.
	Settings []string `json:"settings"`
	// Listed says under which name the server lists the model:
	//
	//	""      the name in the setting
	//	tagged  the name with ":latest" appended, unless the name has a tag
	//	base    the last element of the name, as in a path
	//	own     a name that the server derives from the name
	Listed string `json:"listed,omitempty"`
	// Behind is the option with the address of the server that has the model. It is for servers that pass
	// requests on; Settings are then empty.
	Behind string `json:"behind,omitempty"`
	Any    bool   `json:"any,omitempty"` // the server accepts any model name in requests
	Source Source `json:"source"`
}

// A Value describes the values of an option, a variable or a field. Kind is one of
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
	Many    bool     `json:"many,omitempty"`    // an option takes all words up to the next option as its values
	Default string   `json:"default,omitempty"` // the server's own default, if it matters to benchmarks
}

// An Option is a command line option or an environment variable.
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
	Name   string `json:"name"`             // name by which routes refer to the listener; "" is the main one
	Port   int    `json:"port"`             // the server's default
	PortBy string `json:"portBy,omitempty"` // option, variable or field that changes the port
	Host   string `json:"host"`             // the address that the server binds by default
	HostBy string `json:"hostBy,omitempty"` // option, variable or field that changes the address, and possibly the port; a flag means all addresses
	Opens  string `json:"opens"`            // "at once", or "loaded" if the port opens when the model is loaded
	Source Source `json:"source"`
}

// A Route is a path that the server answers.
type Route struct {
	Method   string `json:"method"`
	Path     string `json:"path"` // {name} stands for any text without a slash
	Listener string `json:"listener,omitempty"`
	// Needs is a setting that the route requires: the name of an option, a variable or a field, or
	// NAME=VALUE.
	Needs  string `json:"needs,omitempty"`
	Before int    `json:"before,omitempty"` // status before the model is loaded; 0 means that the status does not change
	Answer string `json:"answer,omitempty"` // an example of an answer, if its format matters to benchmarks
	Source Source `json:"source"`
}

// A Metric is a metric in the server's Prometheus exposition.
type Metric struct {
	Name  string `json:"name"` // without the suffix for a histogram or a summary
	Type  string `json:"type"` // counter, gauge, histogram or summary
	Needs string `json:"needs,omitempty"`
	// Until is the last version that had the metric; "" if this version has it.
	Until string `json:"until,omitempty"`
	// Since is the first version that has the metric; "" if this version has it. Facts may name metrics of
	// later versions, because package backends also measures newer images.
	Since  string `json:"since,omitempty"`
	Source Source `json:"source"`
}

// A Line is a log line that says that the server cannot start, or that it does not start as configured.
// Text is the shortest part that identifies the line. Values in it are examples.
type Line struct {
	Text   string `json:"text"`
	Source Source `json:"source"`
}
