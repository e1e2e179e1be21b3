package benchdata

import (
	"sync"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// orWords returns tok, or [tokenizer.Words] if tok is nil.
func orWords(tok llmbench.Tokenizer) llmbench.Tokenizer {
	if tok == nil {
		return tokenizer.Words{}
	}
	return tok
}

// tokenizerError returns the result of tok's method Err() error, which [tokenizer.Server] has.
// It returns nil if tok has no such method.
func tokenizerError(tok llmbench.Tokenizer) error {
	if t, ok := tok.(interface{ Err() error }); ok {
		return t.Err()
	}
	return nil
}

// forEach calls f for every i from 0 to n-1. If several calls fail, it returns the error of
// the lowest i. If tok has a method AtOnce() int, forEach calls f in AtOnce() goroutines.
func forEach(tok llmbench.Tokenizer, n int, f func(i int) error) error {
	atOnce := 1
	if t, ok := tok.(interface{ AtOnce() int }); ok {
		atOnce = t.AtOnce()
	}
	if atOnce < 2 {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(atOnce, n) {
		wg.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
