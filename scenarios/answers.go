package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"iter"
	"slices"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/agree"
)

// agreement measures how many greedy answers equal the reference answers to the same prompts. The reference
// answers are the answers that the server gave before to one user, or those in the file LLMBENCH_ANSWERS.
// With one user, agree-% shows how far the server agrees with itself; values under load have to be compared
// with this noise. Equal texts under load are not required, because the shape of a batch may change the
// order of additions, which decides between tokens of nearly equal probability.
//
// All prompts are sent before they are measured, so a server that caches prompts has them in its cache.
// This affects the measured speeds.
func agreement(b *testing.B, s server) {
	in, out := s.lengths(pick(s, 256, 64), pick(s, 256, 32))
	if s.answers != "" {
		s.salt = 0 // the prompts of the file
	}
	many, few := pick(s, 64, 16, 8), pick(s, 128, 32, 8)
	users := s.concurrencies(1, many)
	n := s.requests(max(few, slices.Max(users)))
	requests, err := s.prompts(in, out, s.options.Seed).Requests(n)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("workload=random-%dx%d/stream=true", in, out), func(b *testing.B) {
		references, config := s.references(b, requests)
		s := s.withConfig(map[string]string{"references": config})
		s.perUsers(b, users, func(b *testing.B, users int) {
			s.agreeing(b, references, requests, llmbench.Load{Concurrency: users, MeasuresCache: true})
		})
	})
}

// agreeing measures how far the answers to requests agree with the references, and logs the first answer that differs.
func (s server) agreeing(b *testing.B, references agree.References, requests []llmbench.Request, l llmbench.Load) {
	b.Helper()
	l.Requests, l.KeepText = requests, true
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 {
		all, _ := s.agreement(references, requests, samples)
		return all.Figures()
	}
	if all, first := s.agreement(references, requests, s.run(b, l).All()); first != "" {
		b.Logf("%d of %d answers differ from their references: %s", all.Answers-all.Equal, all.Answers, first)
	}
}

// references returns the reference answers to requests, and their origin for the configuration line of
// results. They are read from the file LLMBENCH_ANSWERS. If the file does not exist, or the variable is not
// set, references asks the server for them as a single user, and writes them to the file if there is a name
// for it.
func (s server) references(b *testing.B, requests []llmbench.Request) (references agree.References, config string) {
	b.Helper()
	if references := s.written(b, requests); references != nil {
		return references, "file"
	}
	s.once(b, requests[0])
	result, err := llmbench.Pass(harness.Context(b), b.Name()+"/references", s.target, llmbench.Load{
		Requests: requests, Concurrency: 1, KeepText: true, Timeout: s.options.Timeout, ClientBound: llmbench.BoundReported})
	if err != nil {
		b.Fatal(err)
	}
	defer result.Close()
	references = agree.References{}
	for answer := range result.All() {
		a, ok := agree.Of(requests[answer.Request], answer)
		if !ok {
			b.Fatalf("request %d of %d for a reference answer: %s: %v", answer.Request, len(requests), answer.Outcome, answer.Err)
		}
		references[a.Prompt] = a
	}
	if err := result.Err(); err != nil {
		b.Fatal(err)
	}
	if s.answers == "" {
		return references, "one user"
	}
	err = agree.Write(s.answers, references)
	switch {
	case errors.Is(err, fs.ErrExist): // another process has written the file
		return s.written(b, requests), "file"
	case err != nil:
		b.Fatalf("LLMBENCH_ANSWERS=%s: %v", s.answers, err)
	}
	b.Logf("%d reference answers were written to LLMBENCH_ANSWERS=%s", len(references), s.answers)
	return references, "file"
}

