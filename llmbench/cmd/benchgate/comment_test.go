package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
)

// TestGateComment runs the script of gate-comment.yml with a gh that keeps the comment: Markdown that benchgate can have
// written is posted, and any other report is quoted as code.
func TestGateComment(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: no bash")
	}
	text, err := os.ReadFile("../../../.github/workflows/gate-comment.yml")
	assert.NilError(t, err)
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	assert.NilError(t, yaml.Unmarshal(text, &workflow))
	steps := workflow.Jobs["comment"].Steps
	script := steps[len(steps)-1].Run
	bin := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(bin, "gh"), []byte("#!/bin/sh\ncase \"$*\" in *issues*POST*|*POST*issues*) cp body.md comment.md ;; *pulls*) echo 7 ;; esac\n"), 0o777))
	golden, err := filepath.Abs("../../gate/testdata")
	assert.NilError(t, err)
	// comment returns the comment on a report. The path of the Markdown is a link to it if link is set.
	comment := func(md string, link bool) string {
		dir := t.TempDir()
		assert.NilError(t, os.Mkdir(filepath.Join(dir, "report"), 0o777))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "report", "report.txt"), []byte("the `text`\n"), 0o666))
		path := filepath.Join(dir, "report", "report.md")
		if link {
			path = filepath.Join(dir, "target.md")
			assert.NilError(t, os.Symlink(path, filepath.Join(dir, "report", "report.md")))
		}
		assert.NilError(t, os.WriteFile(path, []byte(md), 0o666))
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "MARKER=<!-- m -->", "NAME=gate <b>", "RUN=https://github.com/run", "GH_REPO=o/r", "OWNER=o", "BRANCH=b", "SHA=s")
		log, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", log)
		body, err := os.ReadFile(filepath.Join(dir, "comment.md"))
		assert.NilError(t, err, "%s", log)
		return string(body)
	}
	const begin, end = "<!-- m -->\n**gate b**\n\n", "\n[the run, with its samples](https://github.com/run)\n"
	const quoted = begin + "``````text\nthe 'text'\n\n``````\n" + end
	reports, err := filepath.Glob(filepath.Join(golden, "*.md.golden"))
	assert.NilError(t, err)
	assert.Assert(t, len(reports) > 5)
	for _, path := range reports {
		md, err := os.ReadFile(path)
		assert.NilError(t, err)
		assert.Equal(t, comment(string(md), false), begin+string(md)+end, path)
	}
	for _, md := range []string{
		"a [link](x)", "[a link](x)", `\\[a link](x)`, "a\n[b]: x", "![a](b)", "\xff[a](b)", "\x00[a](b)", "https://example.com", `a\\://example.com`, "www.example.com", "@team", "&#64;team", "&#x40;team", "&commat;team", "@<!-- -->@team", "@<!-- --> @team", "@<!--  -->team",
		"<b>", "<!-- m -->", "<details><summary>All rows</summary> <img src=x>", "<details open>", " </details>", strings.Repeat("a", 60001),
	} {
		assert.Equal(t, comment(md, false), quoted, "%.40s", md)
	}
	assert.Equal(t, comment("a", true), quoted)
}
