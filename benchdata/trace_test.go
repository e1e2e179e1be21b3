package benchdata

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// extraFile returns the path of a published data file. The files are too large for this
// repository.
func extraFile(t testing.TB, name string) string {
	t.Helper()
	return extracases.Path(t, "data/"+name)
}

// TestTraceTotals reads every row of two published traces and compares the totals with the results
// of other programs (awk and Python's json).
func TestTraceTotals(t *testing.T) {
	for _, tt := range []struct {
		trace                       Trace
		rows, input, output, blocks int
		named                       int // number of different block names
		last                        time.Duration
	}{
		{Trace{Format: Azure, Path: "AzureLLMInferenceTrace_conv.csv"}, 19366, 22361870, 4088665, 0, 0, 58*time.Minute + 21*time.Second + 721937*time.Microsecond},
		{Trace{Format: Mooncake, Path: "mooncake_conversation_trace.jsonl"}, 12031, 144793823, 4122048, 288500, 182790, 3536999 * time.Millisecond},
	} {
		t.Run(string(tt.trace.Format), func(t *testing.T) {
			tt.trace.Path = extraFile(t, tt.trace.Path)
			var rows, input, output, blocks int
			var last time.Duration
			names := map[uint64]bool{}
			for r, err := range tt.trace.Rows() {
				assert.NilError(t, err)
				rows++
				input += r.Input
				output += r.Output
				blocks += len(r.Blocks)
				last = r.At
				for _, name := range r.Blocks {
					names[name] = true
				}
			}
			assert.Equal(t, rows, tt.rows)
			assert.Equal(t, input, tt.input)
			assert.Equal(t, output, tt.output)
			assert.Equal(t, blocks, tt.blocks)
			assert.Equal(t, len(names), tt.named)
			assert.Equal(t, last, tt.last)
		})
	}
}

const (
	azure2023 = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n" +
		"2023-11-16 18:15:46.6805900,374,44\r\n" +
		"2023-11-16 18:15:50.9951690,396,109\r\n" +
		"2023-11-16 18:15:51.2224670,87,55"
	azure2024 = "TIMESTAMP,ContextTokens,GeneratedTokens\n" +
		"2024-05-10 00:00:00.009930+00:00,374,44\n" +
		"2024-05-10 00:00:04.324509+00:00,396,109\n" +
		"2024-05-10 00:00:04.551807+00:00,87,55\n"
	burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
		"5,ChatGPT,472,18,490,Conversation log\n" +
		"45,GPT-4,1087,230,1317,Conversation log\n" +
		"46.5,GPT-4,417,0,417,API log\n" +
		"118,GPT-4,7,276,283,Conversation log\n"
	mooncake = `{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [7, 8, 9]}` + "\n" +
		`{"timestamp": 3000, "input_length": 1024, "output_length": 3, "hash_ids": [7, 8]}` + "\n" +
		`{"timestamp": 3000, "input_length": 1300, "output_length": 4, "hash_ids": [7, 10, 11]}` + "\n"
	bailian = `{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 40, "output_length": 5, "type": "text", "turn": 1, "hash_ids": [1, 2, 3]}` + "\n" +
		`{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.364, "input_length": 52, "output_length": 6, "type": "text", "turn": 2, "hash_ids": [1, 2, 4, 5]}` + "\n"
)

