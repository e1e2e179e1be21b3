package benchdata

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Sessions are recorded sessions of agents: turns that wait for each other, with sub-agents, and pauses for tools and people. The format of
// the file is recognised by its first record; README.md lists the formats. Each session becomes a request with further turns
// (see [llmbench.Turn]).
//
// Prompts of files with names of blocks, and no text, are random words: blocks with the same name have the same text, as in
// [Trace]. A prompt consists of the messages that the names imply: what is new after the answer to an earlier prompt is that answer,
// and then the user's next message. The names of some formats mean something in their session alone; their words differ by session.
//
// A turn sends the conversation that it continues. Where this has an answer, Replies says which text stands for it. All answers
// have exactly the recorded lengths.
type Sessions struct {
	// Path is the file. It may be compressed by gzip or zstd.
	Path string
	// Replies says which text stands for answers in the conversations of further turns; "" means MadeUp.
	Replies Replies
	// Cap is the longest pause before a turn; longer ones are cut. 0 means [DefaultCap].
	Cap time.Duration
	// Output is the length of answers, in tokens, whose length the file does not have; 0 means that there must be none.
	Output int
	// Start is the part of a session in which the first session of each user of a load for a time begins: "0.25..0.75" means that a quarter to three
	// quarters of its turns are over. "" means [DefaultStart], or 0 if replies are Own. See [Sessions.Begin].
	Start string
	// Seed and Salt determine the made-up words. In texts of the file, Salt replaces the beginning of each conversation; see
	// [Options].Salt.
	Seed, Salt uint64
	// Tokenizer counts tokens; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// OpenSessions returns the sessions that a spec describes: the path of a file and, after a question mark, parameters in the form of a URL
// query:
//
//	sessions.jsonl
//	sessions.jsonl?replies=own&cap=1m&output=200
//	sessions.jsonl?start=0.25..0.75
//
// The parameters are fields of Sessions. Of o, Seed, Salt and Tokenizer are used. OpenSessions does not read the file.
func OpenSessions(spec string, o Options) (Sessions, error) {
	path, query, _ := strings.Cut(spec, "?")
	given, err := decode(query)
	if err != nil {
		return Sessions{}, fmt.Errorf("sessions %q: %w", spec, err)
	}
	p := newParams(given)
	s := Sessions{Path: path, Replies: Replies(p.text("replies")), Cap: p.duration("cap"), Output: p.count("output"), Start: p.text("start"), Seed: o.Seed, Salt: o.Salt, Tokenizer: o.Tokenizer}
	err = p.check()
	if err == nil && path == "" {
		err = errors.New("want the path of a file")
	}
	if err == nil {
		err = s.check(0)
	}
	if err != nil {
		return Sessions{}, fmt.Errorf("sessions %q: %w", spec, err)
	}
	return s, nil
}

// Replies says which text stands for a server's answers in the conversations of further turns.
type Replies string

// The texts that stand for answers.
const (
	// MadeUp is random words of the recorded length. All servers get the same prompts, and their prefix caches can find the same blocks,
	// whatever they answered: results can be compared.
	MadeUp Replies = "made-up"
	// Recorded is the recorded answer. Only files with texts have one.
	Recorded Replies = "recorded"
	// Own is the server's own answer, which its cache may still have. It is not for prompts of named blocks.
	Own Replies = "own"
)

// DefaultCap is the default of Sessions.Cap.
const DefaultCap = 10 * time.Second

// DefaultStart is the default of Sessions.Start, as in AgentX (https://inferencex.semianalysis.com/agentx/methodology). There the shares are of
// the recorded time, and here of the turns.
const DefaultStart = "0..1"

// start returns the range of Start, as shares from 0 to 1.
func (s Sessions) start() (from, to float64, err error) {
	text := s.Start
	if text == "" {
		if text = DefaultStart; s.Replies == Own {
			return 0, 0, nil
		}
	}
	low, high, found := strings.Cut(text, "..")
	if !found {
		high = low
	}
	var wrong error
	from, err = strconv.ParseFloat(low, 64)
	to, wrong = strconv.ParseFloat(high, 64)
	if err != nil || wrong != nil || !(from >= 0 && from <= 1 && to >= 0 && to <= 1) {
		return 0, 0, fmt.Errorf("field Start is %q: want a share from 0 to 1, or two, like 0.25..0.75", s.Start)
	}
	switch {
	case from > to:
		return 0, 0, fmt.Errorf("field Start is %q: want the smaller share first", s.Start)
	case to > 0 && s.Replies == Own:
		return 0, 0, fmt.Errorf("field Start is %q, and replies are %s: want %s or %s, because the turns that are over have no reply of the server", s.Start, Own, MadeUp, Recorded)
	}
	return from, to, nil
}

// Begin returns a session that begins in the midst of r, the first session of a user: a share of its turns is not sent (see
// [llmbench.Request]), which is drawn evenly from the range of Start, rounded down, and at most all but one. It depends on Seed and the number of the
// user alone. The conversations and the pauses of the turns that are left stay.
func (s Sessions) Begin(r llmbench.Request, user int) (llmbench.Request, error) {
	from, to, err := s.start()
	if err != nil {
		return r, err
	}
	random := rand.New(rand.NewPCG(s.Seed, 0x7374617274+uint64(user)))
	share := from + (to-from)*random.Float64()
	r.Skip = min(int(share*float64(1+len(r.Then))), len(r.Then))
	return r, nil
}

// RecordedSessions are what [Sessions.Load] returns.
type RecordedSessions struct {
	// Format is the name of the file's format.
	Format string
	// Requests are the sessions.
	Requests []llmbench.Request
	// At are the instants at which the sessions of the file arrived, after the first one; nil if the file has none.
	At []time.Duration
	// Depths has, for each turn of each session, its place in the conversation that it continues: 1 if it begins one, as a sub-agent
	// does.
	Depths [][]int
	// Subs says, for each turn of each session, whether it is of a sub-agent.
	Subs [][]bool
	// Agents is the number of sub-agents of all sessions.
	Agents int
	// Distinct is the number of sessions of the file among Requests: those after them are the same ones again, with other words.
	Distinct int
	// ImpliedHits is the share of prompt tokens, from 0 to 1, that a prefix cache without limits would have if the turns came in the order of
	// the file: the tokens of blocks that came before, or of the conversation that a turn continues.
	ImpliedHits float64
	// Cut is the number of pauses that were longer than Cap.
	Cut int
	// Unknown describes the members of records that the format does not know, and that were ignored, and the records that were left out: "a 3
	// times, requests[].b 20 times". It is "" if there are none.
	Unknown string
}

// Load returns n sessions in the order of the file, or all if n is 0. If the file has fewer, they are repeated with other words,
// so that no cache has them; instants of arrival are not repeated. The messages of the sessions that are returned are held in memory, with about seven bytes per
// token. Load returns an error if n or a field is out of range, or if the file cannot be read or has no session. The error for a wrong record names its
// line.
func (s Sessions) Load(n int) (RecordedSessions, error) {
	return readFile("sessions", s.Path, func(src *source) (RecordedSessions, error) { return s.load(src, n) })
}

// Read is like Load for a file that is read from r.
func (s Sessions) Read(r io.Reader, n int) (RecordedSessions, error) {
	return readFrom("sessions", r, func(src *source) (RecordedSessions, error) { return s.load(src, n) })
}

func (s Sessions) check(n int) error {
	switch {
	case n < 0:
		return fmt.Errorf("%d sessions: want at least 1, or 0 for all", n)
	case s.Replies != "" && s.Replies != MadeUp && s.Replies != Recorded && s.Replies != Own:
		return fmt.Errorf("field Replies is %q: want %s, %s or %s", s.Replies, MadeUp, Recorded, Own)
	case s.Cap < 0:
		return fmt.Errorf("field Cap is %v: want above 0, or 0 for %v", s.Cap, DefaultCap)
	case s.Output < 0 || s.Output > mostTokens:
		return fmt.Errorf("field Output is %d tokens: want from 1 to %d, or 0 for none", s.Output, mostTokens)
	}
	_, _, err := s.start()
	return err
}

func (s Sessions) load(src *source, n int) (RecordedSessions, error) {
	s.Replies, s.Cap = cmp.Or(s.Replies, MadeUp), cmp.Or(s.Cap, DefaultCap)
	if err := s.check(n); err != nil {
		return RecordedSessions{}, err
	}
	reader := &sessionReader{want: n}
	var all []recording
	for r, err := range reader.read(src) {
		if err != nil {
			return RecordedSessions{}, err
		}
		if all = append(all, r); len(all) == n {
			break
		}
	}
	if len(all) == 0 {
		return RecordedSessions{}, errors.New("the file has no sessions")
	}
	loaded := RecordedSessions{Format: reader.format, Unknown: reader.told(), Distinct: len(all)}
	timed := !slices.ContainsFunc(all, func(r recording) bool { return r.at < 0 })
	if timed {
		slices.SortStableFunc(all, func(a, b recording) int { return cmp.Compare(a.at, b.at) })
	}
	named := map[string]int{}
	for i := range all {
		all[i].again = named[all[i].id]
		named[all[i].id]++
	}
	b := newSessionBuilder(s)
	for i := range cmp.Or(n, len(all)) {
		r := &all[i%len(all)]
		request, depths, err := b.request(r, i/len(all))
		if err != nil {
			return RecordedSessions{}, fmt.Errorf("session %q: %w", r.id, err)
		}
		subs := make([]bool, len(r.turns))
		for k, t := range r.turns {
			subs[k] = t.agent != ""
		}
		loaded.Requests, loaded.Depths, loaded.Subs = append(loaded.Requests, request), append(loaded.Depths, depths), append(loaded.Subs, subs)
		if timed && i < len(all) {
			loaded.At = append(loaded.At, r.at-all[0].at)
		}
	}
	loaded.Agents, loaded.Cut, loaded.ImpliedHits = b.agents, b.cut, float64(b.known)/float64(max(1, b.tokens))
	return loaded, nil
}

// told returns the text of [RecordedSessions].Unknown.
func (r *sessionReader) told() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.unknown)) {
		times := "times"
		if r.unknown[name] == 1 {
			times = "time"
		}
		parts = append(parts, fmt.Sprintf("%s %d %s", name, r.unknown[name], times))
	}
	return strings.Join(parts, ", ")
}

// seedOf returns a seed for a text.
func seedOf(seed uint64, text string) uint64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d %s", seed, text)
	return hash.Sum64()
}
