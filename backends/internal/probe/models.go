package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A Model is an entry of a server's list of models. Members that the server does not state are zero.
type Model struct {
	ID      string // the name in requests
	OwnedBy string // for engines, the engine
	// The following are members of vLLM and SGLang (https://docs.vllm.ai/en/latest/features/lora/): what the model was
	// loaded from, the model that it is an adapter of, and the maximum number of tokens of a request.
	Root        string
	Parent      string
	MaxModelLen int
}

// UnmarshalJSON reads an entry. Only the id must be of the right type, because servers extend the entries.
func (m *Model) UnmarshalJSON(text []byte) error {
	var id struct{ ID string }
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &id); err != nil {
		return err
	}
	_ = json.Unmarshal(text, &members)
	*m = Model{ID: id.ID}
	for name, to := range map[string]any{"owned_by": &m.OwnedBy, "root": &m.Root, "parent": &m.Parent, "max_model_len": &m.MaxModelLen} {
		_ = json.Unmarshal(members[name], to) // a value of another type is not what the engines document
	}
	return nil
}

// List returns the models that the server lists at path, in the format of OpenAI's GET /v1/models
// (https://platform.openai.com/docs/api-reference/models/list), and the header of the answer. Ollama writes null for a
// list without models.
func (s Server) List(ctx context.Context, path string) ([]Model, http.Header, error) {
	header, body, err := Exchange(ctx, s.Target, http.MethodGet, path, "")
	if err != nil {
		return nil, nil, err
	}
	var list struct {
		Object string
		Data   []Model
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil && list.Object != "list" {
		return nil, nil, fmt.Errorf("%s is not a list of models: %s", path, s.Target.Excerpt(strings.TrimSpace(string(body)), 300))
	}
	for _, m := range list.Data {
		if shown := s.Target.Redact(m.ID); shown != m.ID {
			return nil, nil, fmt.Errorf("%s has a model whose name repeats a credential or has control characters: %q", path, s.Target.Excerpt(m.ID, 300))
		}
	}
	return list.Data, header, nil
}

// Models returns the names of the models in [Server.List].
func (s Server) Models(ctx context.Context, path string) ([]string, error) {
	list, _, err := s.List(ctx, path)
	var names []string
	for _, m := range list {
		names = append(names, m.ID)
	}
	return names, err
}

// Base returns the only model of a list that is not an adapter of another one in the list. Several names of the same root
// count as one model, of which Base returns the first name, as answers of vLLM do. ok is false if there are several
// models, or none.
func Base(list []Model) (m Model, ok bool) {
	bases := slices.DeleteFunc(slices.Clone(list), func(m Model) bool {
		return slices.ContainsFunc(list, func(base Model) bool { return base.ID == m.Parent && base.ID != m.ID })
	})
	if len(bases) == 0 {
		return Model{}, false
	}
	first := bases[0]
	other := slices.ContainsFunc(bases[1:], func(m Model) bool {
		return first.Root == "" || cmp.Or(first.Parent, m.Parent) != "" || m.Root != first.Root
	})
	return first, !other
}
