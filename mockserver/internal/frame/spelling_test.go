package frame

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

func TestSpellingForms(t *testing.T) {
	for _, tt := range []struct {
		sp       spelling
		in, want string
	}{
		{spelling{dumps: true}, `{"a":"x,y:{é😀","b":[1,-2.5e3,null],"c":{}}`, `{"a": "x,y:{\u00e9\ud83d\ude00", "b": [1, -2.5e3, null], "c": {}}`},
		{spelling{twice: true}, `{"a":"x","b":[1,"y"],"c":null,"d":0.5,"e":{"f":-1}}`, `{"a":"","a":"x","b":[1,"y"],"c":null,"d":0,"d":0.5,"e":{"f":0,"f":-1}}`},
		{spelling{numberStrings: true}, `{"prompt_tokens":12,"id":3,"eval_count":0}`, `{"prompt_tokens":"12","id":3,"eval_count":"0"}`},
		{spelling{true, true, true}, `{"total_tokens":1,"q\"":"\"\\"}`, `{"total_tokens": 0, "total_tokens": "1", "q\"": "", "q\"": "\"\\"}`},
		{spelling{dumps: true}, `{"a":[{"b":0,`, `{"a": [{"b": 0, `}, // an incomplete document
		{spelling{dumps: true}, `"a\`, `"a\`},
		{spelling{dumps: true, twice: true}, `{"a":`, `{"a": `},
		{spelling{dumps: true}, "\"\xff\xf0\x9f\"", "\"\xff\xf0\x9f\""}, // invalid UTF-8
	} {
		if got := string(tt.sp.append(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("%+v.append(%s) = %s, want %s", tt.sp, tt.in, got, tt.want)
		}
	}
}

func FuzzSpelling(f *testing.F) {
	f.Add([]byte(`{"a":"x,y:{é😀","b":[1,-2.5e3,null],"prompt_tokens":{"c":1}}`))
	f.Add([]byte(`{"a":[{"b":0,`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, sp := range []spelling{{dumps: true}, {twice: true}, {numberStrings: true}, {true, true, true}} {
			sp.append(nil, data) // must not panic
		}
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		compact := jsontext.Marshal(v) // no space outside strings, and no duplicate keys
		for _, sp := range []spelling{{dumps: true}, {twice: true}, {true, true, false}} {
			var again any
			got := sp.append(nil, compact)
			if err := json.Unmarshal(got, &again); err != nil || !reflect.DeepEqual(again, v) {
				t.Fatalf("%+v.append(%s) = %s, %v, want the same document", sp, compact, got, err)
			}
		}
	})
}
