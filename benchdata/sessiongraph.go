package benchdata

import (
	"container/heap"
	"fmt"
	"sort"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// graphFormat is GuideLLM's conversation graph (src/guidellm/data/schemas/conversation_graph_data.py in
// https://github.com/vllm-project/guidellm). A record is a session, whose turns name their parents. A turn goes on with the conversation of
// the first parent with history_context full, and begins a new one if all are new. Of columns, text_column and prefix_column are messages,
// and prompt_tokens_count_column and output_tokens_count_column lengths. The agent "default" is the main one.
var graphFormat = sessionFormat{
	name: "guidellm-graph", wants: "turns with node_id",
	is:     func(first extra) bool { return first.within("turns").has("node_id") },
	reader: each(conversationGraph.session),
}

type conversationGraph struct {
	ID    string      `json:"graph_id"`
	Turns []graphTurn `json:"turns"`
	Extra extra       `json:",embed"`
}

type graphTurn struct {
	Node    string        `json:"node_id"`
	Agent   string        `json:"agent_id"`
	Parents []graphParent `json:"parents"`
	Columns graphColumns  `json:"columns"`
	Extra   extra         `json:",embed"`
}

type graphParent struct {
	Node    string `json:"parent_node_id"`
	History string `json:"history_context"`
	Extra   extra  `json:",embed"`
}

// graphColumns have a value, or an array of values.
type graphColumns struct {
	Text   jsontext.Value `json:"text_column"`
	Prefix jsontext.Value `json:"prefix_column"`
	Prompt jsontext.Value `json:"prompt_tokens_count_column"`
	Output jsontext.Value `json:"output_tokens_count_column"`
	Extra  extra          `json:",embed"`
}

// session returns the session of a graph.
func (g conversationGraph) session() (recording, error) {
	r := recording{id: g.ID, at: -1}
	order, err := g.order()
	if err != nil {
		return r, err
	}
	number := map[string]int{}
	for _, k := range order {
		q := g.Turns[k]
		t := recordedTurn{agent: q.Agent, whole: true}
		if q.Agent == "default" {
			t.agent = ""
		}
		for _, p := range q.Parents {
			before := number[p.Node]
			switch {
			case p.History != "" && p.History != "full" && p.History != "new":
				return r, fmt.Errorf(`"turns.%d.parents" has the history_context %.40q: want full or new`, k, p.History)
			case p.History != "new" && t.whole:
				t.whole, t.after = false, append([]int{before}, t.after...)
			default:
				t.after = append(t.after, before)
			}
		}
		if err := q.Columns.set(&t); err != nil {
			return r, fmt.Errorf(`"turns.%d.columns.%w`, k, err)
		}
		number[q.Node] = r.add(t)
	}
	return r, nil
}

// set sets messages and lengths of a turn.
func (c graphColumns) set(t *recordedTurn) error {
	for _, column := range []struct {
		name, role string
		value      jsontext.Value
	}{{"prefix_column", "system", c.Prefix}, {"text_column", "user", c.Text}} {
		values, err := columnOf[string](column.value)
		if err != nil {
			return fmt.Errorf(`%s" is %.40s: want a string, or an array of strings`, column.name, column.value)
		}
		if text := strings.Join(values, " "); text != "" {
			t.messages = append(t.messages, llmbench.Message{Role: column.role, Content: text})
		}
	}
	for _, column := range []struct {
		name  string
		value jsontext.Value
		to    *int
	}{{"prompt_tokens_count_column", c.Prompt, &t.input}, {"output_tokens_count_column", c.Output, &t.output}} {
		values, err := columnOf[tokenCount](column.value)
		if err != nil {
			return fmt.Errorf(`%s" is %.40s: want a number of tokens, or an array of one`, column.name, column.value)
		}
		for _, n := range values {
			*column.to += int(n)
		}
	}
	return nil
}

// columnOf returns the values of a column.
func columnOf[T any](v jsontext.Value) (all []T, err error) {
	switch {
	case len(v) == 0 || v.Kind() == 'n':
	case v.Kind() == '[':
		err = json.Unmarshal(v, &all, lenient)
	default:
		all = make([]T, 1)
		err = json.Unmarshal(v, &all[0], lenient)
	}
	return all, err
}

// order returns the indexes of turns in an order in which each comes after its parents.
func (g conversationGraph) order() (order []int, err error) {
	index := map[string]int{}
	for i, t := range g.Turns {
		if _, again := index[t.Node]; again {
			return nil, fmt.Errorf(`"turns.%d.node_id" is %.40q, as of another turn: want different names`, i, t.Node)
		}
		index[t.Node] = i
	}
	parents := make([][]int, len(g.Turns))
	for i, t := range g.Turns {
		for _, p := range t.Parents {
			before, known := index[p.Node]
			if !known {
				return nil, fmt.Errorf(`"turns.%d.parents" has %.40q: want the node_id of a turn`, i, p.Node)
			}
			parents[i] = append(parents[i], before)
		}
	}
	if order = inOrder(parents); len(order) < len(g.Turns) {
		return nil, fmt.Errorf("%d turns wait for each other in a circle: want none", len(g.Turns)-len(order))
	}
	return order, nil
}

// inOrder returns the numbers of nodes in an order in which each comes after its parents; of those that may come next, the lowest one does. Nodes
// that wait for each other in a circle, and those after them, are missing.
func inOrder(parents [][]int) (order []int) {
	waits := make([]int, len(parents))
	next := make([][]int, len(parents))
	ready := &lowest{}
	for i, before := range parents {
		if waits[i] = len(before); len(before) == 0 {
			heap.Push(ready, i)
		}
		for _, p := range before {
			next[p] = append(next[p], i)
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, i)
		for _, k := range next[i] {
			if waits[k]--; waits[k] == 0 {
				heap.Push(ready, k)
			}
		}
	}
	return order
}

// lowest is a container/heap with the lowest number on top.
type lowest struct{ sort.IntSlice }

// Push adds a number.
func (h *lowest) Push(x any) { h.IntSlice = append(h.IntSlice, x.(int)) }

// Pop removes the last number.
func (h *lowest) Pop() any {
	last := len(h.IntSlice) - 1
	x := h.IntSlice[last]
	h.IntSlice = h.IntSlice[:last]
	return x
}
