package secret

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kballard/go-shellquote"
	"gotest.tools/v3/assert"
)

// TestText checks that secrets are found in words of a command that have an inner structure, such as scripts, and
// that the rest of a word is shown.
func TestText(t *testing.T) {
	for _, c := range []struct{ text, want, secrets string }{
		{`OPENAI_API_KEY=sk-planted exec server --port {port}`, `OPENAI_API_KEY=[secret] exec server --port {port}`, "sk-planted"},
		{`export HF_TOKEN='hf planted' && exec server`, `export HF_TOKEN=[secret] && exec server`, "hf planted"},
		{`A_TOKEN="planted\"token" B=1 x`, `A_TOKEN=[secret] B=1 x`, `planted"token`},
		{`KEY=plan'ted 'key x`, `KEY=[secret] x`, "planted key"},
		{`server --api-key sk-planted --port 1`, `server --api-key [secret] --port 1`, "sk-planted"},
		{`server --api-key=sk-planted;true`, `server --api-key=[secret];true`, "sk-planted"},
		{`docker run -e MY_API_KEY=sk-planted image`, `docker run -e MY_API_KEY=[secret] image`, "sk-planted"},
		{`MY_API_KEY=sk-planted`, `MY_API_KEY=[secret]`, "sk-planted"},
		{`curl -H "Authorization: Bearer sk-planted" url`, `curl -H "Authorization: [secret]" url`, "sk-planted"},
		{`Authorization: Bearer sk-planted`, `Authorization: [secret]`, "sk-planted"},
		{`X-Api-Key: sk-planted`, `X-Api-Key: [secret]`, "sk-planted"},
		{`{"api_key":"sk-planted","seed":1}`, `{"api_key":[secret],"seed":1}`, "sk-planted"},
		{`{api_key: sk-planted, seed: 1}`, `{api_key: [secret], seed: 1}`, "sk-planted"},
		{`{"a":{"password": 'sk-planted'}}`, `{"a":{"password": [secret]}}`, "sk-planted"},
		{`http://user:pass%2Bword@host:1/v1`, `http://[secret]@host:1/v1`, "pass+word"},
		{`redis://:sk-planted@host`, `redis://[secret]@host`, "sk-planted"},
		{`https://sk-planted@host`, `https://[secret]@host`, "sk-planted"},
		{`http://host/v1?api-key=sk-planted&version=1`, `http://host/v1?api-key=[secret]&version=1`, "sk-planted"},
		{`python3 -c "os.environ['API_KEY']='sk-planted'; run()"`, `python3 -c "os.environ['API_KEY']=[secret]; run()"`, "sk-planted"},
		{`curl -u me:planted --user=you:planted2 http://host`, `curl -u [secret] --user=[secret] http://host`, "planted|planted2|me:planted"},
		{`docker run --user 1000:1000 image`, `docker run --user 1000:1000 image`, ""},
		{`TOKEN=$(cat file) exec server`, `TOKEN=$(cat file) exec server`, ""},
		{`SECRET_KEY_BASE=0123456789abcdef0 --key-id=AKIAIOSFODNN7EXAMPLE`, `SECRET_KEY_BASE=[secret] --key-id=[secret]`, "0123456789abcdef0|AKIAIOSFODNN7EXAMPLE"},
		{`--token-budget 2048 KEY_FILE=/root/keys/key-2026-11-28.pem --tokenizer-name Qwen2.5-7B-Instruct-GPTQ`, `--token-budget 2048 KEY_FILE=/root/keys/key-2026-11-28.pem --tokenizer-name Qwen2.5-7B-Instruct-GPTQ`, ""},
		{`PGPASSWORD=planted1 MYSQL_PWD=planted2 x`, `PGPASSWORD=[secret] MYSQL_PWD=[secret] x`, "planted1|planted2"},
		{`--unknown sk-proj-a9XkQ2pLm7RtZ4vB8nWc`, `--unknown [secret]`, "sk-proj-a9XkQ2pLm7RtZ4vB8nWc"},
		{`SOME_VALUE=a9XkQ2pLm7RtZ4vB8nWc exec server`, `SOME_VALUE=[secret] exec server`, "a9XkQ2pLm7RtZ4vB8nWc"},
		{`server --opt=mode=a9XkQ2pLm7RtZ4vB8nWc== /run/b8YjR3qMn6SuW5xC7mVd/sock`, `server --opt=mode=[secret] [secret]`, "a9XkQ2pLm7RtZ4vB8nWc|a9XkQ2pLm7RtZ4vB8nWc==|b8YjR3qMn6SuW5xC7mVd"},
		{`--api-key $OPENAI_API_KEY --hf-token "${HF_TOKEN}" --other-token {token}`, `--api-key $OPENAI_API_KEY --hf-token "${HF_TOKEN}" --other-token {token}`, ""},
		{`-np 8 --seed 0 -m /models/Qwen2.5-7B-Instruct-Q4_K_M.gguf`, `-np 8 --seed 0 -m /models/Qwen2.5-7B-Instruct-Q4_K_M.gguf`, ""},
		{`--revision 4f2ef36c1f848dfe1e70b69c937b122342c0a1b`, `--revision 4f2ef36c1f848dfe1e70b69c937b122342c0a1b`, ""},
		{`/nix/store/0c1p5z4kda11vqzm3s5l1ai1q2k9v0hn-server/bin/server /tmp/TestRunReportsLog1234567890/001`, `/nix/store/0c1p5z4kda11vqzm3s5l1ai1q2k9v0hn-server/bin/server /tmp/TestRunReportsLog1234567890/001`, ""},
		{`the key is lost, token budget`, `the key is lost, token budget`, ""},
		{`--max-num-batched-tokens 8192 PWD=/root -cache-type-k q8_0`, `--max-num-batched-tokens 8192 PWD=/root -cache-type-k q8_0`, ""},
		{`http://127.0.0.1:8000/v1 user@host`, `http://127.0.0.1:8000/v1 user@host`, ""},
	} {
		got, secrets := redactText(c.text)
		assert.Equal(t, got, c.want)
		for secret := range strings.SplitSeq(c.secrets, "|") {
			assert.Assert(t, secret == "" && len(secrets) == 0 || slices.Contains(secrets, secret), "%s: %q", c.text, secrets)
		}
	}
}

