package llmbench

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/hook"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// hooked makes a pass between the commands or requests of LLMBENCH_BEFORE_PASS and LLMBENCH_AFTER_PASS. What they print
// becomes notes of the records. The second one also follows a pass that failed or was interrupted, so that no profiler goes
// on. Of several processes, the leader alone runs them.
func (m *measurement) hooked(ctx context.Context, name string, number int, pass func() error) error {
	hooks := m.cfg.Hooks
	if !m.party.Leads() {
		return pass()
	}
	at := hook.Place{Benchmark: name, Pass: number}
	if err := m.hook(ctx, hooks.Before, at); err != nil {
		return fmt.Errorf("before it: %w", err)
	}
	return errors.Join(pass(), m.hook(context.WithoutCancel(ctx), hooks.After, at))
}

// hook runs a hook, if there is one.
func (m *measurement) hook(ctx context.Context, h hook.Hook, at hook.Place) error {
	if !h.IsSet() {
		return nil
	}
	output, err := h.Run(ctx, at, func() (string, *http.Client, error) { return m.target.Client() })
	if err != nil {
		return err
	}
	if output != "" {
		m.end.Notes = append(m.end.Notes, records.Note{Kind: records.NoteHook, Text: m.target.Redact(fmt.Sprintf("pass %d: %s: %s", at.Pass, h.Name(), output))})
	}
	return nil
}
