package measure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

func TestParseSuite(t *testing.T) {
	for _, c := range []struct {
		args string
		want suite
	}{
		{"-bench=Chat ./scenarios", suite{packages: []string{"./scenarios"}, run: []string{"-test.bench=Chat", "-test.run=^$"}}},
		{"-bench . -benchtime 3x -cpu=1,2 -benchmem", suite{packages: []string{"."}, run: []string{"-test.bench=.", "-test.benchtime=3x", "-test.cpu=1,2", "-test.benchmem=true", "-test.run=^$"}}},
		{"-tags=a,b ./x -race -bench=X ./y -run=Z", suite{packages: []string{"./x", "./y"}, build: []string{"-tags=a,b", "-race=true"}, run: []string{"-test.bench=X", "-test.run=Z"}}},
	} {
		got, err := parseSuite(strings.Fields(c.args))
		assert.NilError(t, err)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(suite{})); diff != "" {
			t.Errorf("parseSuite(%s) mismatch (-want +got):\n%s", c.args, diff)
		}
	}
	for args, want := range map[string]string{
		"":                    "no -bench",
		"./scenarios":         "no -bench",
		"-bench=X -count=5":   "every sample is a process of its own; set their number with -n of benchgate",
		"-bench=X -nosuch=1":  "flag provided but not defined: -nosuch",
		"-bench=X . -outputs": "flag provided but not defined: -outputs",
	} {
		_, err := parseSuite(strings.Fields(args))
		assert.ErrorContains(t, err, want, args)
	}
}
