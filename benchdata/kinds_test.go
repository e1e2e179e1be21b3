package benchdata

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// specs returns a spec for each kind of data set, with files from testdata.
func specs(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, k := range Kinds() {
		all[k.Name] = k.Name
		if k.Path != "" {
			files, err := filepath.Glob("testdata/kinds/" + k.Name + ".*")
			assert.NilError(t, err)
			assert.Equal(t, len(files), 1, "files of kind %s", k.Name)
			all[k.Name] += ":" + files[0]
		}
		if k.Name == "sonnet" {
			all[k.Name] += "?prefix=30" // because the file is short
		}
	}
	return all
}

// uncheckedRequests makes comparisons ignore the checks of requests, because checks are functions.
var uncheckedRequests = cmpopts.IgnoreFields(llmbench.Request{}, "Check")

// TestKinds checks, for every kind, that its requests are valid, that equal seeds give equal requests,
// that lengths are the tokenizer's counts, and that Output has its effect.
func TestKinds(t *testing.T) {
	for name, spec := range specs(t) {
		o := Options{Seed: 5}
		w, err := Open(spec, o)
		assert.NilError(t, err)
		_, isTrace := w.(Trace)
		if name != "generated-shared-prefix" && name != "random-sglang" { // these have long prompts
			o.Template = 3
		}
		if !isTrace {
			o.Output = 33
		}
		requests, err := w.Requests(20)
		assert.NilError(t, err, spec)
		assert.Assert(t, len(requests) == 20 || len(requests) > 1 && (isTrace || strings.Contains(name, "sglang")), "%s has %d requests", spec, len(requests))
		for _, r := range requests {
			text := r.Prompt
			for _, m := range r.Messages {
				text += m.Content + " "
			}
			assert.Assert(t, r.MaxTokens > 0 && text != "", "%s: %+v", spec, r)
			assert.Equal(t, r.PromptTokens, tokenizer.Words{}.Count(text), "%s: %q", spec, text)
		}
		again, err := w.Requests(20)
		assert.NilError(t, err)
		assert.DeepEqual(t, again, requests, uncheckedRequests)

		w, err = Open(spec, o)
		assert.NilError(t, err)
		short, err := w.Requests(20)
		assert.NilError(t, err)
		for _, r := range short {
			if !isTrace && name != "random-sglang" && name != "random-vllm" {
				assert.Equal(t, r.MaxTokens, 33, spec)
			}
		}
	}
}

// TestKindsCompressed checks that compression, a byte order mark and CRLF do not change
// the requests.
func TestKindsCompressed(t *testing.T) {
	for name, spec := range specs(t) {
		_, rest, _ := strings.Cut(spec, ":")
		path, params, _ := strings.Cut(rest, "?")
		if path == "" {
			continue
		}
		plain, err := os.ReadFile(path)
		assert.NilError(t, err)
		want := requestsOf(t, spec)
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, err = z.Write(plain)
		assert.NilError(t, err)
		assert.NilError(t, z.Close())
		enc, err := zstd.NewWriter(nil)
		assert.NilError(t, err)
		for how, data := range map[string][]byte{
			"gzip": zipped.Bytes(),
			"zstd": enc.EncodeAll(plain, nil),
			"BOM":  append([]byte("\ufeff"), plain...),
			"CRLF": bytes.ReplaceAll(bytes.ReplaceAll(plain, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")),
		} {
			file := filepath.Join(t.TempDir(), "file")
			assert.NilError(t, os.WriteFile(file, data, 0o666))
			assert.DeepEqual(t, requestsOf(t, name+":"+file+"?"+params), want, uncheckedRequests)
			if how == "gzip" || how == "zstd" { // truncated
				assert.NilError(t, os.WriteFile(file, data[:len(data)/2], 0o666))
				w, err := Open(name+":"+file+"?"+params, Options{Seed: 1})
				assert.NilError(t, err)
				_, err = w.Requests(1000)
				assert.ErrorContains(t, err, name+" "+file, how)
			}
		}
	}
}

func requestsOf(t *testing.T, spec string) []llmbench.Request {
	t.Helper()
	w, err := Open(spec, Options{Seed: 1})
	assert.NilError(t, err)
	requests, err := w.Requests(20)
	assert.NilError(t, err, spec)
	return requests
}

// TestNoPermission needs a user who is not root.
func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read every file; run the test as another user")
	}
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, []byte("one\n"), 0))
	for _, k := range Kinds() {
		if k.Path == "" {
			continue
		}
		w, err := Open(k.Name+":"+file, Options{})
		assert.NilError(t, err)
		_, err = w.Requests(1)
		assert.ErrorContains(t, err, "permission denied")
	}
}

