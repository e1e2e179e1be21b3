package llmbench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A recorder writes what each request experienced to a JSON Lines file: a line
// about the benchmark, then one a request, and at last one about how it ended. A
// nil recorder writes nothing.
type recorder struct {
	file *os.File
	buf  *bufio.Writer
	enc  *json.Encoder
}

// recordEnd is in a file's last line, {"end":…}. A file whose first line has "ends"
// and that has no such line is of a process that was killed.
type recordEnd struct {
	Outcome  string   `json:"outcome"`            // "ok", or "failed": its figures are no result
	Why      string   `json:"why,omitempty"`      // it failed
	Withheld []string `json:"withheld,omitempty"` // units that were not reported, as the client distorted them
}

// How a benchmark ends.
const (
	endedOK     = "ok"
	endedFailed = "failed"
)

// recordVersion is that of the files' format: fields are added without another
// one, and it changes when what a field means does. Package records reads it.
const recordVersion = 2

// recordHead is a file's first line.
type recordHead struct {
	Version     int               `json:"version"`
	Benchmark   string            `json:"benchmark"`
	Config      map[string]string `json:"config,omitempty"`
	Dialect     string            `json:"dialect"`
	Model       string            `json:"model,omitempty"`
	Stream      bool              `json:"stream"`
	Concurrency int               `json:"concurrency,omitempty"`
	Arrivals    *recordArrivals   `json:"arrivals,omitempty"`
	Warmup      int               `json:"warmup"`
	Timeout     time.Duration     `json:"timeout_ns"`
	IdleTimeout time.Duration     `json:"idle_timeout_ns"`
	SLO         string            `json:"slo,omitempty"`
	Cancel      string            `json:"cancel,omitempty"`
	Start       time.Time         `json:"start"`
	Host        recordHost        `json:"host"`
	Ends        bool              `json:"ends"` // there is a line about its end
}

// recordArrivals is the arrival process of an open loop.
type recordArrivals struct {
	Process    string            `json:"process"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

type recordHost struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPUs       int    `json:"cpus"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Go         string `json:"go"`
}

// record is the line of a request. Instants that never came are null.
type record struct {
	ID           string             `json:"id"`
	Pass         int                `json:"pass"`
	Turn         int                `json:"turn,omitempty"`
	Due          time.Duration      `json:"due_ns"`
	Epoch        int64              `json:"epoch_unix_ns"` // the instants' zero
	Granted      time.Duration      `json:"granted_ns,omitempty"`
	Start        time.Duration      `json:"start_ns"`
	Admitted     time.Duration      `json:"admitted_ns"`
	Connect      time.Duration      `json:"connect_ns"`
	Resent       int                `json:"resent,omitempty"`
	Wrote        *time.Duration     `json:"wrote_ns"`
	FirstByte    *time.Duration     `json:"first_byte_ns"`
	First        *time.Duration     `json:"first_ns"`
	Last         *time.Duration     `json:"last_ns"`
	End          time.Duration      `json:"end_ns"`
	Gaps         []time.Duration    `json:"gaps_ns"`
	Outputs      *int               `json:"outputs,omitempty"` // this and the next only if there was reasoning
	FirstOutput  *time.Duration     `json:"first_output_ns,omitempty"`
	Choices      *recordChoices     `json:"choices,omitempty"`
	LastEvent    *time.Duration     `json:"last_event_ns,omitempty"`
	Done         *time.Duration     `json:"done_ns,omitempty"`
	Clock        sample.Clock       `json:"clock,omitempty"`
	Lags         []time.Duration    `json:"read_lags_ns,omitempty"`
	FirstByteLag time.Duration      `json:"first_byte_lag_ns,omitempty"`
	EndLag       time.Duration      `json:"end_lag_ns,omitempty"`
	MaxTokens    int                `json:"max_tokens,omitempty"`
	PromptTokens int                `json:"prompt_tokens"`
	CachedTokens int                `json:"cached_tokens,omitempty"`
	OutputTokens int                `json:"output_tokens"`
	UsageAlone   bool               `json:"usage_alone,omitempty"`
	TokenSource  sample.TokenSource `json:"token_source,omitempty"`
	AskedTokens  int                `json:"asked_tokens,omitempty"`
	PromptChars  int                `json:"prompt_chars,omitempty"`
	OutputChars  int                `json:"output_chars,omitempty"`
	Server       *recordServer      `json:"server,omitempty"`
	Finish       string             `json:"finish,omitempty"`
	Answer       *sample.Answer     `json:"answer,omitempty"`
	Outcome      sample.Outcome     `json:"outcome"`
	Error        string             `json:"error,omitempty"`
	Status       int                `json:"status"`
}

// recordChoices is Sample.Choices.
type recordChoices struct {
	Before int           `json:"before"`
	Amid   int           `json:"amid"`
	After  int           `json:"after"`
	First  time.Duration `json:"first_ns"`
	Last   time.Duration `json:"last_ns"`
}

