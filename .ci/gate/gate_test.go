package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

func TestFind(t *testing.T) {
	report := func(verdict gate.Verdict, worse ...gate.Row) gate.Report {
		r := gate.Report{Verdict: verdict, Rows: []gate.Row{{Name: "X/row=1/c=2-2", Unit: "p50-ttft-ns", Verdict: gate.Pass}}}
		for _, row := range worse {
			row.Verdict = gate.Regression
			r.Rows = append(r.Rows, row)
		}
		return r
	}
	tpot := gate.Row{Name: "X/row=2/c=2-2", Unit: "mean-tpot-ns"}
	rate := gate.Row{Name: "X/row=2/c=2-2", Unit: "output-tok/s"}
	ttft := gate.Row{Name: "X/row=2/c=2-2", Unit: "p50-ttft-ns"}
	other := gate.Row{Name: "X/row=5/c=2-2", Unit: "mean-tpot-ns"}
	cpu := gate.Row{Name: "X/row=2/c=2-2", Unit: "srv-cpu-s/ktok"}
	through := gate.Row{Name: "Gateway/via=gateway/concurrency=1-2", Unit: "p50-ttft-ns"}
	direct := gate.Row{Name: "Gateway/via=direct/concurrency=1-2", Unit: "p50-ttft-ns"}
	problem := report(gate.CannotJudge)
	problem.Problems = []gate.Problem{{Message: "no results"}}
	for _, c := range []struct {
		kind   kind
		report gate.Report
		want   finding
	}{
		{equal, report(gate.Pass), right},
		{equal, report(gate.CannotJudge), noisy},
		{equal, report(gate.Regression, tpot), wrong},
		{equal, problem, wrong},
		{equal, gate.Report{Verdict: gate.Pass}, wrong},
		{slower, report(gate.Regression, tpot, rate, other), right},
		{slower, report(gate.Regression, tpot, ttft), wrong},
		{slower, report(gate.Pass), missed},
		{slower, report(gate.CannotJudge), noisy},
		{row, report(gate.Regression, tpot), right},
		{row, report(gate.Regression, tpot, other), wrong},
		{row, report(gate.Pass), missed},
		{gateway, report(gate.Regression, through), right},
		{gateway, report(gate.Regression, through, direct), wrong},
		{gateway, report(gate.Regression, tpot), wrong},
		{buildEqual, report(gate.Pass), right},
		{buildEqual, report(gate.Regression, tpot), wrong},
		{buildDelay, report(gate.Regression, ttft, cpu), right},
		{buildDelay, report(gate.Pass), missed},
		{buildCPU, report(gate.Regression, cpu), right},
		{buildCPU, report(gate.Regression, cpu, ttft), wrong},
	} {
		assert.Equal(t, find(c.kind, c.report), c.want, "%s: %+v", c.kind, c.report)
	}
}

func TestOrder(t *testing.T) {
	for args, want := range map[string]string{
		"-equal=4 -slower=2 -row=2 -gateway=0": "equal slower row equal equal slower row equal",
		"-equal=0 -slower=2 -row=0 -gateway=0": "slower slower",
		"-equal=0 -slower=0 -row=0 -gateway=1": "gateway",
		"-equal=0 -slower=0 -row=0 -gateway=0": "",
	} {
		o, err := parse(append([]string{"-build-equal=0", "-build-delay=0", "-build-cpu=0"}, strings.Fields(args)...), io.Discard)
		assert.NilError(t, err)
		var got []string
		for _, k := range o.order() {
			got = append(got, string(k))
		}
		assert.Equal(t, strings.Join(got, " "), want)
	}
	_, err := parse([]string{"-equal=-1"}, io.Discard)
	assert.Error(t, err, "-equal: -1: want at least 0")
	_, err = parse([]string{"x"}, io.Discard)
	assert.Error(t, err, `argument "x": want flags only`)
}

func TestTable(t *testing.T) {
	made := func(k kind, f finding, rounds int, took time.Duration) comparison {
		return comparison{kind: k, finding: f, took: took, report: gate.Report{Samples: rounds}}
	}
	got := table([]comparison{made(equal, right, 7, 30*time.Second), made(row, wrong, 8, 95*time.Second), made(equal, noisy, 10, 40*time.Second), made(equal, right, 7, 31*time.Second)})
	assert.Equal(t, got, `versions     runs  right  noisy  missed  wrong  rounds (most)    time  (most)
equal           3      2      1       0      0        7  (10)     31s   (40s)
row             1      0      0       0      1        8   (8)   1m35s (1m35s)
`)
}
