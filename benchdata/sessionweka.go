package benchdata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// wekaFormat is the trace of agents that write code of Weka's kv-cache-tester, as AIPerf, GuideLLM and inference-perf read it
// (weka_trace_models.py in https://github.com/ai-dynamo/aiperf, docs/weka_trace_replay.md in
// https://github.com/kubernetes-sigs/inference-perf). A record is a session. It has the names of the blocks of each prompt, and no text.
//
// A request of the main agent waits for the one before it, and for the sub-agents that had ended when it was sent, except those
// that were launched in the background (status async_launched). A sub-agent begins after the request of the main agent before
// it. A request of a sub-agent waits for the request of the sub-agent that it continues: of those that had ended, the one with the most
// blocks in common. If none had ended, it begins with the sub-agent. The delay is the time from the recorded end of what a request waits
// for to its own time, or think_time if an end is not known.
var wekaFormat = sessionFormat{
	name: "weka", wants: "requests, block_size",
	is:     func(first extra) bool { return first.has("requests", "block_size") },
	reader: each(wekaTrace.session),
}

type wekaTrace struct {
	ID        string         `json:"id"`
	Models    []string       `json:"models"`
	BlockSize tokenCount     `json:"block_size"`
	Scope     string         `json:"hash_id_scope"`
	Tools     tokenCount     `json:"tool_tokens"`
	System    tokenCount     `json:"system_tokens"`
	Requests  []wekaRequest  `json:"requests"`
	Totals    jsontext.Value `json:"totals"`
	Extra     extra          `json:",embed"`
}

// A wekaRequest is a request, or a sub-agent with requests of its own.
type wekaRequest struct {
	T           span          `json:"t"` // seconds
	Type        string        `json:"type"`
	Model       string        `json:"model"`
	In          tokenCount    `json:"in"`
	Out         tokenCount    `json:"out"`
	Hashes      []uint64      `json:"hash_ids"`
	InputTypes  []string      `json:"input_types"`
	OutputTypes []string      `json:"output_types"`
	Stop        string        `json:"stop"`
	APITime     *span         `json:"api_time"`   // seconds
	ThinkTime   *span         `json:"think_time"` // seconds
	TTFT        *span         `json:"ttft"`
	AgentID     string        `json:"agent_id"`
	AgentType   string        `json:"subagent_type"`
	DurationMS  *span         `json:"duration_ms"`
	TotalTokens *tokenCount   `json:"total_tokens"`
	ToolUses    *tokenCount   `json:"tool_use_count"`
	Status      string        `json:"status"`
	Requests    []wekaRequest `json:"requests"`
	Models      []string      `json:"models"`
	Tools       tokenCount    `json:"tool_tokens"`
	System      tokenCount    `json:"system_tokens"`
	Extra       extra         `json:",embed"`
}

// asynchronous is the status of a sub-agent for which the main agent does not wait.
const asynchronous = "async_launched"

// mostRunning is the largest number of requests of sub-agents of a session, and of requests of one sub-agent, that another request may have to wait for.
const mostRunning = 1 << 10

// A wekaTurn is a turn with its recorded times.
type wekaTurn struct {
	turn   int
	end    time.Duration
	timed  bool          // the end is known
	done   time.Duration // when its sub-agent had ended, which may have used tools after its last request
	hashes []uint64
}

// session returns the session of a record.
func (t wekaTrace) session() (recording, error) {
	r := recording{id: t.ID, at: -1, block: int(t.BlockSize)}
	switch {
	case t.BlockSize == 0:
		return r, fmt.Errorf(`"block_size" is 0: want at least 1`)
	case t.Scope != "" && t.Scope != "local" && t.Scope != "global":
		return r, fmt.Errorf(`"hash_id_scope" is %.40q: want local or global`, t.Scope)
	}
	r.own = t.Scope != "global"
	var last *wekaTurn     // of the main agent
	var running []wekaTurn // the ends of sub-agents for which the main agent has not waited
	for i, q := range t.Requests {
		where := fmt.Sprintf("requests.%d", i)
		if q.Type == "subagent" {
			ends, err := t.subagent(&r, q, last, where)
			if err != nil {
				return r, err
			}
			if q.Status != asynchronous {
				running = append(running, ends...)
			}
			if len(running) > mostRunning {
				return r, fmt.Errorf("%q ends after the request before it, as do more than %d requests of sub-agents: want at most %d", where, mostRunning, mostRunning)
			}
			continue
		}
		var after []wekaTurn
		if last != nil {
			after = append(after, *last)
		}
		at := q.T.in(time.Second)
		running = slices.DeleteFunc(running, func(end wekaTurn) bool {
			ended := at >= end.done
			if ended {
				after = append(after, end)
			}
			return ended
		})
		one, err := q.turn(&r, "", at, after, where)
		if err != nil {
			return r, err
		}
		last = &one
	}
	return r, nil
}