func TestTraceFormats(t *testing.T) {
	ms := func(at ...float64) (all []time.Duration) {
		for _, x := range at {
			all = append(all, time.Duration(x*1e6))
		}
		return all
	}
	for _, tt := range []struct {
		trace         Trace
		file          string
		at            []time.Duration
		input, output []int
	}{
		{Trace{Format: Azure}, azure2023, ms(0, 4314.579, 4541.877), []int{374, 396, 87}, []int{44, 109, 55}},
		{Trace{Format: Azure}, azure2024, ms(0, 4314.579, 4541.877), []int{374, 396, 87}, []int{44, 109, 55}},
		{Trace{Format: Azure, From: time.Second}, azure2023, ms(0, 227.298), []int{396, 87}, []int{109, 55}},
		{Trace{Format: Azure, From: time.Second, For: 3400 * time.Millisecond}, azure2023, ms(0), []int{396}, []int{109}},
		{Trace{Format: Azure, MaxTokens: 418}, azure2023, ms(0, 4541.877), []int{374, 87}, []int{44, 55}},
		{Trace{Format: Azure, Template: 90}, azure2023, ms(0, 4314.579, 4541.877), []int{374, 396, 91}, []int{44, 109, 55}},
		{Trace{Format: BurstGPT}, burst, ms(0, 40000, 113000), []int{472, 1087, 7}, []int{18, 230, 276}},
		{Trace{Format: BurstGPT, Model: "GPT-4"}, burst, ms(0, 73000), []int{1087, 7}, []int{230, 276}},
		{Trace{Format: Mooncake}, mooncake, ms(0, 3000, 3000), []int{1100, 1024, 1300}, []int{5, 3, 4}},
		{Trace{Format: Bailian}, bailian, ms(0, 1250), []int{40, 52}, []int{5, 6}},
	} {
		name := fmt.Sprintf("%+v", tt.trace)
		requests, replay, err := tt.trace.Read(strings.NewReader(tt.file), 0)
		assert.NilError(t, err, name)
		assert.DeepEqual(t, replay.At, tt.at)
		var input, output []int
		for _, r := range requests {
			input, output = append(input, r.PromptTokens), append(output, r.MaxTokens)
			assert.Equal(t, tokenizer.Words{}.Count(r.Prompt), r.PromptTokens-tt.trace.Template, name)
			assert.Assert(t, r.FixedOutput, name)
		}
		assert.DeepEqual(t, input, tt.input)
		assert.DeepEqual(t, output, tt.output)

		fewer, _, err := tt.trace.Read(strings.NewReader(tt.file), 1)
		assert.NilError(t, err, name)
		assert.DeepEqual(t, fewer, requests[:1])
	}
}

// TestTraceBlocks checks that two prompts have as many first tokens in common as the names of their
// blocks say.
func TestTraceBlocks(t *testing.T) {
	requests, _, err := Trace{Format: Mooncake, Seed: 3}.Read(strings.NewReader(mooncake), 0)
	assert.NilError(t, err)
	var words [3][]string
	for i, r := range requests {
		words[i] = strings.Fields(r.Prompt)
	}
	assert.Assert(t, slices.Equal(words[0][:1024], words[1]))
	assert.Assert(t, slices.Equal(words[0][:512], words[2][:512]))
	assert.Assert(t, !slices.Equal(words[0][512:528], words[2][512:528]))
	other, _, err := Trace{Format: Mooncake, Seed: 4}.Read(strings.NewReader(mooncake), 0)
	assert.NilError(t, err)
	assert.Assert(t, !slices.Equal(strings.Fields(other[0].Prompt)[:16], words[0][:16]))
}