// recordServer is what the server measured itself: durations, not instants. What
// it did not state is left out.
type recordServer struct {
	Load         time.Duration `json:"load_ns,omitempty"`
	Queue        time.Duration `json:"queue_ns,omitempty"`
	Prompt       time.Duration `json:"prompt_ns,omitempty"`
	Predict      time.Duration `json:"predict_ns,omitempty"`
	Total        time.Duration `json:"total_ns,omitempty"`
	PromptTokens int           `json:"prompt_tokens,omitempty"`
	CachedTokens int           `json:"cached_tokens,omitempty"`
	OutputTokens int           `json:"output_tokens,omitempty"`
}

// maxName is how many bytes of a benchmark's name a file name takes: file systems
// allow 255 in all.
const maxName = 200

// newRecorder makes a new file in dir, which it makes if it is missing, named
// for the benchmark and the first number that is free: nothing is overwritten.
// Without a dir it returns nil.
func newRecorder(dir, benchmark string, t Target, l Load) (*recorder, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("LLMBENCH_OUT: %w", err)
	}
	name := strings.ReplaceAll(benchmark, "/", ",")
	if len(name) > maxName {
		hash := fnv.New64a()
		hash.Write([]byte(name))
		name = fmt.Sprintf("%s~%016x", name[:maxName], hash.Sum64())
	}
	var file *os.File
	for n := 1; file == nil; n++ {
		var err error
		file, err = os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s.%d.jsonl", name, n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("LLMBENCH_OUT: %w", err)
		}
	}
	buf := bufio.NewWriter(file)
	r := &recorder{file: file, buf: buf, enc: json.NewEncoder(buf)}
	head := recordHead{
		Version: recordVersion, Benchmark: benchmark, Config: t.Config, Dialect: t.dialect().Name(), Model: t.Model,
		Stream: !l.NoStream, Concurrency: l.Concurrency, Warmup: len(l.Warmup),
		Timeout: l.Timeout, IdleTimeout: l.IdleTimeout, SLO: l.SLO.String(), Cancel: l.Cancel.String(), Start: time.Now(),
		Host: recordHost{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.GOMAXPROCS(0), runtime.Version()},
		Ends: true,
	}
	if l.Arrivals != nil {
		head.Arrivals = &recordArrivals{l.Arrivals.Name(), l.Arrivals.Parameters()}
	}
	if err := r.enc.Encode(head); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, buf.Flush()
}

// write adds the samples of a pass, and sees that they are on their way to disk.
func (r *recorder) write(samples []sample.Sample) error {
	if r == nil {
		return nil
	}
	for i := range samples {
		if err := r.enc.Encode(newRecord(&samples[i])); err != nil {
			return err
		}
	}
	return r.buf.Flush()
}

func newRecord(s *sample.Sample) record {
	r := record{
		ID: s.ID, Pass: s.Pass, Turn: s.Turn, Due: s.Due, Granted: s.Granted, Start: s.Start, Connect: s.Connect, Resent: s.Resent,
		Epoch: s.Epoch.UnixNano(), Admitted: s.Admitted, MaxTokens: s.MaxTokens,
		Clock: s.Clock, Lags: s.Lags, FirstByteLag: s.FirstByteLag, EndLag: s.EndLag,
		Wrote: instant(s.Wrote, s.Wrote > 0), FirstByte: instant(s.FirstByte, s.FirstByte > 0),
		First: instant(s.First, s.Deltas > 0), Last: instant(s.Last, s.Deltas > 0), End: s.End,
		Gaps: s.Gaps, PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, OutputTokens: s.OutputTokens, TokenSource: s.TokenSource,
		AskedTokens: s.AskedTokens, PromptChars: s.PromptChars, OutputChars: s.OutputChars,
		Finish: s.Finish, Answer: s.Answer, Outcome: s.Outcome, Status: s.Status,
	}
	if s.Choices != (sample.Choices{}) {
		choices := recordChoices(s.Choices)
		r.Choices = &choices
	}
	r.LastEvent, r.Done, r.UsageAlone = instant(s.LastEvent, s.LastEvent > 0), instant(s.Done, s.Done > 0), s.UsageAlone
	if s.Server != (sample.ServerTimings{}) {
		server := recordServer(s.Server)
		r.Server = &server
	}
	if s.Outputs < s.Deltas {
		r.Outputs, r.FirstOutput = &s.Outputs, instant(s.FirstOutput, s.Outputs > 0)
	}
	if r.Gaps == nil {
		r.Gaps = []time.Duration{}
	}
	if s.Err != nil {
		r.Error = s.Err.Error()
	}
	return r
}

func instant(d time.Duration, came bool) *time.Duration {
	if !came {
		return nil
	}
	return &d
}

// where tells a failure's reader where to look.
func (r *recorder) where() string {
	if r == nil {
		return ""
	}
	return "\n  records: " + r.file.Name()
}

// close writes how the benchmark ended. A file that was not written whole has no
// such line.
func (r *recorder) close(end recordEnd) error {
	if r == nil {
		return nil
	}
	err := r.enc.Encode(struct {
		End recordEnd `json:"end"`
	}{end})
	return errors.Join(err, r.buf.Flush(), r.file.Close())
}