// subagent adds the turns of a sub-agent that begins after a turn of the main agent, or with the session if that is nil. It returns the last turns
// of the sub-agent.
func (t wekaTrace) subagent(r *recording, q wekaRequest, began *wekaTurn, where string) (ends []wekaTurn, err error) {
	inner := slices.Clone(q.Requests)
	zero := span(0)
	if slices.ContainsFunc(inner, func(i wekaRequest) bool { return i.T+1e-6 < q.T }) {
		zero = q.T // older files count from the beginning of the sub-agent
	}
	at := func(i wekaRequest) time.Duration { return (zero + i.T).in(time.Second) }
	slices.SortStableFunc(inner, func(a, b wekaRequest) int { return cmp.Compare(at(a), at(b)) })
	for k, i := range inner {
		where := fmt.Sprintf("%s.requests.%d", where, k)
		if i.Type == "subagent" {
			return nil, fmt.Errorf(`"%s.type" is "subagent": want n or s within a sub-agent`, where)
		}
		best, most := -1, -1
		for e, end := range ends {
			if common := commonBlocks(end.hashes, i.Hashes); end.end <= at(i) && common >= most {
				best, most = e, common
			}
		}
		var after []wekaTurn
		if best >= 0 {
			after = append(after, ends[best])
		} else if began != nil {
			after = append(after, *began)
		}
		one, err := i.turn(r, cmp.Or(q.AgentID, "subagent"), at(i), after, where)
		if err != nil {
			return nil, err
		}
		if best >= 0 {
			ends = slices.Delete(ends, best, best+1)
		}
		if ends = append(ends, one); len(ends) > mostRunning {
			return nil, fmt.Errorf("%q begins while %d others of the sub-agent are in flight: want at most %d", where, mostRunning, mostRunning-1)
		}
	}
	if q.DurationMS != nil {
		for i := range ends {
			ends[i].done = max(ends[i].done, (q.T + *q.DurationMS/1000).in(time.Second))
		}
	}
	return ends, nil
}

// turn adds the turn of a request.
func (q wekaRequest) turn(r *recording, agent string, at time.Duration, after []wekaTurn, where string) (wekaTurn, error) {
	switch {
	case q.Type != "n" && q.Type != "s":
		return wekaTurn{}, fmt.Errorf(`"%s.type" is %.40q: want n, s or subagent`, where, q.Type)
	case q.In == 0:
		return wekaTurn{}, fmt.Errorf(`"%s.in" is 0: want at least 1 token`, where)
	}
	turn := recordedTurn{agent: agent, hashed: true, blocks: q.Hashes, input: int(q.In), output: max(1, int(q.Out))}
	ready, timed := time.Duration(0), true
	for _, a := range after {
		turn.after = append(turn.after, a.turn)
		ready, timed = max(ready, a.end), timed && a.timed
	}
	turn.delay = max(0, at-ready)
	if !timed && q.ThinkTime != nil {
		turn.delay = q.ThinkTime.in(time.Second)
	}
	one := wekaTurn{turn: r.add(turn), end: at, hashes: q.Hashes}
	if q.APITime != nil {
		one.end, one.timed = at+q.APITime.in(time.Second), true
	}
	one.done = one.end
	return one, nil
}

// commonBlocks returns how many names two lists have in common at the beginning.
func commonBlocks(a, b []uint64) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
