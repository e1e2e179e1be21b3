package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/oracle"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/agree"
)

// answering starts a chat server. The function answer returns the words of the answer to the n-th
// request, counted from 0.
func answering(t *testing.T, answer func(n int, prompt string) string) string {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
			http.Error(w, fmt.Sprintf("%v: %+v", err, body), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		words := strings.Fields(answer(int(n.Add(1)-1), body.Messages[0].Content))
		for _, word := range words {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word+" ")
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", len(words))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestAgreement checks the results for a server that gives different answers to some of the
// requests that come after the references.
func TestAgreement(t *testing.T) {
	const n = 8
	echo := func(_ int, prompt string) string { return prompt }
	for _, tt := range []struct {
		name          string
		answer        func(n int, prompt string) string
		agree, prefix float64
	}{
		{"the same answers", echo, 100, 4},
		{"a fourth ends otherwise", func(i int, prompt string) string {
			if i > n && i%4 == 0 { // the first requests check whether the server works, or are the references
				return prompt[:strings.LastIndex(prompt, " ")] + " 0"
			}
			return prompt
		}, 75, 3.75},
		{"all begin otherwise", func(i int, prompt string) string {
			if i > n {
				return "0 " + prompt
			}
			return prompt
		}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := llmbench.Target{URL: answering(t, tt.answer)}
			result := onePass(t, func(b *testing.B) {
				s := server{target: target, counter: counter{tokens: tokenizer.Words{}}, countsOut: true}
				requests, err := s.prompts(4, 4, 1).Requests(n)
				if err != nil {
					b.Fatal(err)
				}
				references, config := s.references(b, requests)
				assert.Equal(t, config, "one user")
				s.agreeing(b, references, requests, llmbench.Load{Concurrency: 4, ClientBound: llmbench.BoundReported})
			})
			assert.Equal(t, result.Extra["agree-%"], tt.agree)
			assert.Equal(t, result.Extra["agree-prefix-tok/req"], tt.prefix)
		})
	}
}

// TestAgreementFile checks that the first process writes the references, and that a later process
// compares its answers with them. Answers to other prompts must be refused.
func TestAgreementFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	s := server{counter: counter{tokens: tokenizer.Words{}}, answers: path}
	requests, err := s.prompts(4, 4, 1).Requests(4)
	assert.NilError(t, err)

	references := func(answer string, requests []llmbench.Request) (got agree.References, config string, failed bool) {
		s.target = llmbench.Target{URL: answering(t, func(int, string) string { return answer })}
		testing.Benchmark(func(b *testing.B) {
			defer func() { failed = b.Failed() }()
			got, config = s.references(b, requests)
		})
		return got, config, failed
	}
	first, config, failed := references("old", requests)
	assert.Assert(t, !failed)
	assert.Equal(t, config, "file")
	assert.Equal(t, first[agree.Hash(requests[0])].Text, "old ")

	second, config, failed := references("new", requests)
	assert.Assert(t, !failed)
	assert.Equal(t, config, "file")
	assert.DeepEqual(t, second, first)

	others, err := s.prompts(4, 4, 2).Requests(4)
	assert.NilError(t, err)
	_, _, failed = references("new", others)
	assert.Assert(t, failed, "answers to other prompts were accepted")
}

// TestAccuracy checks the results for a server that answers one of four questions wrong. Each salt
// and each concurrency must have different questions.
func TestAccuracy(t *testing.T) {
	const n = 64
	o, err := scenario("Accuracy").prepare(Options{Seed: 1, Requests: n}, parse(t))
	assert.NilError(t, err)
	assert.Equal(t, o.Dataset, "arithmetic")
	asked := map[string]bool{}
	var mu sync.Mutex
	for runs, salt := range []string{"1", "2"} {
		t.Setenv("LLMBENCH_SALT", salt)
		set := questionSet(o.Seed, llmbench.Target{}.Salt("questions"))
		for k, users := range []int{1, 8} {
			count := -users // the requests of the warm-up come first
			target := backends.Mock{Config: &mockserver.Config{Oracle: func(prompt string) (string, bool) {
				mu.Lock()
				defer mu.Unlock()
				if count++; count > 0 && count <= n { // the other requests control the prefix cache
					asked[prompt] = true
				}
				if count > 0 && count%4 == 0 {
					return "The answer is 1000000.", true
				}
				return oracle.Known(prompt)
			}}}.Start(t)
			result := onePass(t, func(b *testing.B) {
				s := server{options: o, target: target, counter: counter{tokens: tokenizer.Words{}}}
				s.ask(b, users, set+uint64(k)) // the benchmark has no name, so its own seed would be different
			})
			assert.Equal(t, result.Extra["accuracy-%"], 75.)
			assert.Equal(t, result.Extra["checked-req"], float64(n))
			assert.Equal(t, result.Extra["question-set"], float64(set+uint64(k)))
			assert.Equal(t, len(asked), (2*runs+k+1)*n, "different questions")
		}
	}
}

