package ssetest_test

import (
	"io"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest"
)

// decoder adapts package sse. The argument limit is its MaxEventSize.
func decoder(limit int) ssetest.Decode {
	return func(body io.Reader, emit func(ssetest.Event)) error {
		d := sse.NewDecoder(body)
		d.MaxEventSize = limit
		for {
			e, err := d.Next()
			if err != nil {
				return err
			}
			retry, _ := d.Retry()
			emit(ssetest.Event{
				Type: string(e.Type), Data: string(e.Data), ID: string(e.ID),
				Retry: retry, Unterminated: e.Unterminated,
			})
		}
	}
}

func TestDecoder(t *testing.T) {
	const limit = 4 << 20
	ssetest.TestDecoder(t, decoder(limit), ssetest.Options{EOF: ssetest.Mark, MaxEventSize: limit})
}

// TestDecoderFlush checks a caller that ignores Event.Unterminated.
func TestDecoderFlush(t *testing.T) {
	ssetest.TestDecoder(t, decoder(0), ssetest.Options{EOF: ssetest.Flush})
}

func FuzzDecoderLimit(f *testing.F) {
	ssetest.Fuzz(f, decoder(4<<10), ssetest.Options{EOF: ssetest.Mark, MaxEventSize: 4 << 10})
}
