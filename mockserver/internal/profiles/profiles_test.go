package profiles

import (
	"strings"
	"testing"
)

func TestEmbedded(t *testing.T) {
	for _, name := range Names() {
		p, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name || p.About == "" || p.Source.Study == "" || len(p.Points) == 0 || len(p.Known) == 0 {
			t.Errorf("%s: %+v, want name, about, source, known and points", name, p)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"x","engine":{"max_batch":0}}`:                 "profile x: engine.max_batch: 0: want 1 to",
		`{"name":"x","engine":{"max_batch":1,"step_us":-1}}`:    "profile x: engine.step_us: -1: want 0 to",
		`{"name":"x","engine":{"max_batch":1},"speed":2}`:       `unknown field "speed"`,
		`{"name":"x","engine":{"max_batch":1,"step_ms":2}}`:     `unknown field "step_ms"`,
		`{"name":"x","engine":{"max_batch":1}} {"name":"more"}`: "profile x: data after the profile",
		`[]`: "profile: json: cannot unmarshal array",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s): %v, want %q", text, err, want)
		}
	}
	if _, err := Load("h100"); err == nil || !strings.HasPrefix(err.Error(), `profile "h100": not known: want `) {
		t.Errorf("Load(h100): %v, want an error with the names of all profiles", err)
	}
}
