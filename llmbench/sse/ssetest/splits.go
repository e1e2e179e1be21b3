package ssetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

const (
	shortBody  = 512      // maximum length of a body that is cut at every offset
	mediumBody = 16 << 10 // maximum length of a body that is read byte by byte
)

// scripts returns the ways in which a body is read. The body ends with the error err.
func scripts(stream []byte, err error) []script {
	all := []script{
		{how: "whole"},
		{how: "whole, its end with the last bytes", joinEnd: true},
		{how: "cut after each CR and LF", cuts: lineCuts(stream)},
		{how: "cut into 1460 bytes each", every: 1460},
	}
	if len(stream) <= mediumBody {
		all = append(all,
			script{how: "one byte per Read", every: 1},
			script{how: "one byte per Read, with empty Reads between", every: 1, empty: true})
	}
	if len(stream) <= shortBody {
		for i := 1; i < len(stream); i++ {
			all = append(all, script{how: fmt.Sprintf("cut at %d", i), cuts: []int{i}})
		}
	}
	if len(stream) > 2 {
		for seed := range uint64(4) {
			all = append(all, randomScript(stream, seed))
		}
	}
	for i := range all {
		all[i].stream, all[i].err = stream, err
	}
	return all
}

// lineCuts returns the offset after each CR and each LF.
func lineCuts(stream []byte) []int {
	var cuts []int
	for i, c := range stream {
		if c == '\r' || c == '\n' {
			cuts = append(cuts, i+1)
		}
	}
	return cuts
}

// randomScript returns a script that cuts stream at 1 to 16 offsets that depend on seed.
func randomScript(stream []byte, seed uint64) script {
	rng := rand.New(rand.NewPCG(seed, uint64(len(stream))))
	cuts := make([]int, 1+rng.IntN(16))
	for i := range cuts {
		cuts[i] = rng.IntN(len(stream) + 1)
	}
	slices.Sort(cuts)
	return script{how: fmt.Sprintf("cut at %v", cuts), stream: stream, cuts: cuts}
}
