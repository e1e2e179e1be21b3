package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const folders = "../../../internal/resultfile/testdata/folders/"

// TestReadFolders checks that a report reads folders as tools leave them, and says what it left out: logs, tables of another
// kind, and per-request files that are not records.
func TestReadFolders(t *testing.T) {
	for _, c := range []struct {
		folder string
		rows   []string // the names of rows
		left   []string // the names of files that were not read
	}{
		{"aiperf", []string{"AIPerf/concurrency=2"}, []string{"profile_export.jsonl", "profile_export_console.txt", "profile_export_aiperf_aggregate.json", "server_metrics_export.csv", "aiperf.log"}},
		{"evalscope", []string{"EvalScope/concurrency=2", "EvalScope/rate=20"}, []string{"benchmark.log", "performance_summary.txt", "benchmark_args.json"}},
		{"genai-bench", []string{"GenAIBench/scenario=D(64,8)/batch=1/concurrency=2"}, []string{"experiment_metadata.json"}},
		{"guidellm", []string{"GuideLLM/strategy=concurrent/streams=2"}, nil},
		{"locust", []string{"Locust/type=POST/name=_v1_chat_completions", "Locust/type=GET/name=_v1_models", "Locust/type=TTFT/name=ttft"}, []string{"run_stats_history.csv", "run.html"}},
	} {
		d, err := Read(folders + c.folder)
		assert.NilError(t, err, c.folder)
		var rows, left []string
		for _, r := range d.Rows {
			if !slices.Contains(rows, r.Name) {
				rows = append(rows, r.Name)
			}
		}
		for _, s := range d.Sources {
			if strings.HasPrefix(s.Kind, "not read: ") {
				left = append(left, filepath.Base(s.Path))
			}
		}
		assert.DeepEqual(t, rows, c.rows)
		for _, want := range c.left {
			assert.Check(t, slices.Contains(left, want), "%s: %s: %q", c.folder, want, left)
		}
		told := slices.ContainsFunc(d.Rows[0].Doubts, func(d Doubt) bool {
			return d.Note && strings.Contains(d.Text, "left out, because they are no results: ")
		})
		assert.Check(t, told == (len(left) > 0), "%s: %q", c.folder, d.Rows[0].Doubts)
	}
}

// TestLinkedFolder checks that a report follows links, and counts nothing twice.
func TestLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	path, err := filepath.Abs(folders + "guidellm")
	assert.NilError(t, err)
	for _, name := range []string{"a", "b"} {
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	d, err := Read(dir)
	assert.NilError(t, err)
	assert.Equal(t, d.Rows[0].Samples(), 1)
	assert.Assert(t, slices.Contains(d.Sources, Source{filepath.Join(dir, "b"), "not read: " + filepath.Join(dir, "a") + " is the same folder"}), "%q", d.Sources)
	var notes []string
	for _, doubt := range d.Rows[0].Doubts {
		notes = append(notes, doubt.Text)
	}
	all := strings.Join(notes, "\n")
	assert.Check(t, strings.Contains(all, "b: left out, because ") && !strings.Contains(all, "no results"), all)
}

// TestNamedTwice checks that a tool's file counts once if it is named beside its folder.
func TestNamedTwice(t *testing.T) {
	dir := folders + "guidellm"
	d, err := Read(filepath.Join(dir, "benchmarks.json"), dir)
	assert.NilError(t, err)
	assert.Equal(t, len(d.Rows), 1)
	assert.Equal(t, d.Rows[0].Samples(), 1)
}

// TestFolderBesideAnother checks that a report says of each folder what was left out there, even if the name of one folder
// begins with the name of the other, or a path has more than it needs.
func TestFolderBesideAnother(t *testing.T) {
	dir := t.TempDir()
	result, err := os.ReadFile(folders + "guidellm/benchmarks.json")
	assert.NilError(t, err)
	for _, name := range []string{"run", "run2"} {
		assert.NilError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name, "benchmarks.json"), result, 0o666))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name, name+".log"), []byte("text\n"), 0o666))
	}
	t.Chdir(dir)
	d, err := Read("run2", "./run")
	assert.NilError(t, err)
	var notes []string
	for _, row := range d.Rows {
		for _, doubt := range row.Doubts {
			if strings.Contains(doubt.Text, "no results") {
				notes = append(notes, doubt.Text)
			}
		}
	}
	assert.DeepEqual(t, notes, []string{
		"run2: left out, because they are no results: run2.log",
		"./run: left out, because they are no results: run.log",
	})
}