// TestAccuracyDataset checks which data sets Accuracy accepts.
func TestAccuracyDataset(t *testing.T) {
	for _, tt := range []struct{ env, option, want, err string }{
		{"", "", "arithmetic", ""},
		{"needle?depth=50", "", "needle?depth=50", ""},
		{"sharegpt:file", "", "", `LLMBENCH_DATASET=sharegpt:file: dataset "sharegpt:file" has no answers: want arithmetic`}, // a data set of another scenario
		{"needle", "arithmetic?operations=9", "arithmetic?operations=9", ""},
		{"", "random", "", "has no answers: want arithmetic, gsm8k:PATH, mmlu:PATH or needle"},
		{"", "gsm8k", "", "want the path of a file, gsm8k:PATH"},
	} {
		t.Setenv("LLMBENCH_DATASET", tt.env)
		o, _, _, err := scenario("Accuracy").resolve(Options{Dataset: tt.option})
		if tt.err != "" {
			assert.ErrorContains(t, err, tt.err)
			continue
		}
		assert.NilError(t, err)
		assert.Equal(t, o.Dataset, tt.want)
	}
}

// TestFastAndWrong checks that benchgate finds servers that are faster but answer worse, and that
// it names the right rows. One server is a tenth faster and gives 5 % wrong answers. Another swaps
// answers when more than 32 requests are in flight. Each sample comes from a different process, in
// virtual time.
func TestFastAndWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	const processes, questionsOfOne = 8, 128
	// results returns what processes print when they measure a server.
	results := func(t *testing.T, seed uint64, faster float64, faults ...fault.Fault) string {
		var out strings.Builder
		for _, u := range llmbench.Units() {
			if line := u.Line(); line != "" {
				fmt.Fprintln(&out, line)
			}
		}
		for process := range uint64(processes) {
			for _, users := range []int{1, 64} {
				set := seed + process
				asked, err := benchdata.Answered{Set: benchdata.SetArithmetic, Seed: 1000*set + uint64(users)}.Requests(questionsOfOne)
				assert.NilError(t, err)
				took := func(d time.Duration) time.Duration { return time.Duration(float64(d) / faster) }
				c := mockserver.Config{TTFT: took(100 * time.Millisecond), PerToken: took(5 * time.Millisecond), Faults: slices.Clone(faults)}
				for i := range c.Faults {
					c.Faults[i].Seed = set // decides which requests belong to the share that is wrong
				}
				virtual(t, c, func(t *testing.T, target llmbench.Target) {
					result, err := llmbench.Pass(t.Context(), "", target, llmbench.Load{Requests: asked, Concurrency: users})
					assert.NilError(t, err)
					metrics := sample.Summarize(result.All(), result.Elapsed, sample.SLO{}).Metrics
					fmt.Fprintf(&out, "BenchmarkAccuracy/concurrency=%d 1", users)
					for _, unit := range []string{"output-tok/s", "mean-tpot-ns", sample.Accuracy, sample.CheckedRequests} {
						fmt.Fprintf(&out, " %v %s", metrics[unit], unit)
					}
					fmt.Fprintf(&out, " %d question-set\n", set)
				})
			}
			fmt.Fprintln(&out, "PASS")
		}
		return out.String()
	}
	old := results(t, 1, 1)
	for _, tt := range []struct {
		name, new string
		verdict   gate.Verdict
		worse     []string
	}{
		{"equal", results(t, 101, 1), gate.Pass, nil},
		{"a tenth faster", results(t, 201, 1.1), gate.Pass, nil},
		{"a tenth faster, 5 % wrong", results(t, 301, 1.1, fault.Fault{Kind: fault.Wrong, Share: 0.05}), gate.Regression,
			[]string{"concurrency=1 accuracy-%", "concurrency=64 accuracy-%"}},
		{"a tenth faster, swapped above 32", results(t, 401, 1.1, fault.Fault{Kind: fault.Swap, Every: 8, Above: 32}), gate.Regression,
			[]string{"concurrency=64 accuracy-%"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, err := gate.Compare(gate.File{}, gate.File{Name: "old", Data: strings.NewReader(old)}, gate.File{Name: "new", Data: strings.NewReader(tt.new)}, gate.Options{})
			assert.NilError(t, err)
			assert.Equal(t, report.Verdict, tt.verdict, "%+v", report.Problems)
			var worse []string
			for _, row := range report.Rows {
				if row.Verdict == gate.Regression {
					_, name, _ := strings.Cut(row.Name, "/")
					worse = append(worse, name+" "+row.Unit)
				}
			}
			slices.Sort(worse)
			assert.DeepEqual(t, worse, tt.worse)
		})
	}
}