// TestKindsMalformed checks every kind's errors for files that it cannot read. An error must name the
// kind and the file.
func TestKindsMalformed(t *testing.T) {
	for name, spec := range specs(t) {
		k := Kinds()[slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == name })]
		if k.Path == "" {
			continue
		}
		dir := t.TempDir()
		fails := func(path, want string) {
			t.Helper()
			w, err := Open(name+":"+path, Options{Seed: 1})
			assert.NilError(t, err)
			requests, err := w.Requests(1000)
			assert.ErrorContains(t, err, want)
			assert.Assert(t, requests == nil)
			assert.Assert(t, strings.HasPrefix(err.Error(), name+": open "+path) || strings.HasPrefix(err.Error(), name+" "+path+":"), "%v", err)
			assert.Equal(t, strings.Count(err.Error(), "\n"), 0, "%v", err)
		}
		fails(filepath.Join(dir, "none"), "no such file")
		fails(dir, "is a folder: want a file")
		file := filepath.Join(dir, "file")
		for _, tt := range []struct{ text, want string }{
			{"", "the file is empty"},
			{"\ufeff", ""},
			{"\xfe\xff\x00{", "the file is UTF-16: want UTF-8"},
			{"\x1f\x8b\x08\x00", ""},
			{"\x28\xb5\x2f\xfd\xff\xff", ""},
		} {
			assert.NilError(t, os.WriteFile(file, []byte(tt.text), 0o666))
			fails(file, tt.want)
		}
		if name == "lines" || name == "sonnet" {
			continue // any text is valid
		}
		good, err := os.ReadFile(strings.TrimPrefix(spec, name+":"))
		assert.NilError(t, err)
		cut := strings.TrimRight(string(good), "\n") // the file now ends within the last line
		cut = cut[:strings.LastIndex(cut, "\n")+1+min(5, len(cut)-strings.LastIndex(cut, "\n")-2)]
		for _, tt := range []struct{ text, want string }{
			{"\x00\x01\x02", ":1: "},
			{"7\n", ":1: "},
			{cut, fmt.Sprintf("%s:%d: ", file, 1+strings.Count(cut, "\n"))},
		} {
			assert.NilError(t, os.WriteFile(file, []byte(tt.text), 0o666))
			fails(file, tt.want)
		}
	}
}