// written returns the answers to requests in the file LLMBENCH_ANSWERS, or nil if there is no such file.
func (s server) written(b *testing.B, requests []llmbench.Request) agree.References {
	b.Helper()
	if s.answers == "" {
		return nil
	}
	references, err := agree.ReadFile(s.answers)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		b.Fatalf("LLMBENCH_ANSWERS=%s: %v", s.answers, err)
	}
	for i, r := range requests {
		if _, known := references[agree.Hash(r)]; !known {
			b.Fatalf("LLMBENCH_ANSWERS=%s: no answer to request %d of %d: the file is of another load or LLMBENCH_SEED", s.answers, i, len(requests))
		}
	}
	return references
}

// agreement returns how far the answers to requests agree with the references, and a text about the first answer that
// differs, or "".
func (s server) agreement(references agree.References, requests []llmbench.Request, answers iter.Seq[*sample.Sample]) (all agree.Agreement, first string) {
	var count func(string) int
	if s.countsOut {
		count = s.tokens.Count
	}
	for answer := range answers {
		a, ok := agree.Of(requests[answer.Request], answer)
		if !ok || all.Add(references, a, count) || first != "" {
			continue
		}
		reference := references[a.Prompt].Text
		from := agree.CommonPrefix(a.Text, reference)
		first = fmt.Sprintf("request %d answers %q for %q after %d equal characters", answer.Request,
			s.target.Excerpt(a.Text[from:], 40), s.target.Excerpt(reference[min(from, len(reference)):], 40), len([]rune(a.Text[:from])))
	}
	return all, first
}

// prepareAccuracy chooses sums if the options have no data set.
func prepareAccuracy(o Options, _ config) (Options, error) {
	o.Dataset = cmp.Or(o.Dataset, "arithmetic")
	return o, nil
}

// fitsAccuracy returns an error if the questions of a data set have no answers.
func fitsAccuracy(dataset string) error {
	w, err := benchdata.Open(dataset, benchdata.Options{})
	if _, answered := w.(benchdata.Answered); err == nil && !answered {
		return fmt.Errorf("dataset %q has no answers: want arithmetic, gsm8k:PATH, mmlu:PATH or needle", dataset)
	}
	return nil // it may be none, which dataset reports
}

// accuracy measures how many questions a server answers correctly while it serves one user, and while it
// serves many, because errors of batching appear only under load. Sampling is greedy.
//
// Each process asks different questions, because a greedy server gives the same answer to the same question
// again. The answers of several processes are therefore independent observations, and their counts can be
// added. The unit question-set identifies the questions of a process. Within a process, each concurrency
// and each pass has different questions.
func accuracy(b *testing.B, s server) {
	set := questionSet(s.options.Seed, llmbench.Target{}.Salt("questions")) // the target is empty, so that the salt differs between processes but not between servers
	b.Run("workload="+workloadName(s.options)+"/stream=true", func(b *testing.B) {
		s.perUsers(b, []int{1, 64}, func(b *testing.B, users int) { s.ask(b, users, set) })
	})
}

// ask measures the given number of users with questions from a set.
func (s server) ask(b *testing.B, users int, set uint64) {
	n := s.requests(max(pick(s, 200, 64, 16), 4*users))
	draw := func(n int, seed uint64) ([]llmbench.Request, error) {
		w, err := s.dataset(seed, s.target.Salt(seed))
		if err != nil {
			return nil, err
		}
		a := w.(benchdata.Answered) // see prepareAccuracy
		a.FixedOutput = false       // an answer ends where the model ends it
		return s.templated(a.Requests(n))
	}
	s.options.Seed = set
	s.run(b, s.fresh(b, llmbench.Load{Concurrency: users}, n, min(users, 8), draw))
	b.ReportMetric(float64(set), "question-set")
}

// questionSet returns a number that identifies the questions of a process, from 1,000 to 999,999,999.
// Result files print numbers in this range with all their digits.
func questionSet(seed, salt uint64) uint64 {
	hash := fnv.New64a()
	fmt.Fprint(hash, seed, " ", salt)
	return 1_000 + hash.Sum64()%999_999_000
}
