package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/facts"
)

// modelSettings are the settings that give each server's model its name, the first
// one that is set. They are options, variables and members of documents.
var modelSettings = map[string][]string{
	"vllm":            {"--served-model-name", "model_tag"},
	"tgi":             {"--model-id"},
	"sglang":          {"--served-model-name", "--model-path"},
	"lmdeploy":        {"--model-name", "model_path"},
	"llamacpp":        {"--alias", "--model", "--hf-repo"},
	"llamacpp-python": {"MODEL_ALIAS", "MODEL"},
	"ollama":          {"model"},
	"textgen":         {"--model"},
	"openllm":         {"model_id"},
	"xinference":      {"model_uid", "model_name"},
	"tensorrtllm":     {"MODEL"},
	"mindie":          {"BackendConfig.ModelDeployConfig.ModelConfig.0.modelName"},
}

// anyName are the servers that answer requests whatever model they name.
var anyName = []string{"tgi", "llamacpp", "textgen", "tensorrtllm", "llamacpp-python"}

// modelName returns the name under which a server with these settings lists its
// model, or "".
func modelName(server string, set facts.Settings) string {
	for _, setting := range modelSettings[server] {
		values := set[setting]
		if len(values) == 0 {
			continue
		}
		name := values[0]
		switch server {
		case "ollama":
			if !strings.Contains(name, ":") {
				name += ":latest"
			}
		case "openllm": // it makes up a name
			name = strings.ReplaceAll(strings.ToLower(strings.Trim(name, "/")), "/", "--")
		case "tensorrtllm":
			name = path.Base(name)
		}
		return name
	}
	return ""
}

// createModel is the command "ollama create NAME -f MODELFILE": it checks that the
// file names a model that exists, and asks the server to add it.
func createModel(args []string) error {
	if len(args) != 3 || args[1] != "-f" {
		return fmt.Errorf("ollama create %q: want NAME -f MODELFILE", args)
	}
	text, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	from, found := strings.CutPrefix(strings.TrimSpace(string(text)), "FROM ")
	if !found {
		return fmt.Errorf("%s: want a line that begins with FROM", args[2])
	}
	if _, err := os.Stat(from); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"model": args[0]})
	if err != nil {
		return err
	}
	res, err := http.Post("http://127.0.0.1:11434/api/create", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	words, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("ollama create: %s: %s", res.Status, words)
	}
	return err
}
