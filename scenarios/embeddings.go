package scenarios

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/patient"
)

// mostScore is the largest difference between the scores of two equal documents, as a share of the score or,
// for a score between -1 and 1, as a number.
const mostScore = 0.01

// itemTokens and queryTokens are the lengths of inputs and of the query of a ranking.
const (
	itemTokens  = 128
	queryTokens = 16
)

// prepareItems completes o with the environment variables of Embeddings and Rerank.
func prepareItems(o Options, c config) (Options, error) {
	if len(o.Batches) == 0 {
		o.Batches = c.Batches
	}
	o.Dimensions = cmp.Or(o.Dimensions, c.Dimensions)
	o.Cosine = cmp.Or(o.Cosine, c.Cosine)
	return o, nil
}

// fitsItems returns an error unless a data set is random words.
func fitsItems(dataset string) error {
	if dataset != "random" {
		return fmt.Errorf("dataset %q: want random", dataset)
	}
	return nil
}

// embeddings measures vectors of random texts.
func embeddings(b *testing.B, s server) { measureItems(b, s, dialect.Embeddings{}) }

// rerank measures the ranking of random documents for a random query.
func rerank(b *testing.B, s server) { measureItems(b, s, dialect.Rerank{}) }

// measureItems measures s with requests of increasing numbers of inputs, by increasing numbers of users. If
// the dialect of the target generates text, it is replaced by own.
func measureItems(b *testing.B, s server, own dialect.ItemsDialect) {
	d, items := s.target.Dialect.(dialect.ItemsDialect)
	if !items {
		d = own
	}
	if d.Ranks() != own.Ranks() {
		harness.Skip(b, d.Name()+" is for requests of another kind: embeddings and rankings have dialects of their own")
	}
	s.target.Dialect = d
	// Writing and parsing all 384 dimensions in one process keeps two cores busy.
	if n := cmp.Or(s.options.Dimensions, pick(s, 0, 0, 64)); n > 0 && !d.Ranks() {
		s.target.Dialect = ofDimensions(d, n)
		s = s.withConfig(map[string]string{"asked-dimensions": strconv.Itoa(n)})
	}
	for _, batch := range s.options.Batches {
		b.Run(fmt.Sprintf("workload=random-%d/batch=%d", itemTokens, batch), func(b *testing.B) {
			s.checkEqual(b, d.Ranks(), batch)
			s.perUsers(b, pick(s, []int{1, 8, 32, 128}, []int{1, 8}), func(b *testing.B, users int) {
				l := llmbench.Load{Concurrency: users, NoStream: true, Units: sample.Named(sample.PromptRate, sample.MeanE2E, sample.P90E2E, sample.P99E2E)}
				n := s.fewest(s.requests(pick(s, max(4*users, 100), max(2*users, 16))), users, 1)
				s.run(b, s.fresh(b, l, n, pick(s, users, 1), func(n int, seed uint64) ([]llmbench.Request, error) {
					return s.itemRequests(n, batch, d.Ranks(), seed)
				}))
			})
		})
	}
}

// ofDimensions returns d, which must be a dialect of this module for embeddings, with requests for vectors of
// length n. It returns any other dialect as it is.
func ofDimensions(d dialect.ItemsDialect, n int) dialect.Dialect {
	switch d := d.(type) {
	case dialect.Embeddings:
		d.Dimensions = n
		return d
	case dialect.TEIEmbed:
		d.Dimensions = n
		return d
	case dialect.OllamaEmbed:
		d.Dimensions = n
		return d
	}
	return d
}