func TestOpen(t *testing.T) {
	for spec, want := range map[string]Workload{
		"random":                       Prompts{Input: 512, Output: 128, Seed: 7},
		"random?prefix=9":              Prompts{Input: 512, Output: 128, SharedPrefix: 9, Seed: 7},
		"random:input=9,output=4":      Prompts{Input: 9, Output: 4, Seed: 7},
		"random?input=9":               Prompts{Input: 9, Output: 128, Seed: 7},
		"random:input=9..9":            Prompts{Input: 9, Output: 128, Seed: 7},
		"random:lengths=a=b,c.csv":     Drawn{Path: "a=b,c.csv", Seed: 7},
		"random:lengths=c++ %2B&d.csv": Drawn{Path: "c++ %2B&d.csv", Seed: 7},
		"random?lengths=c++%20%26.csv": Drawn{Path: "c++ &.csv", Seed: 7},
		"mmlu:c++.csv?subject=a+b%2B":  Answered{Set: SetMMLU, Path: "c++.csv", Subject: "a b+", Seed: 7},
		"random: prefix=9, output=4":   Prompts{Input: 512, Output: 4, SharedPrefix: 9, Seed: 7},
		"lines:a,output=4?output=5":    Questions{Format: Lines, Path: "a,output=4", Output: 5, FixedOutput: true, Seed: 7},
		"random-vllm?ratio=0.5":        Random{Rules: VLLM, Ratio: 0.5, Seed: 7},
		"sonnet:a:b?prefix=20":         Sonnet{Path: "a:b", Prefix: 20, Seed: 7},
		"sharegpt-sglang:a?context=40": ShareGPT{Path: "a", Rules: SGLang, Context: 40, Seed: 7},
		"openqa:what?/file?min=3":      Questions{Format: OpenQA, Path: "what?/file", MinPrompt: 3, Seed: 7},
		"openqa:a?repeat=false":        Questions{Format: OpenQA, Path: "a", NoRepeat: true, Seed: 7},
		"sharegpt:a?repeat=false":      ShareGPT{Path: "a", Rules: VLLM, NoRepeat: true, Seed: 7},
		"openai:a?repeat=false":        Bodies{Path: "a", NoRepeat: true, Seed: 7},
		"openai:a?repeat=true":         Bodies{Path: "a", Seed: 7},
		"spec-bench:a?category=qa":     Questions{Format: SpecBench, Path: "a", Category: "qa", Seed: 7},
		"jsonl:a?own-output=true":      Questions{Format: CustomVLLM, Path: "a", OwnOutput: true, Seed: 7},
		"mooncake:m?from=10m&for=5m&speed=2&share=0.1&max-tokens=4096": Trace{Format: Mooncake, Path: "m", From: 10 * time.Minute, For: 5 * time.Minute,
			Speed: 2, Share: 0.1, MaxTokens: 4096, Seed: 7},
		"burstgpt:b?model=GPT-4":                             Trace{Format: BurstGPT, Path: "b", Model: "GPT-4", Seed: 7},
		"generated-shared-prefix?per-group=2&in-order=true":  SharedPrefix{PerGroup: 2, InOrder: true, Seed: 7},
		"prefix-repetition:prefixes=2,prefix=100,suffix=200": PrefixRepetition{Prefixes: 2, Prefix: 100, Suffix: 200, Seed: 7},
	} {
		got, err := Open(spec, Options{Seed: 7})
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want)
	}
	for _, tt := range []struct {
		spec string
		o    Options
		want string
	}{
		{"", Options{}, `dataset "": want one of random, random-vllm,`},
		{"nothing:x", Options{}, `dataset "nothing:x": want one of random, random-vllm, random-sglang, prefix-repetition, generated-shared-prefix, markov, sonnet[:PATH], sharegpt:PATH`},
		{"openqa", Options{}, "want the path of a file, openqa:PATH"},
		{"openqa:?min=3", Options{}, "want the path of a file, openqa:PATH"},
		{"random:x", Options{}, "random reads no file: want parameters like random:output=100"},
		{"openqa:x?speed=2", Options{}, "parameter speed: want one of max, min, output, repeat"},
		{"sharegpt:x?speed=2", Options{}, "parameter speed: want one of output, repeat"},
		{"sharegpt-sglang:x?repeat=false", Options{}, "parameter repeat: want one of context, output"},
		{"sharegpt:x?repeat=never", Options{}, "parameter repeat=never: want true or false"},
		{"jsonl:x?own-output=true", Options{Output: 5}, "an output of 5 tokens and parameter own-output=true"},
		{"azure:x?speed=0", Options{}, "parameter speed=0: want a number above 0"},
		{"azure:x?speed=1&speed=2", Options{}, "parameter speed is given twice"},
		{"azure:x?from=9", Options{}, "parameter from=9: want a duration like 10m"},
		{"azure:x?max-tokens=-9", Options{}, "parameter max-tokens=-9: want a whole number"},
		{"azure:x?%zz", Options{}, "invalid URL escape"},
		{"azure:x", Options{Output: 5}, "an output of 5 tokens, but the lengths of a trace are fixed"},
		{"sharegpt:x", Options{Input: 5}, "an input of 5 tokens, but the lengths of its prompts are fixed"},
		{"random:prefix=9?output=5", Options{}, "random reads no file: want parameters like random:output=100"},
		{"random:output=5,output=5", Options{}, "parameter output is given twice"},
		{"random:output=5,6", Options{}, "parameter output=5,6: want a whole number of tokens from 1"},
		{"random:output=0", Options{}, "parameter output=0: want a whole number of tokens from 1 to 134217728, or one of LOW..HIGH, "},
		{"random:batch=4", Options{}, "parameter batch: want one of input, lengths, output, prefix"},
		{"random:input=lognormal(512)", Options{}, "parameter input=lognormal(512): lognormal has 1 parameters: want lognormal(MEDIAN,SIGMA), and a range like 16..8192 or nothing after them"},
		{"random:input=lognormal(512,0.6", Options{}, `dataset "random:input=lognormal(512,0.6": "input=lognormal(512,0.6" has parentheses without a partner: want pairs`},
		{"random:input=lognormal(512,0.6)", Options{Input: 6}, "parameter input=lognormal(512,0.6) and an input of 6 tokens: want one of them"},
		{"random:lengths=x,output=5", Options{}, "parameter lengths=x and other lengths: want the lengths in the file alone"},
		{"random:lengths=", Options{}, "parameter lengths=: want a file, as in lengths=lengths.csv"},
		{"random:lengths=x", Options{Input: 5}, "parameter lengths=x and other lengths: want the lengths in the file alone"},
		{"random-vllm:input=normal(5,1)", Options{}, "parameter input=normal(5,1): want a whole number from 1"},
		{"sharegpt:x?output=normal(5,1)", Options{}, "parameter output=normal(5,1): want a whole number from 1"},
		{"random:input=5", Options{Input: 6}, "parameter input=5 and an input of 6 tokens: want one of them"},
		{"openqa:x?output=5", Options{Output: 6}, "parameter output=5 and an output of 6 tokens: want one of them"},
		{"openqa:x?input=5", Options{}, "parameter input: want one of max, min, output, repeat"},
		{"azure:x?output=5", Options{}, "an output of 5 tokens, but the lengths of a trace are fixed"},
		{"prefix-repetition:input=5", Options{}, "an input of 5 tokens: want the parameters prefix and suffix"},
		{"prefix-repetition", Options{Input: 5}, "an input of 5 tokens: want the parameters prefix and suffix"},
		{"generated-shared-prefix?in-order=maybe", Options{}, "parameter in-order=maybe: want true or false"},
	} {
		_, err := Open(tt.spec, tt.o)
		assert.ErrorContains(t, err, tt.want)
	}
}

