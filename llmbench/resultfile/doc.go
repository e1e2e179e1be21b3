// Package resultfile reads the result files of other tools that measure LLM inference servers, and turns them into
// results in Go benchmark format (https://go.dev/design/14313-benchmark-format), in the units of llmbench.
//
// A file is recognised by its contents. Each figure keeps its [Source]: the tool's key and unit. A figure that a tool
// defines in another way than llmbench has another unit: mean-tpot-incl-ttft-ns is a time per
// output token that begins with the request, as GuideLLM and LLMPerf have it. The variable of each
// format lists its figures, and its comment cites what the tool's source says.
//
// What a file admits is a note: that a tool does not count failures, or keeps percentiles of bins. What makes a file
// no sample is an [Error], which names the file and the tool's key: no successful request, a TTFT of 0, -1 for "no
// value", a rate that is NaN, failed requests, figures of several loads in one, a schema that is newer than
// the known ones, and a file that was cut.
//
// Results of one file that have equal loads are written as one run, because nobody can tell from a file whether the
// server was started afresh in between.
package resultfile