func TestTraceErrors(t *testing.T) {
	for _, tt := range []struct {
		trace Trace
		file  string
		want  string
	}{
		{Trace{Format: Azure}, "", "azure: the file is empty"},
		{Trace{Format: Azure}, "TIMESTAMP,ContextTokens,GeneratedTokens\n", "azure: no row of the trace is selected by the fields"},
		{Trace{Format: Azure}, "2023-11-16 18:15:46.6805900,374,44\n", `azure: line 1: the first line has no column "TIMESTAMP"`},
		{Trace{Format: Azure}, azure2023 + "\nyesterday,1,2\n", `azure: line 5: TIMESTAMP is "yesterday": want a time like`},
		{Trace{Format: Azure}, azure2023 + "\n2023-11-16 18:15:51.2224670,many,2\n", `azure: line 5: ContextTokens is "many": want a whole number of tokens`},
		{Trace{Format: Azure}, azure2023 + "\n2023-11-16 18:15:51.2224670,1,-2\n", `azure: line 5: GeneratedTokens is "-2": want`},
		{Trace{Format: Azure}, azure2023 + "\n2023-11-16 18:15:52.2224670,1\n", "azure: line 5: wrong number of fields"},
		{Trace{Format: Azure}, azure2023 + "\n2023-11-16 18:15:51,1,2\n", "azure: line 5: the row is 222.467ms earlier than the row before"},
		{Trace{Format: Azure}, azure2023 + "\n\"2023", "azure: line 5: extraneous or missing \" in quoted-field"},
		{Trace{Format: BurstGPT}, azure2023, `burstgpt: line 1: the first line has no column "Timestamp"`},
		{Trace{Format: BurstGPT}, burst + "nan,GPT-4,1,1,2,x\n", `burstgpt: line 6: Timestamp is "nan": want a number of seconds`},
		{Trace{Format: BurstGPT, Model: "GPT-5"}, burst, "burstgpt: no row of the trace is selected by the fields"},
		{Trace{Format: Mooncake}, mooncake + mooncake, "mooncake: line 4: the row is 3s earlier than the row before"},
		{Trace{Format: Mooncake}, mooncake + `{"timestamp": 3000, "input_length": 11`, "mooncake: line 4: record 3: "},
		{Trace{Format: Mooncake}, mooncake + "7\n", "mooncake: line 4: record 3: the record is a JSON number: want an object"},
		{Trace{Format: Mooncake}, `{"timestamp": "0", "input_length": 1, "output_length": 5, "hash_ids": []}`, `mooncake: line 1: record 0: "timestamp" is a JSON string: want a number`},
		{Trace{Format: Mooncake}, `{"timestamp": -1, "input_length": 1, "output_length": 5, "hash_ids": []}`, `mooncake: line 1: record 0: "timestamp" is -1: want from 0`},
		{Trace{Format: Mooncake}, "\n\n{\"timestamp\": 0, \"output_length\": 5, \"hash_ids\": []}", `mooncake: line 3: record 0: there is no "input_length": want a number`},
		{Trace{Format: Mooncake}, `{"timestamp": 0, "input_length": 1.5, "output_length": 5, "hash_ids": []}`, `"input_length" is 1.5: want a whole number of tokens`},
		{Trace{Format: Mooncake}, `{"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": ["a"]}`, `"hash_ids": want an array of whole numbers`},
		{Trace{Format: Mooncake}, `{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1, 2]}`, `2 "hash_ids" for 512 tokens: want at most 1`},
		{Trace{Format: Mooncake, Model: "x"}, mooncake, `field Model is "x": want it empty unless field Format is burstgpt`},
		{Trace{Format: Azure, From: time.Hour}, azure2023, "no row of the trace is selected by the fields"},
		{Trace{Format: Azure, Share: 2}, azure2023, "field Share is 2: want above 0 and at most 1"},
		{Trace{Format: Azure, For: -1}, azure2023, "neither may be negative"},
		{Trace{Format: "csv"}, azure2023, `trace: field Format is "csv": want one of the formats`},
	} {
		requests, _, err := tt.trace.Read(strings.NewReader(tt.file), 0)
		assert.ErrorContains(t, err, tt.want)
		assert.Assert(t, requests == nil)
	}
	_, _, err := Trace{Format: Azure, Path: "none.csv"}.Load(1)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = Trace{Format: Azure}.Read(strings.NewReader(azure2023), -1)
	assert.ErrorContains(t, err, "-1 requests: want at least 1, or 0 for all")
	// Replay returns the same errors as Load.
	file := filepath.Join(t.TempDir(), "azure.csv")
	assert.NilError(t, os.WriteFile(file, []byte(azure2023), 0o666))
	for _, tt := range []struct {
		trace Trace
		n     int
		want  string
	}{
		{Trace{Format: Azure, Path: file}, -1, "azure " + file + ": -1 requests: want at least 1, or 0 for all"},
		{Trace{Format: Azure, Path: file, From: time.Hour}, 4, "azure " + file + ": no row of the trace is selected by the fields"},
	} {
		_, _, err := tt.trace.Load(tt.n)
		assert.ErrorContains(t, err, tt.want)
		replay, again := tt.trace.Replay(tt.n)
		assert.Error(t, again, err.Error())
		assert.Assert(t, replay.At == nil)
	}
	for n, want := range []int{3, 1, 2, 3, 3} {
		replay, err := Trace{Format: Azure, Path: file}.Replay(n)
		assert.NilError(t, err)
		assert.Equal(t, len(replay.At), want)
	}
}