func TestSeparate(t *testing.T) {
	for _, tt := range []struct{ spec, rest, values string }{
		{"", "", "map[]"},
		{"random", "random", "map[]"},
		{"random:input=5,output=6", "random", "map[input:5 output:6]"},
		{"random:prefix=3,batch=1,8,32,input=5", "random?prefix=3", "map[batch:1,8,32 input:5]"},
		{"random?prefix=3&input=5", "random?prefix=3", "map[input:5]"},
		{"mooncake:a,b?from=1m&input=5&speed=2", "mooncake:a,b?from=1m&speed=2", "map[input:5]"},
		{"mooncake:a?from=10m&for=5m", "mooncake:a?from=10m&for=5m", "map[]"},
		{"sharegpt:", "sharegpt:", "map[]"},
		{"mmlu:c++.csv?subject=a+b%2B%26%25&input=5", "mmlu:c++.csv?subject=a+b%2B%26%25", "map[input:5]"},
		{"random:lengths=c++ %2B&d.csv", "random?lengths=c++ %252B%26d.csv", "map[]"},
		{"nothing:input=5", "nothing:input=5", "map[]"},
		{"random:input=mix(3*64,1*normal(9,2)),prefix=3,output=gamma(5,2,1..9)", "random?prefix=3", "map[input:mix(3*64,1*normal(9,2)) output:gamma(5,2,1..9)]"},
	} {
		rest, values, err := Separate(tt.spec, "input", "output", "batch")
		assert.NilError(t, err)
		assert.Equal(t, rest, tt.rest)
		assert.Equal(t, fmt.Sprint(values), tt.values)
	}
	_, _, err := Separate("random:input=5,input=6", "input")
	assert.Error(t, err, `dataset "random:input=5,input=6": parameter input is given twice`)
	_, _, err = Separate("random:x", "input")
	assert.Error(t, err, `dataset "random:x": random reads no file: want parameters like random:output=100`)
}

// TestReadme checks that README.md lists every kind that has a file.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	assert.NilError(t, err)
	for _, k := range Kinds() {
		if k.Path != "" {
			assert.Assert(t, bytes.Contains(readme, []byte("`"+k.Name+"`")), "README.md does not name %s", k.Name)
		}
	}
}

// TestPublishedDigests checks the digests in README.md for the files that are available.
func TestPublishedDigests(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	assert.NilError(t, err)
	for _, name := range []string{"AzureLLMInferenceTrace_conv.csv", "mooncake_conversation_trace.jsonl"} {
		file, err := os.ReadFile(extraFile(t, name))
		assert.NilError(t, err)
		assert.Assert(t, bytes.Contains(readme, fmt.Appendf(nil, "`%x`", sha256.Sum256(file))), name)
	}
}
