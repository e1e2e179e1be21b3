package secret

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRedactArgs(t *testing.T) {
	for _, c := range []struct{ args, want, secrets string }{
		{"--api-key sk-1 --seed 0", "--api-key [secret] --seed 0", "sk-1"},
		{"--api-key=sk-1", "--api-key=[secret]", "sk-1"},
		{"--api-keys sk-1 sk-2 --tp 2", "--api-keys [secret] [secret] --tp 2", "sk-1 sk-2"},
		{"--api-key -sk-1 -c 1", "--api-key [secret] -c 1", "-sk-1"},
		{"-hft hf_abcdefgh -c 1", "-hft [secret] -c 1", "hf_abcdefgh"},
		{"--api-key 12345678", "--api-key [secret]", "12345678"},
		{"--api-key 1234", "--api-key [secret]", "1234"},
		{"--db_password 1h", "--db_password [secret]", "1h"},
		{"--hf-token 1234567890", "--hf-token [secret]", "1234567890"},
		{"--seconds-per-token=0.5 -per-token 0 --per-token 20ms", "--seconds-per-token=0.5 -per-token 0 --per-token 20ms", ""},
		{"run -e A_KEY=sk-1 -e B=1 image", "run -e A_KEY=[secret] -e B=1 image", "sk-1"},
		{"--token --verbose", "--token --verbose", ""},
		{"--max-tokens 8 --tokenizer some/model", "--max-tokens 8 --tokenizer some/model", ""},
	} {
		redacted, secrets := RedactArgs(strings.Fields(c.args))
		assert.Equal(t, strings.Join(redacted, " "), c.want)
		assert.Equal(t, strings.Join(secrets, " "), c.secrets, "%s", c.args)
	}
}

func TestAPIKey(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{nil, nil, ""},
		{[]string{"--seed", "0", "--api-key", "k", "k2"}, nil, "k"},
		{[]string{"--api-key=k"}, map[string]string{"API_KEY": "k2"}, "k"},
		{[]string{"--api-key"}, nil, ""},
		{nil, map[string]string{"VLLM_API_KEY": "k"}, "k"},
	} {
		assert.Equal(t, APIKey(c.args, c.env), c.want, "%q %v", c.args, c.env)
	}
}
