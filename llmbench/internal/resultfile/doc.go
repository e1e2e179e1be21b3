// Package resultfile reads the result files of other tools that measure LLM inference servers, and turns them into
// results in Go benchmark format (https://go.dev/design/14313-benchmark-format), in the units of llmbench.
//
// A file is recognised by its contents. Each value keeps its [Source]: the tool's key and unit. If a tool
// defines a metric differently from llmbench, the unit is different: mean-tpot-incl-ttft-ns is a time per
// output token that begins with the request, as in GuideLLM and LLMPerf. The variable of each format lists
// its metrics, and the variable's comment cites what the tool's source says about them.
//
// The load becomes a part of a benchmark's name. Everything else that a file states is configuration, unless the
// variables of its format list the key as a result or as an identity of the run, such as its time. [Distinguish] keeps files
// apart that differ in configuration although they are on one side. The values of keys that may be secrets are left out.
//
// A limitation of a file becomes a note: for example, that a tool does not count failures, or that its
// percentiles come from bins. If a file cannot be used as a sample, the package returns an [Error], which
// names the file and the tool's key. The reasons are: no successful request, a TTFT of 0, -1 for "no
// value", a rate that is NaN, failed requests, metrics that combine several loads, a schema newer than the
// known ones, and a file that was cut.
//
// Results of one file that have equal loads are written as one run, because the file does not say whether
// the server was restarted between them.
package resultfile
