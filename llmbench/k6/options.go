package k6

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/grafana/sobek"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// options are the settings of a Client in a script. A field that the script omits has the value of the
// corresponding LLMBENCH_ variable.
type options struct {
	name    string // the name of the benchmark in the records
	target  llmbench.Target
	load    llmbench.Load
	dialect dialect.Dialect   // nil selects the default dialect of the method
	tags    [][2]string       // names and values, in the order of the script
	apiKey  string            // LLMBENCH_API_KEY
	aws     *llmbench.AWSKeys // signs requests of the dialects of AWS; may be nil
	key     []byte            // the script's settings except for the tags, as JSON
}

func init() { env.Register(func(r *env.Reader) { readLoad(r) }) }

// readLoad reads the variables that apply to requests. Errors are added to r.
func readLoad(r *env.Reader) llmbench.Load {
	var l llmbench.Load
	stream := true
	env.Read(r, &stream, "LLMBENCH_STREAM", strconv.ParseBool, "true or false")
	l.NoStream = !stream
	env.Read(r, &l.Timeout, "LLMBENCH_TIMEOUT", env.Duration, "a duration like 10m, above 0")
	env.Read(r, &l.IdleTimeout, "LLMBENCH_IDLE_TIMEOUT", env.Duration, "a duration like 60s, above 0")
	env.Read(r, &l.SLO, "LLMBENCH_SLO", sample.ParseSLO, sloAllowed)
	return l
}

// sloAllowed describes an SLO in errors.
const sloAllowed = "limits like ttft=500ms,tpot=50ms,e2e=10s"

// readOptions reads the argument of the constructor of Client, and the variables.
func readOptions(rt *sobek.Runtime, v sobek.Value) (*options, error) {
	environ := os.Environ()
	if err := env.Check(environ); err != nil {
		return nil, err
	}
	r := env.NewReader(environ)
	cfg := backends.ReadFrom(r)
	o := &options{name: "k6", load: readLoad(r)}
	if r.IsSet("LLMBENCH_DIALECT") {
		o.dialect = cfg.Dialect
	}
	header := http.Header(maps.Clone(cfg.Header))
	if header == nil {
		header = http.Header{}
	}
	o.apiKey, o.aws = cfg.APIKey.Reveal(), cfg.AWS
	t := llmbench.Target{URL: cfg.URL, Model: cfg.Model, Header: header, Body: json.RawMessage(cfg.Body.Reveal()), Compressed: cfg.Compressed, Proxy: cfg.Proxy, HTTP: cfg.HTTP, TLS: cfg.TLS}

	a := readArgs(rt, v)
	a.text(&o.name, "name")
	a.text(&t.URL, "url")
	a.text(&t.Model, "model")
	parsed(a, &o.dialect, "dialect", dialect.ByName, "one of "+strings.Join(dialect.Names(), ", "))
	a.texts("header", rt, func(name, value string) { header.Set(name, value) })
	a.json(&t.Body, "body")
	a.flag(&t.Compressed, "compressed")
	a.text(&t.Proxy, "proxy")
	stream := !o.load.NoStream
	a.flag(&stream, "stream")
	o.load.NoStream = !stream
	a.duration(&o.load.Timeout, "timeout")
	a.duration(&o.load.IdleTimeout, "idleTimeout")
	parsed(a, &o.load.SLO, "slo", sample.ParseSLO, sloAllowed)
	a.flag(&o.load.KeepText, "keepText")
	a.texts("tags", rt, func(name, value string) { o.tags = append(o.tags, [2]string{name, value}) })
	if err := a.end(); err != nil {
		return nil, err
	}
	server := "url"
	if t.URL == cfg.URL {
		server = cfg.Name
	}
	o.target = t
	o.target.Config = map[string]string{"backend": server, "model": t.Model, "load-generator": "k6"}
	return o, o.check(cfg, a)
}

// check returns an error if the options, which were read with a, are invalid.
func (o *options) check(cfg backends.Config, a *args) error {
	switch {
	case o.target.URL == "":
		return errors.New("url missing: want a base URL like http://127.0.0.1:8000, or LLMBENCH_URL")
	case cfg.URL != "" && o.target.URL != cfg.URL && (cfg.APIKey.Reveal() != "" || cfg.AWS != nil || len(cfg.Header) > 0 || cfg.TLS != nil):
		return errors.New("url differs from LLMBENCH_URL, and LLMBENCH_API_KEY, keys of AWS, LLMBENCH_HEADER and the TLS variables are for LLMBENCH_URL alone: want that URL, or none of these variables (the field header takes a key)")
	case o.load.NoStream && o.load.SLO.NeedsStream():
		return fmt.Errorf("slo %v: answers that are not streamed have no TTFT and no TPOT: want e2e alone, or stream true", o.load.SLO)
	}
	if err := o.target.Check(); err != nil {
		return err
	}
	return o.setKey(a.object)
}

// setKey sets the key from the settings of the script, which are nil or an object. The key has no tags,
// because only k6 uses them: clients that differ only in their tags share connections and records.
func (o *options) setKey(object *sobek.Object) error {
	set := map[string]any{}
	if object != nil {
		text, err := object.MarshalJSON()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &set); err != nil {
			return err
		}
	}
	delete(set, "tags")
	var err error
	o.key, err = json.Marshal(set) // json.Marshal sorts the names
	return err
}

// A route is where the requests of one method of a client are sent.
type route struct {
	benchmark string
	target    llmbench.Target
	key       [sha256.Size]byte // equal for equal routes
}

// route returns the route of a method. The argument d is the method's default dialect, which applies unless
// the options set another.
func (o *options) route(d dialect.Dialect) *route {
	if o.dialect != nil {
		d = o.dialect
	}
	t := o.target
	t.Dialect = d
	if _, ok := dialect.AWSService(d); ok && t.Header.Get("Authorization") == "" {
		t.AWS = o.aws
	}
	if name, value := dialect.KeyHeader(d, o.apiKey); o.apiKey != "" && t.Header.Get(name) == "" {
		t.Header = t.Header.Clone()
		t.Header.Set(name, value)
	}
	return &route{o.name + "/dialect=" + d.Name(), t, sha256.Sum256(append([]byte(d.Name()+" "), o.key...))}
}

// talks reports whether a dialect supports conversations.
func talks(d dialect.Dialect) bool {
	_, err := d.Body(dialect.Query{Model: "m", Messages: []dialect.Message{{Role: "user", Content: "a"}}, MaxTokens: 1})
	return !errors.Is(err, errors.ErrUnsupported)
}
