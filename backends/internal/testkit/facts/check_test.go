package facts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	treeSource = regexp.MustCompile(`^[^\s:]+:[1-9][0-9]*$`)
	urlSource  = regexp.MustCompile(`^https://[^\s]+$`)
	commitID   = regexp.MustCompile(`^([0-9a-f]{7,40})?$`)
	digest     = regexp.MustCompile(`^(sha256:[0-9a-f]{64})?$`)
)

// A checker collects everything that is wrong with a file.
type checker struct{ errs []error }

func (c *checker) require(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

func (c *checker) oneOf(what, got string, allowed ...string) {
	c.require(slices.Contains(allowed, got), "%s %q: want one of %q", what, got, allowed)
}

func (c *checker) date(what, got string) {
	_, err := time.Parse(time.DateOnly, got)
	c.require(err == nil, "%s %q: want a date like 2026-11-22", what, got)
}

func (c *checker) unique(what string, seen map[string]bool, name string) {
	c.require(name != "" && !seen[name], "%s %q: want a name that no other has", what, name)
	seen[name] = true
}

// check returns everything that is wrong with f.
func (f Facts) check() error {
	c := &checker{}
	c.require(f.Server != "" && f.Version != "", "server %q, version %q: want both", f.Server, f.Version)
	c.require(urlSource.MatchString(f.Tree.Repository), "tree: repository %q: want a URL", f.Tree.Repository)
	c.require(commitID.MatchString(f.Tree.Commit), "tree: commit %q: want 7 to 40 hexadecimal digits", f.Tree.Commit)
	c.date("tree: date", f.Tree.Date)
	c.date("checked: date", f.Checked.Date)
	c.require(f.Checked.How != "", "checked: how: want how the facts were compared with the tree")
	f.checkImages(c)
	f.checkSettings(c)
	f.checkModel(c)
	f.checkRoutes(c)
	f.checkObservations(c)
	return errors.Join(c.errs...)
}

// source checks the source that is given for a fact.
func (f Facts) source(c *checker, what string, s Source) {
	if urlSource.MatchString(string(s)) {
		return
	}
	c.require(treeSource.MatchString(string(s)), "%s: source %q: want path:line or a URL", what, s)
	c.require(f.Tree.Commit != "", "%s: source %q: want a URL, because the file names no commit", what, s)
}

func (f Facts) checkImages(c *checker) {
	seen := map[string]bool{}
	for _, i := range f.Images {
		c.unique("image", seen, i.Name)
		_, tag, tagged := strings.Cut(i.Name[strings.LastIndex(i.Name, "/")+1:], ":")
		c.require(tagged && tag != "" && tag != "latest", "image %q: want a tag that is not latest", i.Name)
		c.oneOf("image "+i.Name+": for", i.For, "cpu", "nvidia", "amd", "ascend")
		c.require(digest.MatchString(i.Digest), "image %s: digest %q: want sha256 and 64 hexadecimal digits", i.Name, i.Digest)
		c.require(i.Attested != "", "image %s: attested: want where the tag was seen", i.Name)
		c.require(urlSource.MatchString(i.See), "image %s: see %q: want the URL of the registry's page", i.Name, i.See)
	}
}

func (f Facts) checkSettings(c *checker) {
	if f.Command.Style != "" || len(f.Command.Words) > 0 {
		c.oneOf("command: style", f.Command.Style, "argparse", "clap", "click", "llama", "none")
		f.source(c, "command", f.Command.Source)
	}
	c.require(len(f.Options) == 0 || f.Command.Style != "", "options without a command")
	for what, options := range map[string][]Option{"option": f.Options, "variable": f.Variables} {
		seen := map[string]bool{}
		for _, o := range options {
			c.require(len(o.Names) > 0, "%s without a name", what)
			for _, name := range o.Names {
				c.unique(what, seen, name)
				c.require(strings.HasPrefix(name, "-") == (what == "option"), "%s %q: only options begin with a hyphen", what, name)
				o.check(c, what+" "+name)
				f.source(c, what+" "+name, o.Source)
			}
		}
	}
	seen := map[string]bool{}
	for _, d := range f.Fields {
		c.unique("field", seen, d.In+" "+d.Name)
		c.require(d.In != "" && d.Name != "", "field %q in %q: want both", d.Name, d.In)
		d.check(c, "field "+d.Name)
		f.source(c, "field "+d.Name, d.Source)
	}
}

func (f Facts) checkModel(c *checker) {
	if len(f.Listeners) == 0 { // a library
		c.require(len(f.Model.Settings) == 0, "model: want none without a listener")
		return
	}
	c.require((len(f.Model.Settings) > 0) != (f.Model.Behind != ""), "model: want the settings that give the model its name, or the option with the server behind this one")
	f.needs(c, "model", f.Model.Behind)
	for _, s := range f.Model.Settings {
		if !slices.Contains(f.Command.Positionals, s) {
			f.needs(c, "model", s)
		}
	}
	c.oneOf("model: listed", f.Model.Listed, "", "tagged", "base", "own")
	f.source(c, "model", f.Model.Source)
}

// check checks that the description of a value is consistent.
func (v Value) check(c *checker, what string) {
	c.oneOf(what+": kind", v.Kind, "flag", "text", "path", "int", "float", "bool", "enum", "json", "object")
	c.require((v.Kind == "enum") == (len(v.Values) > 0) || v.Kind == "bool", "%s: an enum has values, and only an enum or a bool", what)
	number := v.Kind == "int" || v.Kind == "float"
	c.require(number || v.Min == nil && v.Max == nil, "%s: only a number has a min and a max", what)
}

func (f Facts) checkRoutes(c *checker) {
	listeners := map[string]bool{}
	for _, l := range f.Listeners {
		c.require(!listeners[l.Name], "listener %q: described twice", l.Name)
		listeners[l.Name] = true
		c.require(l.Port > 0 && l.Port < 1<<16, "listener %q: port %d", l.Name, l.Port)
		c.oneOf("listener "+l.Name+": opens", l.Opens, "at once", "loaded")
		c.require(l.Host != "", "listener %q: host: want the address that the server binds by default", l.Name)
		f.needs(c, "listener "+l.Name, l.PortBy)
		f.needs(c, "listener "+l.Name, l.HostBy)
		f.source(c, "listener "+l.Name, l.Source)
	}
	seen := map[string]bool{}
	for _, r := range f.Routes {
		what := "route " + r.Method + " " + r.Path
		c.unique("route", seen, r.Method+" "+r.Path+" "+r.Listener)
		c.oneOf(what+": method", r.Method, "GET", "POST", "DELETE")
		c.require(strings.HasPrefix(r.Path, "/"), "%s: want a path that begins with /", what)
		c.require(listeners[r.Listener], "%s: no listener %q", what, r.Listener)
		f.needs(c, what, r.Needs)
		f.source(c, what, r.Source)
	}
}

// needs checks that setting, which what depends on, is described by the facts.
func (f Facts) needs(c *checker, what, setting string) {
	name, _, _ := strings.Cut(setting, "=")
	known := name == "" || slices.ContainsFunc(f.Fields, func(d Field) bool { return d.Name == name })
	for _, o := range slices.Concat(f.Options, f.Variables) {
		known = known || slices.Contains(o.Names, name)
	}
	c.require(known, "%s: no option, variable or field %q", what, name)
}

func (f Facts) checkObservations(c *checker) {
	seen := map[string]bool{}
	for _, m := range f.Metrics {
		c.unique("metric", seen, m.Name)
		c.oneOf("metric "+m.Name+": type", m.Type, "counter", "gauge", "histogram", "summary")
		f.needs(c, "metric "+m.Name, m.Needs)
		f.source(c, "metric "+m.Name, m.Source)
	}
	for _, l := range f.Failures {
		c.require(strings.TrimSpace(l.Text) != "" && !strings.Contains(l.Text, "\n"), "failure %q: want one line", l.Text)
		f.source(c, "failure "+l.Text, l.Source)
	}
}