// itemRequests returns n requests of random inputs, batch in each. A ranking also has a random query.
func (s server) itemRequests(n, batch int, ranks bool, seed uint64) ([]llmbench.Request, error) {
	texts, err := s.prompts(itemTokens, 1, seed).Requests(n * batch)
	if err != nil {
		return nil, err
	}
	queries := make([]llmbench.Request, n)
	if ranks {
		if queries, err = s.prompts(queryTokens, 1, seed+1).Requests(n); err != nil {
			return nil, err
		}
	}
	all := make([]llmbench.Request, n)
	for i := range all {
		all[i] = llmbench.Request{Prompt: queries[i].Prompt}
		for _, t := range texts[i*batch : (i+1)*batch] {
			all[i].Inputs = append(all[i].Inputs, t.Prompt)
			all[i].PromptTokens += t.PromptTokens + queries[i].PromptTokens
		}
	}
	return all, nil
}

// checkEqual sends a text alone, and as the first and the last of batch inputs, at least two. It fails b
// if the vectors or the scores of the text differ by more than is tolerated. Such a difference means that
// the server mixes up the inputs of a batch or of several requests, or that an input changes the result of
// another one.
func (s server) checkEqual(b *testing.B, ranks bool, batch int) {
	requests, err := s.itemRequests(1, max(batch-1, 1), ranks, s.options.Seed)
	if err != nil {
		b.Fatal(err)
	}
	several := requests[0]
	text := several.Inputs[0]
	several.Inputs = append(several.Inputs, text)
	alone := several
	alone.Inputs = []string{text}
	a, all := s.itemsOf(b, alone), s.itemsOf(b, several)
	last := len(several.Inputs) - 1
	for _, pair := range []struct {
		what        string
		first, with item
	}{{"alone and as the first input of a batch", a[0], all[0]}, {"as the first and the last input of a batch", all[0], all[last]}} {
		if err := pair.first.differs(pair.with, s.options.Cosine); err != nil {
			b.Fatalf("the same text, %s of %d: %v", pair.what, len(several.Inputs), err)
		}
	}
}

// An item is the vector or the score of an input.
type item struct {
	vector []float32
	score  float64
}

// differs returns an error if the items of two equal inputs differ by more than is tolerated.
func (a item) differs(b item, least float64) error {
	if a.vector == nil {
		if most := mostScore * max(1, math.Abs(a.score)); math.Abs(a.score-b.score) > most {
			return fmt.Errorf("the scores %v and %v: want a difference of at most %.3g", a.score, b.score, most)
		}
		return nil
	}
	if len(a.vector) != len(b.vector) {
		return fmt.Errorf("vectors of %d and %d dimensions", len(a.vector), len(b.vector))
	}
	if c := cosine(a.vector, b.vector); !(c >= least) {
		return fmt.Errorf("the cosine between the vectors is %.6f: want at least %v (cosine in LLMBENCH_DATASET)", c, least)
	}
	return nil
}

// cosine returns the cosine between two vectors of the same length.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// itemsOf sends r and returns the item of each input. If the server refuses r temporarily, itemsOf sends it
// again. If the server does not support such requests, itemsOf skips b. Any other failure ends b.
func (s server) itemsOf(b *testing.B, r llmbench.Request) (all []item) {
	b.Helper()
	r.Check = func(a llmbench.Answer) error {
		all = make([]item, len(r.Inputs))
		for i, v := range a.Vectors {
			all[i].vector = v
		}
		for _, sc := range a.Scores {
			all[sc.Index].score = sc.Score
		}
		return nil
	}
	ctx := harness.Context(b)
	last, err := patient.Send(ctx, b.Logf, func() (sample.Sample, error) { return llmbench.Do(ctx, s.target, r, false), nil })
	switch {
	case err != nil:
		b.Fatal(err)
	case last.Outcome == sample.HTTP && (last.Status == http.StatusNotFound || last.Status == http.StatusNotImplemented || last.Status == http.StatusBadRequest):
		harness.Skip(b, fmt.Sprintf("the server refuses such a request: %v", last.Err))
	case last.Outcome != sample.OK:
		b.Fatalf("a request for the items of equal inputs: %s: %v", last.Outcome, last.Err)
	}
	return all
}
