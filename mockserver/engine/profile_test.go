package engine

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		p    Profile
		want string
	}{
		{Profile{MaxBatch: 1}, ""},
		{Profile{}, "max_batch: 0: want 1 to 1073741824"},
		{Profile{MaxBatch: 1, Step: -1}, "step_us: -1: want 0 to 1e+12 microseconds"},
		{Profile{MaxBatch: 1, PrefillPerToken: math.NaN()}, "prefill_per_token_us: NaN: want 0 to 1e+12 microseconds"},
		{Profile{MaxBatch: 1, StepPerKVToken: math.Inf(1)}, "step_per_kv_token_us: +Inf: want 0 to 1e+12 microseconds"},
		{Profile{MaxBatch: 1, KVBlocks: -5}, "kv_blocks: -5: want 0 to 1073741824"},
		{Profile{MaxBatch: 1, BlockTokens: 5000}, "block_tokens: 5000: want 0 to 4096"},
		{Profile{MaxBatch: 1, Draft: 65}, "draft: 65: want 0 to 64"},
		{Profile{MaxBatch: 1, AcceptRate: 1.5}, "accept_rate: 1.5: want 0 to 1"},
		{Profile{MaxBatch: 1, LoadPerBlock: -1}, "load_per_block_us: -1: want 0 to 1e+12 microseconds"},
		{Profile{MaxBatch: 1, OffloadBlocks: 5, PrefixCache: true}, "offload_blocks: 5 without prefix_cache and kv_blocks: want both"},
		{Profile{MaxBatch: 1, OffloadBlocks: 5, PrefixCache: true, KVBlocks: 1}, ""},
		{Profile{MaxBatch: 1, Watermark: 1}, "watermark: 1: want 0 to below 1"},
		{Profile{MaxBatch: 1, PrefillGap: 2, PrefillChunk: 3}, "prefill_gap: 2 and prefill_chunk: 3 are both set: want only one"},
		{Profile{MaxBatch: 1, Output: Lengths{{0, 1}, {1.1, 2}}}, "output[1][0]: 1.1: want a share, 0 to 1"},
		{Profile{MaxBatch: 1, Output: Lengths{{0, 0}}}, "output[0][1]: 0: want 1 to 1073741824 tokens"},
		{Profile{MaxBatch: 1, Output: Lengths{{0.5, 9}, {0.4, 10}}}, "output[1][0]: 0.4: want at least 0.5, as in the point before"},
		{Profile{MaxBatch: 1, Output: Lengths{{0.5, 9}, {0.6, 8}}}, "output[1][1]: 8: want at least 9, as in the point before"},
	} {
		got := ""
		if err := tt.p.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v.Validate() = %q, want %q", tt.p, got, tt.want)
		}
		if _, err := New(tt.p, Watcher{}); (err == nil) != (tt.want == "") {
			t.Errorf("New(%+v): %v, want the error of Validate", tt.p, err)
		}
	}
}

func TestProfileJSON(t *testing.T) {
	const text = `{"step_us":21800.5,"step_per_kv_token_us":0.0634,"max_batch":200,"zombies":true,"output":[[0,1],[1,600]]}`
	want := Profile{Step: 21800.5, StepPerKVToken: 0.0634, MaxBatch: 200, Zombies: true, Output: Lengths{{0, 1}, {1, 600}}}
	var got Profile
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %+v, %v, want %+v", text, got, err, want)
	}
	if again, err := json.Marshal(want); err != nil || string(again) != text {
		t.Errorf("Marshal = %s, %v, want %s", again, err, text)
	}
	if err := json.Unmarshal([]byte(`{"step_ms":1}`), &got); err == nil || !strings.Contains(err.Error(), `unknown field "step_ms"`) {
		t.Errorf("an unknown field: %v, want an error that names it", err)
	}
}