// TestInherited checks which values of an environment are secrets. Values that often occur in results are not.
func TestInherited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.pem")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	got := Inherited([]string{
		"HF_TOKEN=hf_planted", "DB_PASSWORD=planted-1", "GITHUB_PAT=planted-2", "PROXY_PASS=planted-3", "DATABASE_URL=postgres://u:planted-4@host/db",
		"WHATEVER=a9XkQ2pLm7RtZ4vB8nWc", "PLAIN", "EMPTY_KEY=", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "TOKEN_2=planted-token-2x",
		"HOME=/root", "PWD=/root/project", "PATH=/usr/local/bin:/usr/bin", "LANG=C.UTF-8", "CI=true", "SHLVL=1", "GOFLAGS=-mod=mod", "SSL_KEY=" + file,
		"GITHUB_SHA=4f2ef36c1f848dfe1e70b69c937b122342c0a1b2", "HOSTNAME=runnervmw9dnm", "GITHUB_REPOSITORY=Owner/SomeRepository", "HF_HUB_DISABLE_IMPLICIT_TOKEN=1",
		"MODEL=Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "LS_COLORS=rs=0:di=01;34:ln=01;36:mh=00",
	})
	slices.Sort(got)
	assert.DeepEqual(t, slices.Compact(got), []string{"AKIAIOSFODNN7EXAMPLE", "a9XkQ2pLm7RtZ4vB8nWc", "hf_planted", "planted-1", "planted-2", "planted-3", "planted-4", "planted-token-2x", "u:planted-4"})
}

// FuzzText checks that a secret is found in a script, however it is quoted, and that a text without secrets is shown
// as it is.
func FuzzText(f *testing.F) {
	f.Add("exec server --port 1", "sk-planted")
	f.Add(`sh -c "x`, `it's a "key" & \more`)
	f.Fuzz(func(t *testing.T, other, secret string) {
		shown, secrets := redactText(other)
		assert.Equal(t, shown == other, len(secrets) == 0, "%q: %q", shown, secrets)
		if strings.TrimSpace(secret) == "" || isReference(secret) || strings.ContainsFunc(secret, unicode.IsControl) || !utf8.ValidString(secret) {
			return
		}
		script := "export A_KEY=" + shellquote.Join(secret) + "; exec server"
		shown, secrets = redactText(script)
		assert.Equal(t, shown, "export A_KEY=[secret]; exec server", "%q", script)
		assert.Assert(t, slices.Contains(secrets, secret), "%q", secrets)
	})
}
