package benchdata

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// readKind reads requests of a kind that has a file from the contents of the file.
func readKind(w Workload, file []byte, n int) ([]llmbench.Request, error) {
	r := bytes.NewReader(file)
	switch w := w.(type) {
	case ShareGPT:
		return w.Read(r, n)
	case Questions:
		return w.Read(r, n)
	case Bodies:
		return w.Read(r, n)
	case Answered:
		return w.Read(r, n)
	case Sonnet:
		return w.Read(r, n)
	case Trace:
		requests, replay, err := w.Read(r, n)
		if err == nil {
			_, err = replay.Times(len(requests))
		}
		return requests, err
	}
	panic(w)
}

// FuzzKinds checks that reading a file of any kind returns valid requests, or an error of one line
// that names the kind. Reading the file again must return the same.
func FuzzKinds(f *testing.F) {
	var names []string
	for _, k := range Kinds() {
		if k.Path != "" {
			names = append(names, k.Name)
		}
	}
	all := specs(f)
	for i, name := range names {
		_, path, _ := strings.Cut(all[name], ":")
		path, _, _ = strings.Cut(path, "?")
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), file, uint8(3), uint64(0))
		f.Add(uint8(i), file[:len(file)/2], uint8(9), uint64(1))
	}
	f.Fuzz(func(t *testing.T, kind uint8, file []byte, n uint8, seed uint64) {
		name := names[int(kind)%len(names)]
		w, err := Open(name+":file?max-tokens=4096", Options{Seed: seed})
		if err != nil {
			w, err = Open(name+":file", Options{Seed: seed})
		}
		if err != nil {
			t.Fatal(err)
		}
		requests, err := readKind(w, file, int(n))
		if err != nil {
			if requests != nil || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s of %q: %d requests, %v", name, file, len(requests), err)
			}
			return
		}
		if _, isTrace := w.(Trace); len(requests) == 0 || len(requests) > int(n) && !(isTrace && n == 0) {
			t.Errorf("%s of %q: %d requests, want %d", name, file, len(requests), n)
		}
		for _, r := range requests {
			text := r.Prompt
			for _, m := range r.Messages {
				text += m.Content + " "
			}
			if r.MaxTokens < 1 || r.PromptTokens != (tokenizer.Words{}.Count(text)) {
				t.Errorf("%s of %q has %+v", name, file, r)
			}
		}
		again, err := readKind(w, file, int(n))
		if err != nil || !slices.EqualFunc(again, requests, func(a, b llmbench.Request) bool {
			return a.Prompt == b.Prompt && a.MaxTokens == b.MaxTokens && slices.Equal(a.Messages, b.Messages)
		}) {
			t.Errorf("%s of %q gives other requests the second time: %v", name, file, err)
		}
	})
}

// FuzzOpen checks that Open returns a data set or an error for any spec.
func FuzzOpen(f *testing.F) {
	for _, spec := range specs(f) {
		f.Add(spec, 0, 0)
	}
	f.Add("mooncake:a?from=10m&for=5m&speed=2", 5, 0)
	f.Fuzz(func(t *testing.T, spec string, input, output int) {
		w, err := Open(spec, Options{Input: input, Output: output})
		if (err == nil) != (w != nil) || err != nil && !strings.HasPrefix(err.Error(), "dataset \"") {
			t.Errorf("Open(%q) = %v, %v", spec, w, err)
		}
	})
}
