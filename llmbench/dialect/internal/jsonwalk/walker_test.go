package jsonwalk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// trace walks text, and returns how each member was read.
func trace(text string) (got []string, err error) {
	w := New()
	var member func(name []byte)
	member = func(name []byte) {
		key := string(name)
		var v any
		switch key {
		case "text":
			v = string(w.Text(nil))
		case "any":
			v = string(w.TextOrRaw(nil))
		case "count":
			v = w.Count()
		case "length":
			v = w.Length()
		case "seconds":
			v = w.Duration(time.Second)
		case "filled":
			v = w.Filled()
		case "offset":
			v = w.Offset()
		case "true":
			v = w.Is("true")
		case "object":
			v = "{"
			w.Object(member)
		case "array":
			n := 0
			w.Array(func() { n++; w.Raw() })
			v = n
		case "skipped":
			v = ""
		case "skipped-array":
			n := 0
			w.Array(func() { n++ })
			v = n
		default:
			v = string(w.Raw())
		}
		got = append(got, fmt.Sprintf("%s=%v", key, v))
	}
	err = w.Objects([]byte(text), member, func() { got = append(got, "end") })
	return got, err
}

func TestWalker(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{}`, "end"},
		{`null`, "end"},
		{``, ""},
		{`{"text":"a"}`, "text=a end"},
		{`{"text":"\u4e16\ud83d"}`, "text=世\ufffd end"},
		{"{\"text\":\"\xff\"}", "text=\xff end"},
		{`{"text":7,"any":7}`, "text= any=7 end"},
		{`{"any":"a","any":null,"any":[1]}`, "any=a any= any=[1] end"},
		{`{"count":7,"count":12,"count":1.2e1,"count":-1,"count":1e300,"count":"7"}`, "count=7 count=12 count=12 count=0 count=0 count=0 end"},
		{`{"length":[1,[2]],"length":null,"length":7}`, "length=2 length=0 length=1 end"},
		{`{"seconds":0.25,"seconds":-1,"seconds":1e300,"seconds":null}`, "seconds=250ms seconds=0s seconds=0s seconds=0s end"},
		{`{"true":true,"true":false}`, "true=true true=false end"},
		{`{"filled":"a","filled":["a"],"filled":{"b":[{"c":"a"}]},"filled":[1]}`, "filled=true filled=true filled=true filled=true end"},
		{`{"filled":"","filled":[],"filled":{},"filled":null,"filled":true,"filled":7,"filled":["",{"n":7,"a":null}]}`, "filled=false filled=false filled=false filled=false filled=false filled=false filled=false end"},
		{`{"offset":7} {"text":"a","offset":7}`, "offset=9 end text=a offset=33 end"},
		{`{"object":{"text":"a"},"object":null}`, "text=a object={ object={ end"},
		{`{"array":[1,{}],"array":null}`, "array=2 array=0 end"},
		{`{"te\u0078t":"a"}`, "text=a end"},
		{`{"skipped":{"text":[7]},"text":"a","object":{"skipped":7},"skipped":null}`, "skipped= text=a skipped= object={ skipped= end"},
		{`{"skipped-array":[1,{"text":"a"},[2]],"text":"b"}`, "skipped-array=3 text=b end"},
		{`{"text":"a"}{"text":"b"} null`, "text=a end text=b end end"},
	} {
		got, err := trace(test.text)
		assert.NilError(t, err, test.text)
		assert.Equal(t, strings.Join(got, " "), test.want, test.text)
	}
}

func TestWalkerErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`[1]`, "[ where { should be"},
		{`{"array":7}`, "number where [ should be"},
		{`{"object":[]}`, "[ where { should be"},
		{`{"text":"a"`, "unexpected EOF"},
		{`{"text":"a"}x`, "invalid character 'x'"},
		{`{x}`, "invalid character 'x'"},
		{`{"skipped":x}`, "invalid character 'x'"},
	} {
		_, err := trace(test.text)
		assert.ErrorContains(t, err, test.want, test.text)
	}
}

func TestOnlyText(t *testing.T) {
	w := New()
	member := func([]byte) { w.Text(nil) }
	text := `{"text":"a\tb"}`
	assert.NilError(t, w.Objects([]byte(text), member, func() {}))
	from, to := w.OnlyText()
	assert.Equal(t, text[from:to], `a\tb`)

	assert.NilError(t, w.Objects([]byte(`{"text":"a","text":"b"}`), member, func() {}))
	from, to = w.OnlyText()
	assert.Assert(t, from == 0 && to == 0, "two strings")
}
