package probe

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestBase(t *testing.T) {
	for _, c := range []struct {
		name string
		list []Model
		want string // "" means that there is no base, or several
	}{
		{"one model", []Model{{ID: "m"}}, "m"},
		{"a model and its adapters", []Model{{ID: "sql", Root: "./lora", Parent: "m"}, {ID: "m", Root: "./m"}, {ID: "chat", Root: "./lora2", Parent: "m"}}, "m"},
		{"an adapter of an adapter", []Model{{ID: "m"}, {ID: "a", Parent: "m"}, {ID: "b", Parent: "a"}}, "m"},
		{"only an adapter", []Model{{ID: "sql", Parent: "m"}}, "sql"},
		{"two names of one model", []Model{{ID: "m", Root: "./m"}, {ID: "gpt", Root: "./m"}}, "m"},
		{"two models", []Model{{ID: "a", Root: "./a"}, {ID: "b", Root: "./b"}}, ""},
		{"two models of unknown roots", []Model{{ID: "a"}, {ID: "b"}}, ""},
		{"two adapters of a model that is not listed", []Model{{ID: "a", Root: "./l", Parent: "m"}, {ID: "b", Root: "./l", Parent: "m"}}, ""},
		{"two models and an adapter", []Model{{ID: "a"}, {ID: "b"}, {ID: "c", Parent: "a"}}, ""},
		{"a model that names itself", []Model{{ID: "m", Parent: "m"}}, "m"},
		{"adapters of each other", []Model{{ID: "a", Parent: "b"}, {ID: "b", Parent: "a"}}, ""},
		{"nothing", nil, ""},
	} {
		m, ok := Base(c.list)
		assert.Equal(t, ok, c.want != "", c.name)
		if ok {
			assert.Equal(t, m.ID, c.want, c.name)
		}
	}
}
