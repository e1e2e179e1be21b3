package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// createModel implements the command "ollama create NAME -f MODELFILE": it checks that the file names an
// existing model, and asks the server to add the model.
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
