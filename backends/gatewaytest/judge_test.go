package gatewaytest

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
)

// TestJudgeAlone checks what is taken for a part of another request.
func TestJudgeAlone(t *testing.T) {
	const key, other = "key-10", "key-1"
	for _, c := range []struct{ name, body, field, want string }{
		{"its own marker", "gwt1x12.0é gwt1x12.1", "", ""},
		{"another marker", "gwt1x12.0é gwt1x13.0", "", "foreign"},
		{"another marker that begins like its own", "gwt1x1.0 gwt1x12.0", "", "foreign"},
		{"an end within its own marker", "gwt1x12.0é gwt1x1", "", ""},
		{"an end after another marker", "gwt1x12.0é gwt1x2", "", "foreign"},
		{"its own key", "", "Bearer " + key, ""},
		{"a key that begins with another key", "", key, ""},
		{"another key", "", "Bearer " + other, "foreign-key"},
		{"another key after a longer one", "", "key-11, " + other, "foreign-key"},
	} {
		x := &exchange{k: &kit{o: Options{Keys: []string{other, key}}}, marker: "gwt1x12", key: key, in: message{body: []byte(c.body)}}
		if c.field != "" {
			x.attempts = []*attempt{{header: http.Header{"Authorization": {c.field}}}}
		}
		rule := ""
		if f := judgeAlone(x); f != nil {
			rule = f[0].Rule
		}
		assert.Equal(t, rule, c.want, c.name)
	}
}
